"""The structured SVM of section 4.2: loss-augmented decoding, and a step of AdaGrad for each sentence.

The loss Δ(y, y') is the Hamming distance between the sets of parts (i, k, j, rule) of two derivations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cky.binarization import LEFT, UNARY
from cky.features import ATOMS, FEATURES, Floats, Sentence, part_features, place_atoms, score_edges
from cky.forest import (
    BEGIN,
    COPY,
    END,
    FIRST,
    LAST,
    RULE,
    SIDE,
    SPLIT,
    Constraints,
    Forest,
    H,
    M,
    build_forest,
    extent,
)
from cky.grammar import RuleTable
from cky.layout import Ints, Layout, lay_out
from cky.semirings import viterbi
from linear.adagrad import AdaGrad, step

PART = 7  # columns of a part: the first six of a block, and the rule


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
    padded[1:-1] = column
    return padded


@njit(cache=True, nogil=True)
def parts_of_steps(layout: Layout, kinds: Ints, rules: Ints, steps: NDArray[np.int64]) -> Ints:
    """[P, 7] the parts of a derivation; rules and steps as in `Examples`, for one sentence."""
    parts = np.empty((len(rules), PART), np.int32)
    for h in range(len(steps) - 1):
        a = b = 0
        for at in range(steps[h], steps[h + 1]):
            m = k = -1
            kind = kinds[rules[at]]
            if kind == LEFT:
                m = layout.dependents[layout.begin[h] + a]
                a, k = a + 1, layout.last[m]
            elif kind != UNARY:
                m = layout.dependents[layout.middle[h] + b]
                b, k = b + 1, layout.first[m] - 1
            i, j = extent(layout, h, a, b)
            row = parts[at]
            row[SIDE], row[H], row[M], row[FIRST], row[LAST] = kind, h, m, i, j
            row[SPLIT], row[6] = k, rules[at]
    return parts


@njit(cache=True, nogil=True)
def parts_of_edges(forest: Forest, chosen: Ints) -> Ints:
    """[P, 7] the parts of a derivation, bottom-up, without copies."""
    parts = np.empty((len(chosen), PART), np.int32)
    count = number = 0
    for edge in chosen:
        while forest.blocks[number, END] <= edge:
            number += 1
        if forest.edges[edge, RULE] != COPY:
            parts[count, :6] = forest.blocks[number, :6]
            parts[count, 6] = forest.edges[edge, RULE]
            count += 1
    return parts[:count]


@njit(cache=True, nogil=True, inline="always")
def _place(row: Ints, n: int) -> int:
    """One number for i, k, j of a part or block in a sentence of n words."""
    return ((row[FIRST] * (n + 1)) + row[SPLIT] + 1) * (n + 1) + row[LAST]


@njit(cache=True, nogil=True)
def losses(forest: Forest, gold: Ints, n: int) -> Floats:
    """[E] what each edge adds to Δ, but for a constant: 1, or -1 where it is one of the gold parts."""
    order = np.argsort(np.array([_place(part, n) for part in gold]))
    keys = np.array([_place(gold[at], n) for at in order])
    loss = np.ones(len(forest.edges), np.float32)
    for block in forest.blocks:
        begin = np.searchsorted(keys, _place(block, n))
        for edge in range(block[BEGIN], block[END]):
            if forest.edges[edge, RULE] == COPY:
                loss[edge] = 0.0
            at = begin
            while at < len(keys) and keys[at] == _place(block, n):
                if gold[order[at], 6] == forest.edges[edge, RULE]:
                    loss[edge] = -1.0
                at += 1
    return loss


@njit(cache=True, nogil=True)
def _descend(learner: AdaGrad, sentence: Sentence, keys: NDArray[np.int64], gold: Ints, guess: Ints) -> None:
    """A step along f(gold) - f(guess)."""
    atoms, bounds = np.empty(ATOMS, np.int64), np.empty(3, np.int64)
    here = np.empty(FEATURES, np.int64)
    places = np.empty((len(gold) + len(guess)) * FEATURES, np.int64)
    signs = np.empty(len(places), np.float32)
    count, mask = 0, len(learner.weights) - 1
    for parts, others, sign in ((gold, guess, -1.0), (guess, gold, 1.0)):
        for part in parts:
            shared = part[6] < 0
            for other in others:
                shared = shared or np.array_equal(part, other)
            if not shared:
                place_atoms(sentence, part, atoms, bounds)
                for at in range(part_features(keys, part[6], atoms, bounds, mask, here)):
                    places[count], signs[count] = here[at], sign
                    count += 1
    if count == 0:
        return
    order = np.argsort(places[:count])
    summed, gradient = np.empty(count, np.int64), np.zeros(count, np.float32)
    distinct = -1
    for at in order:
        if distinct < 0 or summed[distinct] != places[at]:
            distinct += 1
            summed[distinct] = places[at]
        gradient[distinct] += signs[at]
    step(learner, summed, gradient, distinct + 1)


@njit(cache=True, nogil=True)
def train_on(
    learner: AdaGrad,
    examples: Examples,
    chosen: NDArray[np.int64],
    rules: RuleTable,
    keys: NDArray[np.int64],
    constraints: Constraints,
    max_unaries: int,
) -> tuple[float, int]:
    """One step for each chosen sentence; the sum of the losses Δ and the number of gold parts."""
    no_glue = np.zeros(0, np.int32)
    total, gold_parts = 0.0, 0
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
        sentence = Sentence(pad(examples.words[begin:end]), pad(examples.tags[begin:end]), labels)
        gold = parts_of_steps(layout, rules.kind, examples.rules[steps[0] : steps[-1]], steps - steps[0])
        loss = losses(forest, gold, end - begin)
        scores = score_edges(forest, sentence, keys, learner.weights, 0.0)
        best = viterbi(forest, scores + loss)
        guess = parts_of_edges(forest, best)
        gold_parts += len(gold)
        total += len(gold) + loss[best].sum()
        _descend(learner, sentence, keys, gold, guess)
    return total, gold_parts


@njit(cache=True, nogil=True)
def best_parts(
    rules: RuleTable,
    keys: NDArray[np.int64],
    weights: Floats,
    heads: Ints,
    axioms: Ints,
    sentence: Sentence,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
) -> tuple[Ints, Ints]:
    """[P, 7] the parts of a best derivation, bottom-up; [P] the symbol that each of them derives."""
    layout = lay_out(heads)
    tags = sentence.tags[1:-1]
    forest = build_forest(rules, layout, axioms, tags, constraints, max_unaries, glue_symbols[:0])
    if len(forest.edges) == 0:
        forest = build_forest(rules, layout, axioms, tags, constraints, max_unaries, glue_symbols)
    best = viterbi(forest, score_edges(forest, sentence, keys, weights, -1000.0))
    best = best[forest.edges[best, RULE] != COPY]
    return parts_of_edges(forest, best), forest.symbols[forest.edges[best, 0]]
