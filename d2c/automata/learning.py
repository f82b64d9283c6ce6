"""The linear oracle's training: gradient descent on the log-probability of the static oracle's actions.

AdaGrad under an L1 penalty (`d2c.learning.adagrad`), one step for each sentence.
"""

from __future__ import annotations

import numpy as np

from d2c.automata.scores import OracleScorer, look, only_of, score, shares
from d2c.automata.states import BOTTOM, Text, row_of, take
from d2c.automata.systems import KINDS, SHIFT
from d2c.base.arrays import Floats, Longs
from d2c.learning.adagrad import Gradient, add
from d2c.learning.kernels import inner, kernel

_LEAST_SHARE = np.float32(1e-30)
_LEAST = np.float32(2.0**-10)  # smaller gradients are left out


@kernel
def learn(
    scorer: OracleScorer,
    text: Text,
    trees: Longs,
    begin: Longs,
    gold: Longs,
    sentence: int,
    gradient: Gradient,
) -> float:
    """Add the gradient of one sentence; return the sum of the losses of its actions.

    begin: [sentences + 1] where a sentence's gold actions begin in `gold`; the last one accepts
    """
    tables, total = scorer.tables, 0.0
    token, left, top = text.begin[sentence], text.lengths[sentence], BOTTOM
    for number in range(begin[sentence], begin[sentence + 1]):
        action = gold[number]
        kind = tables.kinds[action]
        row = row_of(tables, trees[top - 1], trees[top], left)
        looked = False
        for choice in range(2):  # the kind, then which one of that kind
            right, allowed, scores = kind, tables.open[row], scorer.kind_scores
            if choice == 1:
                low, high = tables.begin[kind], tables.begin[kind + 1]
                right, allowed, scores = action - low, tables.masks[row, low:high], scorer.scores[low:high]
            if only_of(allowed) >= 0:
                continue
            if not looked:
                look(scorer, text, trees, top, token)
                looked = True
            count = score(scorer, kind if choice == 1 else KINDS, scores)
            shares(scores, allowed)
            total -= np.log(max(scores[right], _LEAST_SHARE))
            add_differences(gradient, scorer.atoms[:count], scores, right)
        top = take(tables, text, trees, top, action, token)
        if kind == SHIFT:
            token, left = token + 1, left - 1
    return float(total)


@inner
def add_differences(gradient: Gradient, atoms: Longs, shares_of_outputs: Floats, right: int) -> None:
    """Add how much more probable each of [outputs] is than it should be, to the weights that scored it."""
    for output in range(len(shares_of_outputs)):
        amount = shares_of_outputs[output] - np.float32(output == right)
        if abs(amount) > _LEAST:
            for atom in atoms:
                add(gradient, atom + output, amount)
