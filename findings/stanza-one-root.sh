#!/usr/bin/env bash
# stanza 1.15.0: its search for the best tree with one root fails unless scores are negative.
#
# Expected: chuliu_edmonds_one_root takes any scores ("scores[x][y] should be the cost for assigning y to be the head of
# x", and the paper that it cites sets no condition), and the best tree is the same if a number is added to all of them.
# Seen: arcs from the root are penalised by the smallest score times the number of words. This is a penalty only if
# the smallest score is below zero, and is large enough only if it is far below. With probabilities, counts of votes or
# other positive scores the same arcs are rewarded instead, and if more than one is then taken, AssertionError is raised.
# Below, random scores between 0 and 1 fail for most sentences of four words, the same scores minus 1 for none, though the
# best tree is the same. Any tree that is returned is the best one. Log probabilities, as in Stanza's own parser, are safe.
# What to do: subtract the greatest score from all, which changes no tree.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "stanza==1.15.0" "numpy==2.4.6" 2>/dev/null
"$place/env/bin/python" - <<'END'
from itertools import product

import numpy as np
import stanza
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

WORDS = 4  # the root is 0


def is_tree(heads):
    """Return whether one word hangs from the root, and all others from it in the end."""
    above = (0, *heads)
    reached = [*range(WORDS + 1)]
    for _ in reached:
        reached = [above[word] for word in reached]
    return heads.count(0) == 1 and not any(reached)


TREES = [*filter(is_tree, product(range(WORDS + 1), repeat=WORDS))]


def best(scores):
    return max(TREES, key=lambda heads: sum(scores[word, head] for word, head in enumerate(heads, 1)))


def failures(scores_of):
    """Return in how many of 500 sentences nothing is found."""
    failed = 0
    for seed in range(500):
        scores = scores_of(np.random.default_rng(seed).random((WORDS + 1, WORDS + 1)))
        try:
            found = tuple(chuliu_edmonds_one_root(scores)[1:].tolist())
        except AssertionError:
            failed += 1
        else:
            assert found == best(scores)
    return failed


print("stanza", stanza.__version__, "numpy", np.__version__)
kinds = {
    "between 0 and 1": lambda scores: scores,
    "the same less 1": lambda scores: scores - 1,
    "probabilities of heads": lambda scores: scores / scores.sum(axis=1, keepdims=True),
    "their logarithms": lambda scores: np.log(scores / scores.sum(axis=1, keepdims=True)),
    "between -1 and 9": lambda scores: 10 * scores - 1,
}
failed = {kind: failures(scores_of) for kind, scores_of in kinds.items()}
for kind, number in failed.items():
    print(f"{kind}: {number} of 500 sentences fail")
assert failed["the same less 1"] == failed["their logarithms"] == 0
assert min(failed["between 0 and 1"], failed["probabilities of heads"]) > 250 and failed["between -1 and 9"]
END
