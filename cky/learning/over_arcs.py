"""The structured SVM over packed arcs: a step of AdaGrad for each sentence, among all d-trees of its arcs.

The arcs are those of parsing and the gold ones. Among their derivations the best loss-augmented one, over
whichever d-tree, is held against the one that is nearest to the gold tree, of equally near ones the best.
What is learned are the weights of parts and of `d2c.packed.arc_features`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.learning.svm import add_difference
from d2c.cky.search.features import score_edges
from d2c.cky.search.layout import Observed
from d2c.cky.search.packed_chart import chart_over, places_of, score_arcs
from d2c.cky.search.search import ChartInput, losses, parts_of
from d2c.cky.search.sites import Parts
from d2c.learning.adagrad import AdaGrad, Gradient, step
from d2c.learning.semirings import viterbi
from d2c.packed.arc_features import add_arcs
from d2c.packed.arcs import PackedArcs, to_arrays
from d2c.packed.feature import ArcFeature

FIRST = 1  # epochs over gold heads, from which learning over packed arcs begins
EPOCHS = 3  # over packed arcs
BEGIN = ArcFeature(weight=1.0, labels=0.5, learned=1.0, yields=0.5)  # what arcs count for
SQUARES = 10.0  # of gradients, that stand for what is not known of weights that were learned before
MOST_EDGES = 1 << 19  # of a chart; nothing is learned from a sentence that has more
_NEAR = np.float32(1000.0)  # so that a nearer derivation is better than any other


class PackedExample(NamedTuple):
    """A sentence to learn from.

    observed: with the d-parser's own heads
    gold:     the gold parts
    arcs:     those that are kept in parsing, and the gold ones
    """

    observed: Observed
    gold: Parts
    arcs: PackedArcs


def step_over_arcs(
    learner: AdaGrad, gradient: Gradient, sentence: ChartInput, gold: Parts
) -> tuple[float, int]:
    """Take a step for a sentence; return the loss Δ and the number of gold parts; 0, 0 without a chart.

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
            places = places_of(parts.sites, packed.arcs)
            add_arcs(gradient, packed.features, places, symbols.astype(np.int64), sign)
    step(learner, gradient)
    return len(gold.rules) + float(loss[best].sum()), len(gold.rules)


def columns_of(sentences: Sequence[PackedExample]) -> list[NDArray[np.generic]]:
    """Return all that is learned from, for a checkpoint's fingerprint."""
    rows = ((one.observed, *one.gold, *to_arrays(one.arcs).values()) for one in sentences)
    return [*chain.from_iterable(rows)]
