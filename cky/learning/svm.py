"""The structured SVM of section 4.2: loss-augmented decoding, and a step of AdaGrad for each sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.features import FEATURES, Scorer, fill_atoms, part_slots, room_for_atoms, score_edges
from d2c.cky.search.layout import Layout, Observed, heads_of, lay_out
from d2c.cky.search.search import losses, parts_of
from d2c.cky.search.sites import Parts, same_site, sites_of_steps
from d2c.learning.adagrad import AdaGrad, Gradient, add, step
from d2c.learning.kernels import kernel
from d2c.learning.semirings import viterbi


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
        """The tags and the gold parts of each sentence. kinds: [R] of the grammar's rules."""
        for number in range(len(self.begin) - 1):
            observed = sentence(self, number)
            yield observed["tag"][1:-1], gold_parts(self, number, lay_out(heads_of(observed)), kinds)


@kernel
def sentence(examples: Examples, number: int) -> Observed:
    """Return what features see of one of them."""
    return examples.observed[examples.begin[number] : examples.begin[number + 1] + 1]


@kernel
def gold_parts(examples: Examples, number: int, layout: Layout, kinds: Ints) -> Parts:
    """The gold parts of a sentence. kinds: [R] of the grammar's rules."""
    steps = examples.steps[examples.begin[number] + 1 : examples.begin[number + 1] + 1].copy()
    rules, first = examples.rules[steps[0] : steps[-1]], steps[0]
    of_steps = np.empty(len(rules), np.int32)
    for i in range(len(rules)):
        of_steps[i] = kinds[rules[i]]
    for i in range(len(steps)):
        steps[i] -= first
    return Parts(sites_of_steps(layout, of_steps, steps), rules)


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

    scorer: with the learner's weights
    """
    total, count, kinds = 0.0, 0, query.rules.kind
    for number in chosen:
        observed = sentence(examples, number)
        chart = build_chart(query, observed)
        if len(chart.rules) == 0:
            continue
        gold = gold_parts(examples, number, lay_out(heads_of(observed)), kinds)
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
    """Adds f(guess) - f(gold) to a gradient; parts that both have are left out."""
    atoms, slots, mask = room_for_atoms(), np.empty(FEATURES, np.int64), len(scorer.weights) - 1
    for parts, others, sign in ((gold, guess, -1.0), (guess, gold, 1.0)):
        for part in range(len(parts.rules)):
            site, rule = parts.sites[part], parts.rules[part]
            shared = rule < 0
            for other in range(len(others.rules)):
                if others.rules[other] == rule and same_site(others.sites[other], site):
                    shared = True
            if not shared:
                fill_atoms(observed, site, scorer.templates, 0, atoms)
                for i in range(part_slots(scorer.keys, rule, atoms, mask, slots)):
                    add(gradient, slots[i], sign)
