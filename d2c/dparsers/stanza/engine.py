"""The layers of BERT in prediction, computed by OpenVINO, which takes a CPU less time than torch.

Where its package is installed (the extra `fast`), a graph is made of the weights in memory, which takes 0.3
seconds; nothing is kept. It computes in one thread: a forked process needs no other. The states of a sentence
depend on how far the batch is padded, by rounding, but not on the other sentences in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial, reduce
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

# With this module `import openvino` reports to its makers, and writes into the home directory
# (findings/openvino-import.sh); without it, it does neither.
_TELEMETRY = "openvino_telemetry"

Compute = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""Returns the states after each layer, or their mixture, given those before the first [sentences, pieces,
size] and a mask [sentences, pieces] that is 0 for padding. The next call overwrites them."""


def compiled_layers(
    config: Any, weights: Mapping[str, Tensor], halves: bool, mixture: Tensor | None = None
) -> Compute | None:
    """Return what computes the layers; None where OpenVINO is not installed, or not for this processor.

    config:  as `transformers` has it
    weights: in float32 on the CPU, named as there
    halves:  whether matrices of bfloat16 are multiplied
    mixture: [N] how much each of the last N states counts in their sum, if that is wanted
    """
    options = {"INFERENCE_PRECISION_HINT": "bf16" if halves else "f32", "INFERENCE_NUM_THREADS": 1}
    try:
        network = openvino().compile_model(_graph(config, weights, mixture), "CPU", options)
    except (ImportError, RuntimeError):
        return None
    return partial(_computed, network.create_infer_request())


def openvino() -> Any:
    """Return the module, imported without its telemetry. Raises ImportError."""
    absent = _TELEMETRY not in sys.modules
    sys.modules.setdefault(_TELEMETRY, None)  # type: ignore[arg-type]
    try:
        return import_module("openvino")
    finally:
        if absent:
            del sys.modules[_TELEMETRY]


def _computed(request: Any, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    request.infer([states.detach().numpy(), mask.numpy()], share_inputs=True, share_outputs=True)
    return tuple(torch.from_numpy(made.data) for made in request.output_tensors)


def _graph(config: Any, weights: Mapping[str, Tensor], mixture: Tensor | None) -> Any:
    """Return the graph of the layers, whose parameters are states and mask as of `Compute`."""
    ov = openvino()
    op = ov.opset13

    def constant(name: str) -> Any:
        return op.constant(weights[name].numpy(), shared_memory=True)

    def linear(states: Any, name: str) -> Any:
        product = op.matmul(states, constant(f"{name}.weight"), False, True)
        return op.add(product, constant(f"{name}.bias"))

    def norm(states: Any, name: str) -> Any:
        scaled = op.mvn(states, [-1], True, config.layer_norm_eps, "inside_sqrt")
        return op.add(op.multiply(scaled, constant(f"{name}.weight")), constant(f"{name}.bias"))

    def split(states: Any) -> Any:
        return op.transpose(op.reshape(states, [0, 0, config.num_attention_heads, -1], True), [0, 2, 1, 3])

    first = op.parameter([-1, -1, config.hidden_size], np.float32)
    mask = op.parameter([-1, -1], np.int64)
    seen = op.unsqueeze(op.convert(mask, bool), [1, 2])
    states, found = first, [first]
    for number in range(config.num_hidden_layers):
        of = f"encoder.layer.{number}."
        parts = (split(linear(states, f"{of}attention.self.{name}")) for name in ("query", "key", "value"))
        mixed = op.transpose(op.scaled_dot_product_attention(*parts, seen), [0, 2, 1, 3])
        mixed = linear(op.reshape(mixed, [0, 0, -1], True), f"{of}attention.output.dense")
        states = norm(op.add(mixed, states), f"{of}attention.output.LayerNorm")
        inner = linear(op.gelu(linear(states, f"{of}intermediate.dense"), "erf"), f"{of}output.dense")
        states = norm(op.add(inner, states), f"{of}output.LayerNorm")
        found.append(states)
    wanted = found[1:]
    if mixture is not None:
        last = zip(found[-len(mixture) :], mixture.numpy(), strict=True)
        wanted = [reduce(op.add, [op.multiply(state, op.constant(share)) for state, share in last])]
    return ov.Model([op.result(one) for one in wanted], [first, mask], "bert")
