"""The structured SVM of section 4.2: loss-augmented decoding, and a step of AdaGrad for each sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.chart import Constraints, build_forest
from d2c.cky.search.features import ATOMS, FEATURES, Sentence, part_features, place_atoms, score_edges
from d2c.cky.search.layout import Ints, lay_out
from d2c.cky.search.parts import PLACE, losses, parts_of_edges, parts_of_steps
from d2c.forests.semirings import viterbi
from d2c.linear.adagrad import AdaGrad, step


class Examples(NamedTuple):
    """N sentences with their d-trees and gold derivations; the tokens of all stand in one row.

    begin:  [N + 1] first token of each sentence
    heads:  [tokens] 1..n, 0 = root
    axioms: [tokens] symbol of each pre-terminal
    words, tags, labels: [tokens] as in `features.Sentence`; labels may be empty
    rules:  the rules of every token's steps, token by token, a root rule last among the root's
    steps:  [tokens + 1] where in `rules` those of each token begin
    """

    begin: NDArray[np.int64]
    heads: Ints
    axioms: Ints
    words: Ints
    tags: Ints
    labels: Ints
    rules: Ints
    steps: NDArray[np.int64]


@njit(cache=True, nogil=True)
def pad(column: Ints) -> Ints:
    """A column with a 0 before and behind."""
    padded = np.zeros(len(column) + 2, np.int32)
    for at in range(len(column)):  # assigning a slice compiles five times as long
        padded[at + 1] = column[at]
    return padded


@njit(cache=True, nogil=True)
def _descend(
    learner: AdaGrad, sentence: Sentence, keys: NDArray[np.int64], gold: Ints, guess: Ints, slots: Ints
) -> None:
    """A step along f(gold) - f(guess). slots: zeros, one for each weight; they are left zeros."""
    atoms, bounds = np.empty(ATOMS, np.int64), np.empty(4, np.int64)
    here = np.empty(FEATURES, np.int64)
    places = np.empty((len(gold) + len(guess)) * FEATURES, np.int64)
    gradient = np.zeros(len(places), np.float32)
    count, mask = 0, len(learner.weights) - 1
    for parts, others, sign in ((gold, guess, -1.0), (guess, gold, 1.0)):
        for part in parts:
            shared = part[PLACE] < 0
            for other in others:
                shared = shared or np.array_equal(part, other)
            if not shared:
                place_atoms(sentence, part, atoms, bounds)
                for at in range(part_features(keys, part[PLACE], atoms, bounds, mask, here)):
                    if slots[here[at]] == 0:
                        places[count] = here[at]
                        count += 1
                        slots[here[at]] = count
                    gradient[slots[here[at]] - 1] += sign
    step(learner, places, gradient, count)
    for at in range(count):
        slots[places[at]] = 0


@njit(cache=True, nogil=True)
def train_on(
    learner: AdaGrad,
    examples: Examples,
    chosen: NDArray[np.int64],
    rules: RuleTable,
    keys: NDArray[np.int64],
    constraints: Constraints,
    max_unaries: int,
    context: bool,
) -> tuple[float, int]:
    """One step for each chosen sentence; the sum of the losses Δ and the number of gold parts."""
    no_glue = np.zeros(0, np.int32)
    total, gold_parts, slots = 0.0, 0, np.zeros(len(learner.weights), np.int32)
    for number in chosen:
        begin, end = examples.begin[number], examples.begin[number + 1]
        steps = examples.steps[begin : end + 1]
        layout = lay_out(examples.heads[begin:end])
        forest = build_forest(
            *(rules, layout, examples.axioms[begin:end], examples.tags[begin:end]),
            *(constraints, max_unaries, no_glue),
        )
        if len(forest.edges) == 0:
            continue
        labels = examples.labels[begin:end] if len(examples.labels) else examples.labels
        sentence = Sentence(
            pad(examples.words[begin:end]),
            pad(examples.tags[begin:end]),
            examples.heads[begin:end],
            labels,
            context,
        )
        used = examples.rules[steps[0] : steps[-1]]
        gold = parts_of_steps(layout, rules.kind[used], used, steps - steps[0])
        loss = losses(forest, gold, end - begin)
        scores = score_edges(forest, sentence, keys, learner.weights, 0.0)
        best = viterbi(forest, scores + loss)
        guess = parts_of_edges(forest, best)
        gold_parts += len(gold)
        total += len(gold) + loss[best].sum()
        _descend(learner, sentence, keys, gold, guess, slots)
    return total, gold_parts
