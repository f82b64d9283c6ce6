#!/usr/bin/env bash
# OpenVINO 2026.4.1, CPU: an LSTMSequence with dynamic batch and time ignores the lengths of its sequences.
#
# Expected: as the operation's specification says, a sequence shorter than the longest one of a batch is computed over its
# own steps: the output is zero beyond its end, and the reverse direction begins at its own last step. So a
# sequence has the same states alone and beside a longer one, whatever stands in the padding.
# Seen: with static shapes that holds. With dynamic ones, for the same graph and weights, the lengths are silently
# ignored: padding is read as if it were steps, states beyond the end are not zero, and those of the reverse
# direction differ at every step. Only the forward direction, up to the end, is right. So networks that read sentences in
# both directions give a sentence different results in different batches, and nothing fails.
# What to do: reverse sentences with ReverseSequence, which respects lengths, and compute both directions forward, as d2c
# does.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "openvino==2026.4.1" "numpy==2.4.6" 2>/dev/null
env -i CI=true HOME="$place" "$place/env/bin/python" - <<'EOF'
import numpy as np
import openvino as ov

op, draw = ov.opset13, np.random.default_rng(1)
SIZE, INPUTS, STEPS, OWN = 4, 3, 6, 4
weights = [draw.standard_normal(shape).astype(np.float32) for shape in ((1, 16, INPUTS), (1, 16, SIZE), (1, 16))]
steps = draw.standard_normal((1, STEPS, INPUTS)).astype(np.float32)
zeros = np.zeros((1, 1, SIZE), np.float32)


def states(given, direction, dynamic):
    shape = [-1, -1, INPUTS] if dynamic else list(given.shape)
    x, lengths = op.parameter(shape, np.float32), op.parameter([-1 if dynamic else 1], np.int64)
    h, c = (op.parameter([-1 if dynamic else 1, 1, SIZE], np.float32) for _ in range(2))
    made = op.lstm_sequence(x, h, c, lengths, *map(op.constant, weights), SIZE, direction)
    network = ov.compile_model(ov.Model([made.output(0)], [x, h, c, lengths]), "CPU")
    return network([given, zeros, zeros, np.array([OWN])])[0]


def row(direction, dynamic):
    padded, alone = states(steps, direction, dynamic), states(steps[:, :OWN], direction, dynamic)
    return np.allclose(padded[:, :, :OWN], alone, atol=1e-4), not padded[:, :, OWN:].any()


seen = {(d, kind): row(d, kind == "dynamic") for d in ("forward", "reverse") for kind in ("static", "dynamic")}
for (direction, kind), (same, zero) in seen.items():
    print(f"{direction}, {kind}: states as without padding: {same}; zero beyond the end: {zero}")
assert seen["forward", "static"] == seen["reverse", "static"] == (True, True)
assert seen["forward", "dynamic"] == (True, False) and seen["reverse", "dynamic"] == (False, False)
EOF
