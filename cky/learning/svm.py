"""The structured SVM (PAD, section 4.2): loss-augmented decoding, and a step of AdaGrad for each sentence.

The loss of a sentence is ℓ(x, d, y, θ) = -s(y) + max over y' in Y(x, d) of s(y') + Δ(y, y'). Its gradient is
f(y') - f(y) for the best loss-augmented derivation y'; AdaGrad and the L1 penalty: `d2c.learning.adagrad`.

Over packed arcs (those kept in parsing, and the gold ones) y' is the best among the derivations of all their
d-trees, and y the derivation nearest to the gold tree; of equally near ones, the best. Then the weights of
`d2c.packed.arc_features` are learned, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Longs
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.derivations import ChartInput
from d2c.cky.search.packed_chart import chart_over, places_of, score_arcs
from d2c.cky.search.parts import Parts, losses, parts_of, same_site
from d2c.cky.search.scoring import (
    FEATURES,
    Scorer,
    fill_atoms_of_site,
    part_slots,
    room_for_atoms,
    score_edges,
)
from d2c.cky.search.skeleton import SITE, TOKEN, Observed
from d2c.learning.adagrad import AdaGrad, Gradient, add, step
from d2c.learning.kernels import kernel
from d2c.learning.semirings import viterbi
from d2c.packed.arc_features import add_arcs
from d2c.packed.arcs import PackedArcs, to_arrays
from d2c.packed.scoring import ArcScoring

FIRST = 1  # epochs over gold heads before those over packed arcs
EPOCHS = 3  # over packed arcs
BEGIN = ArcScoring(weight=1.0, labels=0.5, learned=1.0, yields=0.5)  # what arcs count for in training
SQUARES = 10.0  # assumed sum of squared gradients of weights that were learned before, as it is not kept
MOST_EDGES = 1 << 19  # of a chart over packed arcs; nothing is learned from a sentence that has more
_NO_PARTS = Parts(np.zeros(0, SITE), np.zeros(0, np.int32))
_NEAR = np.float32(1000.0)  # so that the nearest derivation is best, whatever the scores


@kernel
def add_difference(gradient: Gradient, observed: Observed, scorer: Scorer, gold: Parts, guess: Parts) -> None:
    """Add f(guess) - f(gold) to a gradient; parts that both have, and those without a rule of the grammar,
    are left out. observed: [n + 2]"""
    atoms, slots, mask = room_for_atoms(), np.empty(FEATURES, np.int64), len(scorer.weights) - 1
    for parts, others, sign in ((gold, guess, -1.0), (guess, gold, 1.0)):
        for part in range(len(parts.rules)):
            site, rule = parts.sites[part], parts.rules[part]
            shared = rule < 0
            for other in range(len(others.rules)):
                if others.rules[other] == rule and same_site(others.sites[other], site):
                    shared = True
            if not shared:
                fill_atoms_of_site(observed, site, scorer.templates, 0, atoms)
                for i in range(part_slots(scorer.keys, rule, atoms, mask, slots)):
                    add(gradient, slots[i], sign)


class ChartExample(NamedTuple):
    """A sentence to learn from.

    observed: [n + 2] with the heads of the single d-tree
    gold:     the gold parts
    arcs:     the arcs kept in parsing, and the gold ones; None: learn over the single d-tree
    """

    observed: Observed
    gold: Parts
    arcs: PackedArcs | None = None


class ExampleColumns(NamedTuple):
    """N examples over single d-trees, one after the other, as a kernel walks them.

    begin:    [N + 1, 2] where each example begins in `observed` and in the parts
    observed: [tokens]
    gold:     the parts
    """

    begin: Longs
    observed: Observed
    gold: Parts

    @classmethod
    def of(cls, examples: Sequence[ChartExample]) -> ExampleColumns:
        """Return examples as columns."""
        sizes = [(0, 0), *((len(one.observed), len(one.gold.rules)) for one in examples)]
        every = [ChartExample(np.zeros(0, TOKEN), _NO_PARTS), *examples]
        sites = np.concatenate([one.gold.sites for one in every])
        rules = np.concatenate([one.gold.rules for one in every])
        return cls(
            np.cumsum(sizes, axis=0), np.concatenate([one.observed for one in every]), Parts(sites, rules)
        )


@kernel
def train_on(
    learner: AdaGrad,
    gradient: Gradient,
    examples: ExampleColumns,
    chosen: Longs,
    query: Query,
    scorer: Scorer,
) -> tuple[float, int]:
    """Take one step for each chosen sentence, away from the y' with the greatest s(y') + Δ(y, y') and towards
    the gold derivation y. Return the sum of the losses Δ and the number of gold parts.

    chosen: [sentences] their numbers
    scorer: with the learner's weights

    It is `step_over_arcs` without arcs, in one kernel: a quarter of the time would go into calls of kernels.
    """
    total, count, begin = 0.0, 0, examples.begin
    for number in chosen:
        observed = examples.observed[begin[number, 0] : begin[number + 1, 0]]
        first, end = begin[number, 1], begin[number + 1, 1]
        gold = Parts(examples.gold.sites[first:end], examples.gold.rules[first:end])
        chart = build_chart(query, observed)
        if len(chart.rules) == 0:
            continue
        scores, loss = score_edges(chart, observed, scorer, 0.0), losses(chart, gold)
        for edge in range(len(scores)):
            scores[edge] += loss[edge]
        best = viterbi(chart.forest, scores)
        guess, _ = parts_of(chart, best)
        add_difference(gradient, observed, scorer, gold, guess)
        step(learner, gradient)
        count += len(gold.rules)
        total += len(gold.rules)
        for edge in best:
            total += loss[edge]
    return total, count


def step_over_arcs(
    learner: AdaGrad, gradient: Gradient, sentence: ChartInput, gold: Parts
) -> tuple[float, int]:
    """Take a step for a sentence; return the loss Δ and the number of gold parts, or 0, 0 for an empty chart.

    sentence: with packed arcs and their features, and the learner's weights
    """
    query, observed, scorer, packed, _ = sentence
    assert packed is not None
    chart, _ = chart_over(query, observed, packed, MOST_EDGES)
    if not len(chart.rules):
        return 0.0, 0
    loss = losses(chart, gold)
    scores = score_edges(chart, observed, scorer, 0.0) + score_arcs(chart, packed, query.rules.parent)
    best = viterbi(chart.forest, scores + loss)
    nearest, _ = parts_of(chart, viterbi(chart.forest, scores - _NEAR * loss))
    guess, _ = parts_of(chart, best)
    add_difference(gradient, observed, scorer, nearest, guess)
    if packed.features is not None:
        for parts, sign in ((nearest, -1.0), (guess, 1.0)):
            symbols = np.where(parts.sites["m"] >= 0, query.rules.parent[parts.rules], -1)
            places = places_of(parts.sites, packed.arcs.begin, packed.arcs.heads)
            add_arcs(gradient, packed.features, places, symbols.astype(np.int64), sign)
    step(learner, gradient)
    return len(gold.rules) + float(loss[best].sum()), len(gold.rules)


def columns_of(examples: Sequence[ChartExample]) -> list[NDArray[np.generic]]:
    """Return all arrays `[...]` that are learned from, for the fingerprint of a checkpoint."""
    columns = [*chain.from_iterable((one.observed, *one.gold) for one in examples)]
    arcs = (to_arrays(one.arcs).values() for one in examples if one.arcs is not None)
    return [*columns, *chain.from_iterable(arcs)]
