"""The linear oracle's kernels: which action a configuration gets, and the probabilities of all.

A kind of action has the probability exp(score) / sum of these over the kinds of which some action applies;
an action of that kind likewise among those that apply: they are masked before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.automata.features import FIELDS, POSITIONS, Templates, see
from d2c.automata.states import Text
from d2c.automata.systems import KINDS, Longs, Tables
from d2c.linear.kernels import inner
from d2c.linear.templates import Rows, fill_atoms

Floats = NDArray[np.float32]


class Scorer(NamedTuple):
    """What a linear oracle scores with, and buffers.

    table:   templates of kinds, then those of actions; kinds: how many the first are
    weights: [a power of two]
    positions, numbers, atoms: of the configuration that is seen
    kind_scores, scores: [KINDS], [A] of kinds and actions, or their probabilities
    """

    tables: Tables
    table: Rows
    kinds: int
    weights: Floats
    positions: Longs
    numbers: Longs
    atoms: Longs
    kind_scores: Floats
    scores: Floats

    @classmethod
    def of(cls, tables: Tables, templates: Templates, weights: Floats) -> Scorer:
        """With buffers of its own."""
        sizes = len(POSITIONS), len(FIELDS) + 1, len(templates.table)
        positions, numbers, atoms = (np.zeros(size, np.int64) for size in sizes)
        scores = np.zeros(KINDS, np.float32), np.zeros(len(tables.kinds), np.float32)
        return cls(tables, *templates, weights, positions, numbers, atoms, *scores)


@inner
def look(scorer: Scorer, text: Text, trees: Longs, top: int, token: int) -> None:
    """Sees the three topmost trees of a stack and the tokens ahead."""
    see(text, trees[top - 2], trees[top - 1], trees[top], token, scorer.positions, scorer.numbers)


@inner
def score(scorer: Scorer, kind: int, scores: Floats) -> int:
    """Writes the scores of the actions of a kind, or, where it is KINDS, of all kinds; how many features each
    has. Their slots are then in `atoms`: those of the first output, and those of the others behind them."""
    table, weights, slots = scorer.table, scorer.weights, scorer.atoms
    begin, end = (0, scorer.kinds) if kind == KINDS else (scorer.kinds, len(table))
    count = fill_atoms(scorer.numbers, table, begin, end, kind, slots, 0)
    mask, last = len(weights) - 1, len(weights) - len(scores)
    for output in range(len(scores)):
        scores[output] = 0.0
    for i in range(count):
        slots[i] = min(slots[i] & mask, last)
        slot = np.uint64(slots[i])
        for output in range(np.uint64(len(scores))):
            scores[output] += weights[slot + output]
    return count


@inner
def best_of(scores: Floats, allowed: NDArray[np.bool_]) -> int:
    """The allowed one with the highest score, the first of equal ones."""
    best = -1
    for i in range(len(scores)):
        if allowed[i] and (best < 0 or scores[i] > scores[best]):
            best = i
    return best


@inner
def shares(scores: Floats, allowed: NDArray[np.bool_]) -> None:
    """Makes probabilities of scores: 0 for what is not allowed."""
    best, total = best_of(scores, allowed), np.float32(0.0)
    highest = scores[best]
    for i in range(len(scores)):
        scores[i] = np.exp(scores[i] - highest) if allowed[i] else np.float32(0.0)
        total += scores[i]
    for i in range(len(scores)):
        scores[i] /= total


@inner
def only_of(allowed: NDArray[np.bool_]) -> int:
    """The only allowed one; -1 where there are several."""
    only = -1
    for i in range(len(allowed)):
        if allowed[i]:
            if only >= 0:
                return -1
            only = i
    return only


@inner
def decide(scorer: Scorer, text: Text, trees: Longs, top: int, token: int, row: int) -> int:
    """The action that is taken: the best one of the best kind. row: of `masks`, by `states.row_of`."""
    tables = scorer.tables
    kind, begin, best, looked = KINDS, 0, 0, False
    allowed, scores = tables.open[row], scorer.kind_scores
    for choice in range(2):
        if choice == 1:
            kind, begin = best, tables.begin[best]
            end = tables.begin[best + 1]
            allowed, scores = tables.masks[row, begin:end], scorer.scores[begin:end]
        best = only_of(allowed)
        if best < 0:
            if not looked:
                look(scorer, text, trees, top, token)
                looked = True
            score(scorer, kind, scores)
            best = best_of(scores, allowed)
    return begin + best


@inner
def chances(
    scorer: Scorer, text: Text, trees: Longs, top: int, token: int, row: int, least: float, logs: Floats
) -> None:
    """Writes the logarithm of the probability of each action; -inf for those that do not apply.

    trees, top: rows of which the three last ones are the topmost trees, as in a stack; top: index of the last
    least:      kinds with less than this share get -inf, too, and of a kind actions with less; but never the
                action that `decide` takes
    logs:       [A]
    """
    tables, best = scorer.tables, 0
    shares_of_kinds = scorer.kind_scores
    look(scorer, text, trees, top, token)
    for action in range(len(logs)):
        logs[action] = -np.inf
    for kind in range(-1, KINDS):  # first the kinds themselves
        begin = end = np.int64(0)
        allowed, scores = tables.open[row], shares_of_kinds
        if kind >= 0:
            if not allowed[kind] or (shares_of_kinds[kind] < least and kind != best):
                continue
            begin, end = tables.begin[kind], tables.begin[kind + 1]
            allowed, scores = tables.masks[row, begin:end], scorer.scores[begin:end]
        score(scorer, kind if kind >= 0 else KINDS, scores)
        first = best_of(scores, allowed)
        shares(scores, allowed)
        if kind < 0:
            best = first
        for i in range(end - begin):
            if allowed[i] and (scores[i] >= least or i == first):
                logs[begin + i] = np.log(shares_of_kinds[kind]) + np.log(scores[i])
