"""The structured SVM (PAD, section 4.2): loss-augmented decoding, and a step of AdaGrad for each sentence.

The loss of a sentence is ℓ(x, d, y, θ) = -s(y) + max over y' in Y(x, d) of s(y') + Δ(y, y'). Its gradient is
f(y') - f(y) for the best loss-augmented derivation y'; AdaGrad and the L1 penalty: `d2c.learning.adagrad`.

Over packed arcs (those of parsing and the gold ones) y' is the best among the derivations of all their
d-trees, and y the one that is nearest to the gold tree, of equally near ones the best. Then the weights of
`d2c.packed.arc_features` are learned, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
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
from d2c.cky.search.skeleton import Observed, Skeleton, heads_of, sites_of_steps, skeleton_of
from d2c.learning.adagrad import AdaGrad, Gradient, add, step
from d2c.learning.kernels import kernel
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


class Examples(NamedTuple):
    """N sentences with their d-trees and gold derivations, one behind the other, with a gap before each of
    them and behind the last.

    begin:    [N + 1] the gaps
    observed: [positions] what features see, in the gaps zeros
    rules:    the rules of every token's steps, token by token, a root rule last among the root's
    steps:    [positions + 1] where in `rules` those of each token begin
    """

    begin: NDArray[np.int64]
    observed: Observed
    rules: Ints
    steps: Ints

    def derivations(self, kinds: Ints) -> Iterator[tuple[Ints, Parts]]:
        """Yield the tags [n] and the gold parts of each sentence. kinds: [R] of the grammar's rules."""
        for number in range(len(self.begin) - 1):
            observed = sentence(self, number)
            yield observed["tag"][1:-1], gold_parts(self, number, skeleton_of(heads_of(observed)), kinds)


@kernel
def sentence(examples: Examples, number: int) -> Observed:
    """Return what features see of one of them [n + 2]."""
    return examples.observed[examples.begin[number] : examples.begin[number + 1] + 1]


@kernel
def gold_parts(examples: Examples, number: int, skeleton: Skeleton, kinds: Ints) -> Parts:
    """Return the gold parts of a sentence. kinds: [R] of the grammar's rules."""
    steps = examples.steps[examples.begin[number] + 1 : examples.begin[number + 1] + 1].copy()
    rules, first = examples.rules[steps[0] : steps[-1]], steps[0]
    of_steps = np.empty(len(rules), np.int32)
    for i in range(len(rules)):
        of_steps[i] = kinds[rules[i]]
    for i in range(len(steps)):
        steps[i] -= first
    return Parts(sites_of_steps(skeleton, of_steps, steps), rules)


@kernel
def train_on(
    learner: AdaGrad,
    gradient: Gradient,
    examples: Examples,
    chosen: NDArray[np.int64],
    query: Query,
    scorer: Scorer,
) -> tuple[float, int]:
    """Take one step for each chosen sentence; return the sum of the losses Δ and the number of gold parts.

    chosen: [sentences] their numbers
    scorer: with the learner's weights
    """
    total, count, kinds = 0.0, 0, query.rules.kind
    for number in chosen:
        observed = sentence(examples, number)
        chart = build_chart(query, observed)
        if len(chart.rules) == 0:
            continue
        gold = gold_parts(examples, number, skeleton_of(heads_of(observed)), kinds)
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


@kernel
def add_difference(gradient: Gradient, observed: Observed, scorer: Scorer, gold: Parts, guess: Parts) -> None:
    """Add f(guess) - f(gold) to a gradient; parts that both have are left out. observed: [n + 2]"""
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
    """Return all that is learned from, arrays of any shape `[...]`, for a checkpoint's fingerprint."""
    rows = ((one.observed, *one.gold, *to_arrays(one.arcs).values()) for one in sentences)
    return [*chain.from_iterable(rows)]
