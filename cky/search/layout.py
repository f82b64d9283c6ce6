"""A d-tree as the constrained chart needs it: words bottom-up, dependents outward, cells numbered.

Kernel side: everything is 0-based, heads are -1 for the root. A word h with l left and r right dependents has
the (l + 1)(r + 1) cells (a, b): h with its a nearest left and b nearest right dependents. A word with so many
dependents on both sides that this is more than MOST_CELLS takes all right ones first, as the simple
binarization does within a node: it has the l + r + 1 cells (0, b) and (a, r).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
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


@njit(cache=True, nogil=True)
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
    for at in range(n):
        h = order[at]
        for place in range(begin[h], end[h]):
            order[filled] = dependents[place]
            filled += 1
    first, last = np.arange(n).astype(np.int32), np.arange(n).astype(np.int32)
    for at in range(n - 1, 0, -1):
        m = order[at]
        h = heads[m] - 1
        first[h] = min(first[h], first[m])
        last[h] = max(last[h], last[m])
    return Layout(order[::-1].copy(), dependents, begin, middle, end, first, last, cells)


@njit(cache=True, nogil=True, inline="always")
def cell_of(layout: Layout, h: int, a: int, b: int) -> int:
    """The number of the cell (h, a, b), or -1 where there is none."""
    lefts, rights = layout.middle[h] - layout.begin[h], layout.end[h] - layout.middle[h]
    if layout.cells[h + 1] - layout.cells[h] == (lefts + 1) * (rights + 1):
        return layout.cells[h] + a * (rights + 1) + b
    return layout.cells[h] + a + b if a == 0 or b == rights else -1


@njit(cache=True, nogil=True, inline="always")
def item_of(layout: Layout, h: int, number: int) -> tuple[int, int]:
    """a and b of the word's cell with this number, counted from its first."""
    lefts, rights = layout.middle[h] - layout.begin[h], layout.end[h] - layout.middle[h]
    if layout.cells[h + 1] - layout.cells[h] == (lefts + 1) * (rights + 1):
        return number // (rights + 1), number % (rights + 1)
    return max(0, number - rights), min(number, rights)
