"""Parts of derivations, (i, k, j, rule), and the loss Δ between derivations over them, section 4.2.

A part is a row of PLACE columns as in `Forest.blocks`, SIDE to INNER_RIGHT, and one with the rule.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.search.chart import (
    BEGIN,
    COPY,
    END,
    FIRST,
    INNER_LEFT,
    INNER_RIGHT,
    LAST,
    NEXT_LEFT,
    NEXT_RIGHT,
    RULE,
    SIDE,
    SPLIT,
    Forest,
    H,
    M,
    place_of,
)
from d2c.cky.search.layout import Ints, Layout
from d2c.trees.binarization import LEFT, UNARY

PLACE = 10


@njit(cache=True, nogil=True)
def parts_of_steps(layout: Layout, kinds: Ints, rules: Ints, steps: NDArray[np.int64]) -> Ints:
    """[P, 11] the parts of a derivation; steps as in `Examples`, rules and their kinds step by step."""
    parts = np.empty((len(rules), PLACE + 1), np.int32)
    for h in range(len(steps) - 1):
        a = b = level = 0
        for at in range(steps[h], steps[h + 1]):
            kind = kinds[at]
            if kind == LEFT:
                m = layout.dependents[layout.begin[h] + a]
                a, k, level = a + 1, layout.last[m], 0
            elif kind != UNARY:
                m = layout.dependents[layout.middle[h] + b]
                b, k, level = b + 1, layout.first[m] - 1, 0
            else:
                m, k, level = -1, level, level + 1
            if h == layout.order[-1] and at == steps[h + 1] - 1:
                k = -1  # the root rule
            row = parts[at]
            row[SIDE], row[H], row[M], row[SPLIT], row[PLACE] = kind, h, m, k, rules[at]
            place = place_of(layout, h, a, b, kind)
            row[FIRST], row[LAST] = place[0], place[1]
            row[NEXT_LEFT], row[NEXT_RIGHT], row[INNER_LEFT], row[INNER_RIGHT] = place[2:]
    return parts


@njit(cache=True, nogil=True)
def parts_of_edges(forest: Forest, chosen: Ints) -> Ints:
    """[P, 11] the parts of a derivation, bottom-up, without copies."""
    parts = np.empty((len(chosen), PLACE + 1), np.int32)
    count = number = 0
    for edge in chosen:
        while forest.blocks[number, END] <= edge:
            number += 1
        if forest.edges[edge, RULE] != COPY:
            for column in range(PLACE):
                parts[count, column] = forest.blocks[number, column]
            parts[count, PLACE] = forest.edges[edge, RULE]
            count += 1
    return parts[:count]


@njit(cache=True, nogil=True, inline="always")
def _place(row: Ints, n: int) -> int:
    """One number for i, k, j of a part or block in a sentence of n words."""
    return ((row[FIRST] * (n + 1)) + row[SPLIT] + 1) * (n + 1) + row[LAST]


@njit(cache=True, nogil=True)
def losses(forest: Forest, gold: Ints, n: int) -> NDArray[np.float32]:
    """[E] what each edge adds to Δ, but for a constant: 1, or -1 where it is one of the gold parts."""
    places = np.array([_place(part, n) for part in gold])
    loss = np.ones(len(forest.edges), np.float32)
    for block in forest.blocks:
        if block[BEGIN] < block[END] and forest.edges[block[BEGIN], RULE] == COPY:
            loss[block[BEGIN] : block[END]] = 0.0
        here = _place(block, n)
        for at in range(len(places)):
            if places[at] == here:
                for edge in range(block[BEGIN], block[END]):
                    if forest.edges[edge, RULE] == gold[at, PLACE]:
                        loss[edge] = -1.0
    return loss
