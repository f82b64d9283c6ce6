"""How far the words below each word can reach over packed arcs, and so the items of all projective d-trees.

The words of h reach to a bound on either side. On each side h takes its dependents one after the other; the
words of a dependent begin where those of h have ended so far, and move the bound. A bottom-up pass finds how
far the words can reach, and with which best scores of arcs and yields. A top-down pass finds which of these
items are in a projective d-tree with one root whose score is not far below the best one's. Over all arcs of n
words this pass takes time n⁴.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Doubles, Floats, Ints, Longs
from d2c.cky.search.deduction import NONE, room
from d2c.learning.kernels import inner, kernel, lean
from d2c.trees.binarization import LEFT, RIGHT

Bits = NDArray[np.uint8]
# Bits of a word and a bound, shifted left by the side: whether the bound is on the way of an item of some
# d-tree, and whether such an item ends there
USEFUL, WHOLE = 1, 4
NO_YIELDS = np.zeros((2, 0, 0), np.float32)
_ROUNDING = 1e-6  # of sums of scores


class ArcScores(NamedTuple):
    """What d-trees are compared by: the sum over their arcs, and over the yields of all words but the root.

    arcs:   [A] scores
    yields: [2, n, n] scores of the first and the last word of each word's yield; [2, 0, 0] without these
    beam:   what is only in d-trees with a score that is further below the best one's is left out
    """

    arcs: Floats
    yields: Floats
    beam: float


class Reach(NamedTuple):
    """How far the words of each word reach on either side, and by which dependents.

    begin:      [2n + 1] where in `dependents` those to the left of word 0, 1, ..., then to the right, begin
    dependents: in order
    marks:      [n, n] bits of each word and each bound
    """

    begin: Ints
    dependents: Ints
    marks: Bits


class _Spans(NamedTuple):
    """The best scores over both sides of words (Eisner's chart, COLING 1996).

    inside:  [n, n] of the words of h to a bound, without the score of h's own yield; -inf where they cannot
             reach it
    near:    [D] of the arc to a dependent, its words on the near side, and its head's words before these
    outside: [n, n] of all of a d-tree except `inside`; without meaning on the diagonal
    limit:   the least score of a d-tree that is not left out
    """

    inside: Doubles
    near: Doubles
    outside: Doubles
    limit: float


@lean
def between(side: int, h: int, m: int) -> tuple[int, int]:
    """Return the bounds (from, to) at which h may take m: from h itself up to the word next to m."""
    return (m + 1, h + 1) if side == LEFT else (h, m)


@lean
def beyond(side: int, m: int, n: int) -> tuple[int, int]:
    """Return the bounds (from, to) that h may reach by taking m: m itself and those beyond it."""
    return (0, m + 1) if side == LEFT else (m, n)


@lean
def edge_of(side: int, before: int) -> int:
    """Return the next word beyond a bound."""
    return before - 1 if side == LEFT else before + 1


@lean
def ends(side: int, bound: int, before: int) -> tuple[int, int]:
    """Return the first and the last word of the item that moves a bound from `before` to `bound`."""
    edge = edge_of(side, before)
    return (bound, edge) if side == LEFT else (edge, bound)


@lean
def item_key(n: int, h: int, g: int, first: int, last: int) -> int:
    """Return one number for an item, by which items are sorted."""
    return ((h * (n + 2) + g + 1) * n + first) * n + last


@inner
def _dependents(begin: Ints, heads: Ints, scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Return `begin` and `dependents` [D] of `Reach`, and the scores [D] of the arcs to these. Linear time.

    begin: [n + 1]; heads, scores: [A] of the arcs
    """
    n = len(begin) - 1
    first, dependents = np.zeros(2 * n + 2, np.int32), np.empty(len(heads), np.int32)
    of_arcs = np.empty(len(heads), np.float32)
    for count in range(2):  # how many, then which ones
        for m in range(n):
            for arc in range(begin[m], begin[m + 1]):
                h = heads[arc] - 1
                row = (LEFT if m < h else RIGHT) * n + h
                if h >= 0 and count:
                    dependents[first[row + 1]], of_arcs[first[row + 1]] = m, scores[arc]
                    first[row + 1] += 1
                elif h >= 0:
                    first[row + 2] += 1
        for row in range(0 if count else 2 * n):
            first[row + 2] += first[row + 1]
    return first[:-1], dependents, of_arcs


@lean
def _end(inside: Doubles, yields: Floats, side: int, m: int, bound: int) -> float:
    """Return the best score of a dependent's words on one side. inside: as in `_Spans`; yields: [2, n, n]"""
    return inside[m, bound] + yields[side, m, bound]


@lean
def _grow(reach: Reach, scores: Floats, yields: Floats, inside: Doubles, near: Doubles) -> None:
    """Write `inside` and `near`, from the word outward. scores: [D]"""
    n = len(inside)
    for far in range(1, n):
        for row in range(2 * n):
            side, h = row // n, row % n
            bound = h - far if side == LEFT else h + far
            for i in range(reach.begin[row], reach.begin[row + 1] if 0 <= bound < n else 0):
                m = np.int64(reach.dependents[i])
                low, high = between(side, h, m) if m == bound else (0, 0)
                for before in range(low, high):
                    edge = edge_of(side, before)
                    score = inside[h, before] + _end(inside, yields, 1 - side, m, edge) + scores[i]
                    near[i] = max(near[i], score)
                low, high = beyond(side, m, n)
                if low <= bound < high:
                    score = near[i] + _end(inside, yields, side, m, bound)
                    inside[h, bound] = max(inside[h, bound], score)


@lean
def _shrink(reach: Reach, scores: Floats, yields: Floats, spans: _Spans, whole: Doubles) -> None:
    """Write `outside`, toward the word. whole: [D] of all except `near`, at first -inf"""
    inside, near, outside, _ = spans
    n = len(inside)
    for far in range(n - 1, 0, -1):
        for row in range(2 * n):
            side, h = row // n, row % n
            bound = h - far if side == LEFT else h + far
            for i in range(reach.begin[row], reach.begin[row + 1] if 0 <= bound < n else 0):
                m = np.int64(reach.dependents[i])
                low, high = beyond(side, m, n)
                if low <= bound < high:
                    own = outside[h, bound] + yields[side, m, bound]
                    whole[i] = max(whole[i], own + inside[m, bound])
                    outside[m, bound] = max(outside[m, bound], own + near[i])
                low, high = between(side, h, m) if m == bound else (0, 0)
                for before in range(low, high):
                    edge = edge_of(side, before)
                    own = whole[i] + yields[1 - side, m, edge] + scores[i]
                    outside[h, before] = max(outside[h, before], own + inside[m, edge])
                    outside[m, edge] = max(outside[m, edge], own + inside[h, before])


@lean
def _use(marks: Bits, side: int, h: int, bound: int, agenda: Longs, waiting: int) -> int:
    """Mark a bound as useful in `marks` [n, n], and put it on the agenda, unless it was marked before; return
    how many bounds are waiting."""
    if marks[h, bound] & USEFUL << side:
        return waiting
    marks[h, bound] |= USEFUL << side
    agenda[waiting] = (side * len(marks) + h) * len(marks) + bound
    return waiting + 1


@lean
def _use_item(marks: Bits, m: int, first: int, last: int, agenda: Longs, waiting: int) -> int:
    """Mark both bounds of an item in `marks` [n, n]; return how many bounds are waiting."""
    marks[m, first] |= WHOLE << LEFT
    marks[m, last] |= WHOLE << RIGHT
    waiting = _use(marks, LEFT, m, first, agenda, waiting)
    return _use(marks, RIGHT, m, last, agenda, waiting)


@inner
def _spans(begin: Ints, heads: Ints, reach: Reach, of_arcs: Floats, scores: ArcScores) -> _Spans:
    """Return the best scores. of_arcs: [D] scores of the arcs to `reach.dependents`"""
    n, size, best = len(reach.marks), len(of_arcs), -np.inf
    inside, outside = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    near, whole = np.full(size, -np.inf), np.full(size, -np.inf)
    for word in range(n):
        inside[word, word] = 0.0
    _grow(reach, of_arcs, scores.yields, inside, near)
    for root in range(n):
        for arc in range(begin[root], begin[root + 1]):
            if heads[arc] == 0:
                left, right = inside[root, 0], inside[root, n - 1]
                best = max(best, left + right + scores.arcs[arc])
                outside[root, 0] = right + scores.arcs[arc]
                outside[root, n - 1] = left + scores.arcs[arc]
    spans = _Spans(inside, near, outside, best - scores.beam - _ROUNDING)
    _shrink(reach, of_arcs, scores.yields, spans, whole)
    return spans


@kernel
def reach_of(begin: Ints, heads: Ints, scores: ArcScores, around: bool, most: int) -> tuple[Reach, Longs]:
    """Return the reach, and the keys [items] of the items of all projective d-trees with one root, except
    those that the beam leaves out. Keys are not in order, and may be repeated; there are none where they
    would be more than `most`."""
    n, count, waiting = len(begin) - 1, 0, 0
    rows, dependents, of_arcs = _dependents(begin, heads, scores.arcs)
    marks, yields = np.zeros((n, n), np.uint8), scores.yields
    reach = Reach(rows, dependents, marks)
    inside, _, outside, limit = _spans(begin, heads, reach, of_arcs, scores)
    keys, agenda = np.empty(8 * n, np.int64), np.empty(8 * n, np.int64)
    for root in range(n):
        for arc in range(begin[root], begin[root + 1]):
            score = inside[root, 0] + inside[root, n - 1] + scores.arcs[arc]
            if heads[arc] == 0 and score > -np.inf and score >= limit:
                keys[count] = item_key(n, root, 0 if around else NONE, 0, n - 1)
                count += 1
                waiting = _use_item(marks, root, 0, n - 1, agenda, waiting)
    while waiting and count <= most:
        waiting -= 1
        row, bound = agenda[waiting] // n, agenda[waiting] % n
        side, h = row // n, row % n
        for i in range(rows[row], rows[row + 1]):
            taken = np.int64(dependents[i])
            low, high = beyond(side, taken, n)
            own = outside[h, bound] + _end(inside, yields, side, taken, bound) + of_arcs[i]
            fits = low <= bound < high and own > -np.inf
            low, high = between(side, h, taken)
            for before in range(low, high if fits else low):
                first, last = ends(side, bound, before)
                score = own + inside[h, before]
                score += _end(inside, yields, 1 - side, taken, edge_of(side, before))
                if score > -np.inf and score >= limit:
                    keys, agenda = room(keys, count + 1), room(agenda, waiting + 3)
                    keys[count] = item_key(n, taken, h + 1 if around else NONE, first, last)
                    count += 1
                    waiting = _use_item(marks, taken, first, last, agenda, waiting)
                    waiting = _use(marks, side, h, before, agenda, waiting)
    return reach, keys[: count if count <= most else 0]
