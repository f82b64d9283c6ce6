"""A d-tree as the constrained chart needs it: words bottom-up, dependents outward, cells numbered.

Kernel side: everything is 0-based, heads are -1 for the root. A word h with l left and r right dependents has
the (l + 1)(r + 1) cells (a, b): h with its a nearest left and b nearest right dependents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]


class Layout(NamedTuple):
    """A d-tree of n words.

    order:      [n] words, dependents before their heads
    dependents: [n - 1] the left dependents of word 0 outward, its right ones outward, those of word 1, ...
    begin:      [n] where a word's left dependents begin
    middle:     [n] where its right dependents begin
    end:        [n] where they end
    first, last: [n] outermost words of each word's yield (which may have gaps if arcs cross)
    cells:      [n + 1] number of a word's cell (0, 0); cell (a, b) is a * (r + 1) + b further on
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
        cells[h + 1] = cells[h] + (lefts[h] + 1) * (rights[h] + 1)
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
