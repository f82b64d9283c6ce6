"""A d-tree as the constrained chart needs it: words bottom-up, dependents outward, cells numbered.

Kernel side: everything is 0-based, heads are -1 for the root. A word h with l left and r right dependents has
the (l + 1)(r + 1) cells (a, b): h with its a nearest left and b nearest right dependents. A word with so many
dependents on both sides that this is more than MOST_CELLS takes all right ones first, as the simple
binarization does within a node: it has the l + r + 1 cells (0, b) and (a, r).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.forests.forest import Ints
from d2c.linear.kernels import inner, kernel

MOST_CELLS = 10_000


class Layout(NamedTuple):
    """A d-tree of n words.

    order:      [n] words, dependents before their heads
    dependents: [n - 1] the left dependents of word 0 outward, its right ones outward, those of word 1, ...
    begin:      [n] where a word's left dependents begin
    middle:     [n] where its right dependents begin
    end:        [n] where they end
    first, last: [n] outermost words of each word's yield (which may have gaps if arcs cross)
    cells:      [n + 1] number of a word's first cell, see `cell_of`
    """

    order: Ints
    dependents: Ints
    begin: Ints
    middle: Ints
    end: Ints
    first: Ints
    last: Ints
    cells: Ints


@kernel
def lay_out(heads: Ints) -> Layout:
    """The layout of heads (1..n, 0 = root) that form a tree. Linear time."""
    n = len(heads)
    lefts, rights = np.zeros(n, np.int32), np.zeros(n, np.int32)
    root = 0
    for m in range(n):
        h = heads[m] - 1
        if h < 0:
            root = m
        elif m < h:
            lefts[h] += 1
        else:
            rights[h] += 1
    begin, middle = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    end, cells = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    for h in range(n):
        begin[h + 1] = begin[h] + lefts[h] + rights[h]
        middle[h] = begin[h] + lefts[h]
        end[h] = begin[h + 1]
        square = (np.int64(lefts[h]) + 1) * (rights[h] + 1)
        cells[h + 1] = cells[h] + (square if square <= MOST_CELLS else lefts[h] + rights[h] + 1)
    dependents = np.zeros(max(0, n - 1), np.int32)
    next_left, next_right = middle.copy(), middle.copy()
    for m in range(n):
        h = heads[m] - 1
        if m < h:
            next_left[h] -= 1
            dependents[next_left[h]] = m
        elif h >= 0:
            dependents[next_right[h]] = m
            next_right[h] += 1
    order = np.zeros(n, np.int32)
    order[0] = root
    filled = 1
    for rank in range(n):
        h = order[rank]
        for i in range(begin[h], end[h]):
            order[filled] = dependents[i]
            filled += 1
    first, last = np.empty(n, np.int32), np.empty(n, np.int32)
    upward = np.empty(n, np.int32)
    for m in range(n):
        first[m] = last[m] = m
        upward[m] = order[n - 1 - m]
    for m in upward[:-1]:
        h = heads[m] - 1
        first[h] = min(first[h], first[m])
        last[h] = max(last[h], last[m])
    return Layout(upward, dependents, begin, middle, end, first, last, cells)


@inner
def cell_of(layout: Layout, h: int, a: int, b: int) -> int:
    """The number of the cell (h, a, b), or -1 where there is none."""
    lefts, rights = layout.middle[h] - layout.begin[h], layout.end[h] - layout.middle[h]
    if layout.cells[h + 1] - layout.cells[h] == (lefts + 1) * (rights + 1):
        return layout.cells[h] + a * (rights + 1) + b
    return layout.cells[h] + a + b if a == 0 or b == rights else -1


@inner
def item_of(layout: Layout, h: int, number: int) -> tuple[int, int]:
    """a and b of the word's cell with this number, counted from its first."""
    lefts, rights = layout.middle[h] - layout.begin[h], layout.end[h] - layout.middle[h]
    if layout.cells[h + 1] - layout.cells[h] == (lefts + 1) * (rights + 1):
        return number // (rights + 1), number % (rights + 1)
    return max(0, number - rights), min(number, rights)
