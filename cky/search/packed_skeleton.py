"""The skeleton of packed arcs: for each word and side an automaton over its dependents.

Over one d-tree the dependents of a word come in one order, from the word outward, so its items are counts
(`d2c.cky.search.skeleton`). Over packed arcs they are paths. A state of a word's left side says how far the
words below it reach, which dependent it took last there, and which comes next. A step takes the next
dependent, whose own words end right before the words taken so far. The right side is the mirror image. The
two sides of a word are independent of each other, so the cells of the word are pairs of states, for each of
its likely heads. So an item knows all of its d-tree that features see, and the chart scores every derivation
as the chart of its d-tree does.

Where nothing sees the d-tree around a part (`ChartSettings.context`, method 2 of pruning), a state says only
how far the words reach, and the cells are the items (i, j, h) of lexicalised CKY.

What is in no projective d-tree of the arcs is left out, and, with a beam, what is only in unlikely d-trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints, Longs
from d2c.cky.search.deduction import NONE, place_of, room
from d2c.cky.search.reach import (
    NO_YIELDS,
    USEFUL,
    WHOLE,
    ArcScores,
    Reach,
    between,
    beyond,
    ends,
    item_key,
    reach_of,
)
from d2c.learning.kernels import inner, kernel, lean
from d2c.packed.arcs import PackedArcs
from d2c.trees.binarization import LEFT

MOST_CELLS = 60_000  # of a sentence; a sentence that has more is parsed over single d-trees

# A state: the outermost word that it reaches; the dependents taken last and to be taken next (-1: none);
# where in `PackedSkeleton.steps` the steps that lead to it begin
STATE = np.dtype([(name, np.int32) for name in ("bound", "inner", "next", "steps")], align=True)
# A step: the state that it starts from, the item that it takes
STEP = np.dtype([(name, np.int32) for name in ("state", "item")], align=True)
# The cells of word h with head g, a grid of left and right states: the first cell, these states (from, to)
GRID = np.dtype(
    [(name, np.int32) for name in ("h", "g", "cell", "left", "left_end", "right", "right_end")], align=True
)
# A word with all its dependents: its head g, its first and last word, where in `members` its cells begin
ITEM = np.dtype([(name, np.int32) for name in ("h", "g", "first", "last", "members")], align=True)


class PackedSkeleton(NamedTuple):
    """The cells of the packed chart, and the steps between them.

    grids:   of type GRID, for each word and head, or for each word, with g -1, where heads are not seen
    states:  of type STATE, and an extra one at the end
    steps:   of type STEP
    items:   of type ITEM, and an extra one at the end
    members: the cells of each item, in which the word has all its dependents
    order:   the cells, and the items as numbers after those of the cells, each after what it is made of
    grid_of: [cells] the grid that each cell is in
    roots:   the cells that may be the whole sentence
    """

    grids: NDArray[np.void]
    states: NDArray[np.void]
    steps: NDArray[np.void]
    items: NDArray[np.void]
    members: Ints
    order: Ints
    grid_of: Ints
    roots: Ints


def packed_skeleton_of(
    arcs: PackedArcs, around: bool, scores: ArcScores | None = None, most: int = MOST_CELLS
) -> PackedSkeleton | None:
    """Return the skeleton; None where there is no projective d-tree with one root, or too many cells.

    around: whether items know the d-tree around them
    scores: what d-trees are compared by, and the beam; None: nothing is left out
    """
    n = len(arcs.begin) - 1
    if scores is None:
        scores = ArcScores(np.zeros(len(arcs.heads), np.float32), NO_YIELDS, np.inf)
    if not scores.yields.size:
        scores = scores._replace(yields=np.zeros((2, n, n), np.float32))
    reach, keys = reach_of(arcs.begin, arcs.heads, scores, around, most)
    skeleton: PackedSkeleton = _arranged(reach, np.unique(keys), around, most)
    return skeleton if len(skeleton.roots) else None


class _Sides(NamedTuple):
    """The states of all sides of words, in the making.

    states, steps: as in `PackedSkeleton`, with room for more
    begin:  [2n + 1] where the states on the left of word 0, 1, ... begin, then those on the right
    first:  [n] the first state at each bound on the side at hand
    counts: [2] how many states and steps there are
    """

    states: NDArray[np.void]
    steps: NDArray[np.void]
    begin: Ints
    first: Ints
    counts: Longs


class _Place(NamedTuple):
    """A side of a word, a bound there, and the dependent that the word took last (-1: none, or any); `from_`
    and `to`: where in `Reach.dependents` those of this side begin and end."""

    side: int
    h: int
    bound: int
    taken: np.int64 | int
    from_: np.int64
    to: np.int64


@inner
def _with_room(sides: _Sides, states: int, steps: int) -> _Sides:
    """Return the sides with room for so many more states and steps."""
    counts = sides.counts
    own_states, own_steps = room(sides.states, counts[0] + states), room(sides.steps, counts[1] + steps)
    return _Sides(own_states, own_steps, sides.begin, sides.first, counts)


@lean
def _add_state(sides: _Sides, bound: int, taken: int, following: int, steps: int) -> None:
    state = sides.states[sides.counts[0]]
    state["bound"], state["inner"], state["next"], state["steps"] = bound, taken, following, steps
    sides.counts[0] += 1


@inner
def _take(sides: _Sides, before: int, taken: int, item: int) -> _Sides:
    """Add a step, which takes an item, from each state at bound `before` whose next dependent is `taken`."""
    state, counts = np.int64(sides.first[before]), sides.counts
    while state < counts[0] and sides.states[state]["bound"] == before:
        if sides.states[state]["next"] == taken:
            sides = _with_room(sides, 0, 1)
            step = sides.steps[counts[1]]
            step["state"], step["item"] = state, item
            counts[1] += 1
        state += 1
    return sides


@inner
def _add_steps(reach: Reach, keys: Longs, around: bool, place: _Place, sides: _Sides) -> _Sides:
    """Add the steps to a state. keys: [items] sorted keys"""
    n, (side, h, bound, taken, begin, end) = len(reach.marks), place
    for i in range(begin, end):
        m = np.int64(reach.dependents[i])
        if taken != NONE and taken != m:
            continue
        low, high = between(side, h, m)
        for before in range(low, high):
            if reach.marks[h, before] & USEFUL << side:
                first, last = ends(side, bound, before)
                item = place_of(keys, item_key(n, m, h + 1 if around else NONE, first, last))
                if item >= 0:
                    sides = _take(sides, before, taken, item)
    return sides


@lean
def _follows(reach: Reach, keys: Longs, place: _Place, m: int) -> bool:
    """Return whether m may be taken next, on the way to a useful bound, where items know the d-tree.

    keys: [items] sorted keys
    """
    side, h, bound, _, _, _ = place
    n, found = len(reach.marks), False
    low, high = beyond(side, m, n)
    for other in range(low, high):
        if reach.marks[h, other] & USEFUL << side and not found:
            first, last = ends(side, other, bound)
            found = place_of(keys, item_key(n, m, h + 1, first, last)) >= 0
    return found


@inner
def _add_states(reach: Reach, keys: Longs, around: bool, place: _Place, begin: int, sides: _Sides) -> _Sides:
    """Add a state for each dependent that may come next, or for none; all have the same steps, in copies.

    keys:  [items] sorted keys
    begin: the first of the steps, which are the last ones so far
    """
    side, h, bound, taken, _, _ = place
    counts, steps, again = sides.counts, sides.counts[1] - begin, False
    for i in range(place.from_ - 1, place.to if around else place.from_):
        following = np.int64(reach.dependents[i]) if i >= place.from_ else NONE
        if following != NONE:
            fits = _follows(reach, keys, place, following)
        else:
            fits = not around or reach.marks[h, bound] & WHOLE << side > 0
        if fits:
            sides = _with_room(sides, 1, steps)
            for step in range(begin, begin + steps if again else begin):
                sides.steps[counts[1]] = sides.steps[step]
                counts[1] += 1
            _add_state(sides, bound, taken, following, counts[1] - steps)
            again = True
    return sides


@inner
def _add_side(reach: Reach, keys: Longs, around: bool, row: int, sides: _Sides) -> _Sides:
    """Add the states of a side of a word, from the word outward.

    keys: [items] sorted keys
    row:  number of the side
    """
    n, counts = len(reach.marks), sides.counts
    side, h, begin, end = row // n, row % n, np.int64(reach.begin[row]), np.int64(reach.begin[row + 1])
    if begin == end:  # most words
        sides = _with_room(sides, 1, 0)
        _add_state(sides, h, NONE, NONE, counts[1])
    for far in range(0 if begin == end else h + 1 if side == LEFT else n - h):
        bound = h - far if side == LEFT else h + far
        if reach.marks[h, bound] & USEFUL << side == 0:
            continue
        sides.first[bound] = counts[0]
        for i in range(begin - 1, end if around else begin):
            taken = np.int64(reach.dependents[i]) if i >= begin else NONE
            if around and (taken == NONE) != (bound == h):
                continue
            place, before = _Place(side, h, bound, taken, begin, end), counts[1]
            sides = _add_steps(reach, keys, around, place, sides)
            if counts[1] > before or bound == h:
                sides = _add_states(reach, keys, around, place, before, sides)
    return sides


@inner
def _grids(items: NDArray[np.void], sides: _Sides) -> tuple[NDArray[np.void], int]:
    """Return the grids [G], of type GRID, for items [items] of type ITEM, and the number of their cells."""
    grids, count, cells, n = np.empty(len(items) - 1, GRID), 0, 0, len(sides.begin) // 2
    for i in range(len(items) - 1):
        h, g = np.int64(items[i]["h"]), np.int64(items[i]["g"])
        if count == 0 or grids[count - 1]["h"] != h or grids[count - 1]["g"] != g:
            grid, begin = grids[count], sides.begin
            grid["h"], grid["g"], grid["cell"] = h, g, cells
            grid["left"], grid["left_end"] = begin[h], begin[h + 1]
            grid["right"], grid["right_end"] = begin[n + h], begin[n + h + 1]
            cells += (begin[h + 1] - begin[h]) * (begin[n + h + 1] - begin[n + h])
            count += 1
    return grids[:count], cells


@lean
def _ends_at(state: np.void, bound: int) -> bool:
    """Return whether a state reaches to this bound, and takes no more dependents."""
    return state["bound"] == bound and state["next"] == NONE


@inner
def _members(items: NDArray[np.void], grids: NDArray[np.void], states: NDArray[np.void]) -> Ints:
    """Return the cells of all items [members]; write into `items` [items] where those of each begin."""
    members, count, row = np.empty(2 * len(items), np.int32), 0, 0
    for i in range(len(items) - 1):
        item = items[i]
        item["members"] = count
        while grids[row]["h"] != item["h"] or grids[row]["g"] != item["g"]:
            row += 1
        grid = grids[row]
        low, high = np.int64(grid["right"]), np.int64(grid["right_end"])
        for a in range(grid["left"], grid["left_end"]):
            if not _ends_at(states[a], item["first"]):
                continue
            members = room(members, count + high - low)
            for b in range(low, high):
                if _ends_at(states[b], item["last"]):
                    members[count] = grid["cell"] + (a - grid["left"]) * (high - low) + b - low
                    count += 1
    items[len(items) - 1]["members"] = count
    return members[:count]


@inner
def _ordered(
    grids: NDArray[np.void], states: NDArray[np.void], items: NDArray[np.void], cells: int, n: int
) -> tuple[Ints, Ints]:
    """Return `order` [cells + items], by the number of words, items after cells; and `grid_of` [cells].
    Linear time."""
    places, grid_of = cells + len(items) - 1, np.empty(cells, np.int32)
    width, order, begin = np.empty(places, np.int32), np.empty(places, np.int32), np.zeros(n + 1, np.int32)
    cell = 0
    for row in range(len(grids)):
        for a in range(grids[row]["left"], grids[row]["left_end"]):
            for b in range(grids[row]["right"], grids[row]["right_end"]):
                grid_of[cell], width[cell] = row, states[b]["bound"] - states[a]["bound"]
                cell += 1
    for i in range(len(items) - 1):
        width[cells + i] = items[i]["last"] - items[i]["first"]
    for place in range(places):
        begin[width[place] + 1] += 1
    for words in range(n):
        begin[words + 1] += begin[words]
    for place in range(places):
        order[begin[width[place]]] = place
        begin[width[place]] += 1
    return order, grid_of


@kernel
def _arranged(reach: Reach, keys: Longs, around: bool, most: int) -> PackedSkeleton:
    """Return the skeleton of items, by their sorted keys [items]; it has no roots if its cells would be more
    than `most`."""
    n, items = len(reach.marks), np.zeros(len(keys) + 1, ITEM)
    for i in range(len(keys)):
        item, key = items[i], keys[i]
        item["last"], item["first"] = key % n, key // n % n
        item["g"], item["h"] = key // n**2 % (n + 2) - 1, key // n**2 // (n + 2)
    rows, counts = np.empty(2 * n + 1, np.int32), np.zeros(2, np.int64)
    sides = _Sides(np.empty(4 * n, STATE), np.empty(4 * n, STEP), rows, np.empty(n, np.int32), counts)
    for row in range(2 * n):
        rows[row] = counts[0]
        sides = _add_side(reach, keys, around, row, sides)
    rows[2 * n] = counts[0]
    grids, cells = _grids(items, sides)
    if cells > most:
        grids, cells, items = grids[:0], 0, items[-1:]
    sides = _with_room(sides, 1, 0)
    _add_state(sides, 0, 0, 0, counts[1])
    states, members = sides.states[: counts[0]], _members(items, grids, sides.states)
    order, grid_of = _ordered(grids, states, items, cells, n)
    roots, count = np.empty(len(members), np.int32), 0
    for i in range(len(items) - 1):
        if items[i]["first"] == 0 and items[i]["last"] == n - 1:  # only a root has all words
            for member in range(items[i]["members"], items[i + 1]["members"]):
                roots[count] = members[member]
                count += 1
    steps = sides.steps[: counts[1]]
    return PackedSkeleton(grids, states, steps, items, members, order, grid_of, roots[:count])
