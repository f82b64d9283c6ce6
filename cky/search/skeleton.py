"""Which words every word can have below it over packed arcs, and so the items of all projective d-trees.

The words of h reach from one bound to another, on either side as far as those of its dependents do, which it
takes one after the other, each of them with words that begin where those of h end. Bottom-up it is found how
far they can reach, top-down what of that is in a projective d-tree with one root. Over all arcs of n words
the latter takes time n⁴.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.search.growing import room
from d2c.forests.forest import Ints
from d2c.linear.kernels import inner, kernel, lean
from d2c.linear.templates import Longs
from d2c.trees.binarization import LEFT, RIGHT

NOTHING: Any = np.int64(-1)
Bits = NDArray[np.uint8]
# Bits of a word and a bound: its words can reach that far; and for each side, moved left by this, whether it
# is on the way of an item of some d-tree, and whether it is where one ends
REACHED, USEFUL, WHOLE = 1, 2, 8


class Skeleton(NamedTuple):
    """How far the words of each word can reach on either side, and by which dependents.

    begin:      [2n + 1] where in `dependents` those to the left of word 0, 1, ..., then to the right, begin
    dependents: in order
    marks:      [n, n] bits of each word and each bound
    """

    begin: Ints
    dependents: Ints
    marks: Bits


@lean
def reaches(marks: Bits, side: int, h: int, bound: int) -> bool:
    """Return whether the words of h can reach to a bound on this side."""
    there = 0 <= bound <= h if side == LEFT else h <= bound < len(marks)
    return there and marks[h, bound] & REACHED > 0


@lean
def takes(marks: Bits, side: int, h: int, m: int, bound: int) -> bool:
    """Return whether h can take m when its words reach to a bound."""
    edge = bound - 1 if side == LEFT else bound + 1
    return reaches(marks, side, h, bound) and reaches(marks, 1 - side, m, edge)


@lean
def between(side: int, h: int, m: int) -> tuple[int, int]:
    """Return the bounds (from, to) of h before m, which may be a bound, too: there h may take m."""
    return (m + 1, h + 1) if side == LEFT else (h, m)


@lean
def beyond(side: int, m: int, n: int) -> tuple[int, int]:
    """Return the bounds (from, to) that h may reach by taking m."""
    return (0, m + 1) if side == LEFT else (m, n)


@lean
def ends(side: int, bound: int, before: int) -> tuple[int, int]:
    """Return the first and the last word of what is taken between two bounds."""
    return (bound, before - 1) if side == LEFT else (before + 1, bound)


@lean
def item_key(n: int, h: int, g: int, first: int, last: int) -> int:
    """Return one number for an item, by which items are sorted."""
    return ((h * (n + 2) + g + 1) * n + first) * n + last


@inner
def _dependents(begin: Ints, heads: Ints) -> tuple[Ints, Ints]:
    """Return `begin` and `dependents` of a skeleton. Linear time."""
    n = len(begin) - 1
    first, dependents = np.zeros(2 * n + 2, np.int32), np.empty(len(heads), np.int32)
    for count in range(2):  # how many, then which ones
        for m in range(n):
            for arc in range(begin[m], begin[m + 1]):
                h = heads[arc] - 1
                row = (LEFT if m < h else RIGHT) * n + h
                if h >= 0 and count:
                    dependents[first[row + 1]] = m
                    first[row + 1] += 1
                elif h >= 0:
                    first[row + 2] += 1
        for row in range(0 if count else 2 * n):
            first[row + 2] += first[row + 1]
    return first[:-1], dependents


@lean
def _grow(begin: Ints, dependents: Ints, marks: Bits) -> bool:
    """Let every word reach as far as its dependents do; return whether any reaches further than before."""
    n, further = len(marks), False
    for row in range(2 * n):
        side, h = row // n, row % n
        for i in range(begin[row], begin[row + 1]):
            m, fits = np.int64(dependents[i]), False
            low, high = between(side, h, m)
            for bound in range(low, high):
                fits = fits or takes(marks, side, h, m, bound)
            low, high = beyond(side, m, n)
            for bound in range(low, high if fits else low):
                if marks[m, bound] & REACHED > marks[h, bound] & REACHED:
                    marks[h, bound] |= REACHED
                    further = True
    return further


@lean
def _use(marks: Bits, side: int, h: int, bound: int, agenda: Longs, waiting: int) -> int:
    """Mark a bound as useful, and put it on the agenda, if it was not; return how many are there."""
    if marks[h, bound] & USEFUL << side:
        return waiting
    marks[h, bound] |= USEFUL << side
    agenda[waiting] = (side * len(marks) + h) * len(marks) + bound
    return waiting + 1


@lean
def _use_item(marks: Bits, m: int, first: int, last: int, agenda: Longs, waiting: int) -> int:
    """Mark both bounds of an item; return as `_use`."""
    marks[m, first] |= WHOLE << LEFT
    marks[m, last] |= WHOLE << RIGHT
    waiting = _use(marks, LEFT, m, first, agenda, waiting)
    return _use(marks, RIGHT, m, last, agenda, waiting)


@kernel
def skeleton_of(begin: Ints, heads: Ints, around: bool, most: int) -> tuple[Skeleton, Longs]:
    """Return the skeleton, and keys of the items of all projective d-trees with one root, not in order; none
    of them where they are more than `most`."""
    n, count, waiting = len(begin) - 1, 0, 0
    rows, dependents = _dependents(begin, heads)
    marks = np.zeros((n, n), np.uint8)
    for word in range(n):
        marks[word, word] = REACHED
    while _grow(rows, dependents, marks):
        pass
    keys, agenda = np.empty(8 * n, np.int64), np.empty(8 * n, np.int64)
    for root in range(n):
        for arc in range(begin[root], begin[root + 1]):
            if heads[arc] == 0 and marks[root, 0] & marks[root, n - 1] & REACHED:
                keys[count] = item_key(n, root, 0 if around else NOTHING, 0, n - 1)
                count += 1
                waiting = _use_item(marks, root, 0, n - 1, agenda, waiting)
    while waiting and count <= most:
        waiting -= 1
        row, bound = agenda[waiting] // n, agenda[waiting] % n
        side, h = row // n, row % n
        for i in range(rows[row], rows[row + 1]):
            taken = np.int64(dependents[i])
            low, high = between(side, h, taken)
            for before in range(low, high if reaches(marks, side, taken, bound) else low):
                if takes(marks, side, h, taken, before):
                    first, last = ends(side, bound, before)
                    keys, agenda = room(keys, count + 1), room(agenda, waiting + 3)
                    keys[count] = item_key(n, taken, h + 1 if around else NOTHING, first, last)
                    count += 1
                    waiting = _use_item(marks, taken, first, last, agenda, waiting)
                    waiting = _use(marks, side, h, before, agenda, waiting)
    return Skeleton(rows, dependents, marks), keys[: count if count <= most else 0]
