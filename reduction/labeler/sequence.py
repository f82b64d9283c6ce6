"""The sequence model of "Parsing as Reduction" (section 4.2): Viterbi over the labels of a head's modifiers.

Modifiers are taken as they stand in the sentence, ..., l2, l1, r1, r2, ...; the score is a sum over arcs and
over pairs of consecutive modifiers, on the same side or on opposite sides of the head. Beyond the paper,
start and stop of a side make pairs, too, and a pair on one side knows whether both attach in one event
(`pair_key`). Either any label may follow any other, or numbers never fall outward on either side: that is all
the H&N-encoding asks of one head. Exact: O(k C^2) for k modifiers and C candidate labels.
"""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Longs
from d2c.learning.kernels import inner
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.features import pair_atoms
from d2c.reduction.labeler.scores import ACROSS_RIGHT, HeadScores, LabelScorer, pair_score


@inner
def in_sentence(lefts: int, size: int) -> Longs:
    """Return a head's modifiers, numbered as in `HeadScores`, as they stand in the sentence, [size]."""
    order = np.arange(size)
    for i in range(lefts):
        order[i] = lefts - 1 - i
    return order


@inner
def best_sequence(scorer: LabelScorer, arcs: Backbones, head: HeadScores, best: Longs) -> bool:
    """Write the labels of the best sequence to `best` [positions]; return False where there is none."""
    lefts, begin, labels, numbers, pairs = head.lefts, head.begin, head.labels, head.numbers, head.pairs
    size, modifiers, rising = lefts + head.rights, arcs.modifiers, head.constraint.rising
    order, totals, back = in_sentence(lefts, size), head.scores, np.full(len(labels), -1, np.int64)
    weights, atoms, count = scorer.weights, scorer.templates.atoms, len(scorer.table.symbols)
    for place in range(1, size):
        i, before = order[place], order[place - 1]
        across, outer, inner_one = before == 0 and i == lefts, max(i, before), min(i, before)
        width, first = begin[outer + 1] - begin[outer], head.before[outer]
        if across:
            m, m2 = modifiers[head.low], modifiers[head.low + i]
            pair_atoms(scorer.templates, arcs, head.h, m, m2, ACROSS_RIGHT)
        for c in range(begin[i], begin[i + 1]):
            greatest = np.float32(-np.inf)
            for b in range(begin[before], begin[before + 1]):
                far, near = (c, b) if i == outer else (b, c)
                if rising and not across and numbers[far] < numbers[near]:
                    continue
                if across:
                    total = totals[b] + pair_score(weights, atoms, count, labels[b], labels[c], 0)
                else:
                    pair = first + (near - begin[inner_one]) * width + far - begin[outer]
                    total = totals[b] + pairs[pair]
                if total > greatest:
                    greatest, back[c] = total, b
            totals[c] += greatest
    last = order[size - 1]
    state = begin[last] + np.argmax(totals[begin[last] : begin[last + 1]])
    if totals[state] == -np.inf:
        return False
    for place in range(size - 1, -1, -1):
        best[modifiers[head.low + order[place]]] = labels[state]
        state = back[state]
    return True


@inner
def sequence_order(
    scorer: LabelScorer, arcs: Backbones, h: int, constraint: Constraint, labels: Longs, order: Longs
) -> bool:
    """Write the order in which modifiers are taken [modifiers of h], as indices into `Backbones.modifiers`;
    return False where labels [positions] break the constraint."""
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    numbers, modifiers = scorer.table.numbers, arcs.modifiers
    places = in_sentence(middle - begin, end - begin)
    for i in range(end - begin):  # numba takes seconds to compile the assignment of an array
        order[i] = begin + places[i]
    for i in range(begin + 1, end):
        falls = i != middle and numbers[labels[modifiers[i]]] < numbers[labels[modifiers[i - 1]]]
        if constraint.rising and falls:
            return False
    return True
