"""Packed arcs as the chart over them needs them: for each word and side an automaton over its dependents.

Over one d-tree the dependents of a word come in one order, from the word outward, so its items are counts
(`d2c.cky.search.layout`). Over packed arcs they are paths. A state of a word's left side says how far its
words reach, which dependent it took last there, and which comes next; a step takes that one, whose own words
end where these begin. The right side mirrors it. Both sides of a word are independent of each other, so its
cells are pairs of states, once for each of its likely heads: an item knows all of its d-tree that the
features see, and the chart scores every derivation as that of its d-tree does.

Where nothing sees the d-tree around a part (`ChartSettings.context`, method 2 of pruning), a state is only
how far the words reach, and the cells are the items (i, j, h) of lexicalised CKY.

What is in no projective d-tree of the arcs is left out: bottom-up by sets of bits, then top-down.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.forests.forest import Ints
from d2c.packed.arcs import PackedArcs
from d2c.trees.binarization import LEFT, RIGHT

MOST_CELLS = 60_000  # of a sentence; what has more is parsed with its single d-tree
NOTHING = -1

# A state: the outermost word that it reaches; the dependents that it took last and that come next (-1: none);
# where in `PackedLayout.steps` those that lead to it begin
STATE = np.dtype([(name, np.int32) for name in ("bound", "inner", "next", "steps")], align=True)
# A step: the state that it starts from, the item that it takes
STEP = np.dtype([(name, np.int32) for name in ("state", "item")], align=True)
# The cells of word h with head g, a grid of left and right states: the first cell, these states (from, to)
GRID = np.dtype(
    [(name, np.int32) for name in ("h", "g", "cell", "left", "left_end", "right", "right_end")], align=True
)
# A word with all its dependents: its head g, its first and last word, where in `members` its cells begin
ITEM = np.dtype([(name, np.int32) for name in ("h", "g", "first", "last", "members")], align=True)


class PackedLayout(NamedTuple):
    """The cells of the packed chart, and the steps between them.

    grids:   of type GRID, for each word and head, or for each word, with g -1, where heads are not seen
    states:  of type STATE, and one behind them
    steps:   of type STEP
    items:   of type ITEM, and one behind them
    members: the cells of each item, in which the word has all its dependents
    order:   cells, and items as numbers behind those of the cells, each after what it is made of
    grid_of: [cells] the grid that each is in
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


class _Take(NamedTuple):
    """A word that reaches to `bound` takes the dependent m with the words from `first` to `last`."""

    bound: int
    m: int
    first: int
    last: int


_Item = tuple[int, int, int, int]  # word, head (0 = root, 1..n), first and last word


def lay_out_packed(arcs: PackedArcs, around: bool, most: int = MOST_CELLS) -> PackedLayout | None:
    """The layout; None where there is no projective d-tree with one root, or where there are too many cells.

    around: whether items know the d-tree around them
    """
    skeleton = _Skeleton(arcs)
    items = skeleton.useful(most)
    if not items:
        return None
    return _Builder(skeleton, items, around).layout(most)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class _Skeleton:
    """The words that each word can reach on either side, and by which steps.

    dependents: [2][n] by side, those of each word, nearest first
    reach:      [2][n] sets, as bits, of the outermost words
    """

    def __init__(self, arcs: PackedArcs) -> None:
        self.n = len(arcs.begin) - 1
        self.roots: list[int] = []
        self.dependents: list[list[list[int]]] = [[[] for _ in range(self.n)] for _ in range(2)]
        for m, head in zip(arcs.dependents().tolist(), arcs.heads.tolist(), strict=True):
            if head:
                self.dependents[LEFT if m < head - 1 else RIGHT][head - 1].append(m)
            else:
                self.roots.append(m)
        for of_word in self.dependents[LEFT]:
            of_word.reverse()
        self.reach = [[1 << h for h in range(self.n)] for _ in range(2)]
        while self._grow():
            pass
        self.takes = cache(self._takes)

    def _grow(self) -> bool:
        """Lets every word reach as far as its dependents do; whether any reaches further than before."""
        left, right = self.reach
        before = [*left], [*right]
        for h in range(self.n):
            for m in self.dependents[LEFT][h]:
                if right[m] << 1 & left[h]:
                    left[h] |= left[m]
            for m in self.dependents[RIGHT][h]:
                if left[m] & right[h] << 1:
                    right[h] |= right[m]
        return before != (left, right)

    def _takes(self, side: int, h: int, target: int) -> frozenset[_Take]:
        """The steps by which a word comes to reach a target."""
        left, right = self.reach
        found: set[_Take] = set()
        agenda, seen = [target], {target}
        while agenda:
            bound = agenda.pop()
            for m in self.dependents[side][h]:
                if not self.reach[side][m] >> bound & 1:
                    continue
                inner = right[m] & left[h] >> 1 if side == LEFT else left[m] & right[h] << 1
                for edge in _bits(inner):
                    before = edge + 1 if side == LEFT else edge - 1
                    found.add(_Take(before, m, min(bound, edge), max(bound, edge)))
                    if before not in seen:
                        seen.add(before)
                        agenda.append(before)
        return frozenset(found)

    def useful(self, most: int) -> set[_Item]:
        """The items of all projective d-trees with one root; none where there are more than `most`."""
        last = self.n - 1
        whole = (h for h in self.roots if self.reach[LEFT][h] & 1 and self.reach[RIGHT][h] >> last & 1)
        agenda: list[_Item] = [(h, 0, 0, last) for h in whole]
        found = set(agenda)
        while agenda:
            h, _, first, last = agenda.pop()
            for side, target in ((LEFT, first), (RIGHT, last)):
                for take in self.takes(side, h, target):
                    item = take.m, h + 1, take.first, take.last
                    if item not in found:
                        found.add(item)
                        agenda.append(item)
            if len(found) > most:
                return set()
        return found


class _Builder:
    """Numbers states, cells and items."""

    def __init__(self, skeleton: _Skeleton, items: set[_Item], around: bool) -> None:
        self.skeleton, self.around = skeleton, around
        merged = items if around else {(h, NOTHING, first, last) for h, _, first, last in items}
        self.items = sorted(merged)
        self.number = {item: number for number, item in enumerate(self.items)}
        self.by_word: list[list[_Item]] = [[] for _ in range(skeleton.n)]
        for item in self.items:
            self.by_word[item[0]].append(item)
        self.states: list[tuple[int, int, int, int]] = []
        self.steps: list[tuple[int, int]] = []
        # Of each word and side: its states (from, to), and those that reach a bound and take no more
        self.ranges: list[list[tuple[int, int]]] = [[], []]
        self.done: list[dict[tuple[int, int], list[int]]] = [{}, {}]

    def layout(self, most: int) -> PackedLayout | None:
        for side in (LEFT, RIGHT):
            for h in range(self.skeleton.n):
                self._add_side(side, h)
        grids, cells = self._grids()
        if cells > most:
            return None
        left = {(h, g): row for row, (h, g, *_) in enumerate(grids)}
        columns, members, roots = [], list[int](), list[int]()
        for h, g, first, last in self.items:
            columns.append((h, g, first, last, len(members)))
            _, _, cell, low, _, other, end = grids[left[h, g]]
            of_left, of_right = self.done[LEFT].get((h, first), []), self.done[RIGHT].get((h, last), [])
            members += [cell + (a - low) * (end - other) + b - other for a, b in product(of_left, of_right)]
            if self._is_root(h, g, first, last):
                roots += members[columns[-1][-1] :]
        of_states = np.array([*self.states, (0, 0, 0, len(self.steps))], STATE)
        of_items = np.array([*columns, (0, 0, 0, 0, len(members))], ITEM)
        of_grids = np.array(grids, GRID)
        return PackedLayout(
            of_grids,
            of_states,
            np.array(self.steps, STEP),
            of_items,
            np.array(members, np.int32),
            *_ordered(of_grids, of_states, of_items[:-1]),
            np.array(roots, np.int32),
        )

    def _is_root(self, h: int, g: int, first: int, last: int) -> bool:
        whole = first == 0 and last == self.skeleton.n - 1
        return whole and (g == 0 if self.around else h in self.skeleton.roots)

    def _add_side(self, side: int, h: int) -> None:
        """Appends the states of a word's side, and their steps."""
        if not self.skeleton.dependents[side][h]:  # most words
            self.done[side][h, h] = [len(self.states)]
            self.ranges[side].append((len(self.states), len(self.states) + 1))
            self.states.append((h, NOTHING, NOTHING, len(self.steps)))
            return
        column = 2 if side == LEFT else 3
        targets = sorted({item[column] for item in self.by_word[h]}, key=lambda bound: abs(bound - h))
        takes = sorted(set().union(*(self.skeleton.takes(side, h, target) for target in targets)))
        head = h + 1 if self.around else NOTHING
        into: dict[int, dict[int, list[_Take]]] = {}  # by the bound reached, and what is taken
        following: dict[int, set[int]] = {target: {NOTHING} for target in targets}
        for take in takes:
            seen = take.m if self.around else NOTHING
            into.setdefault(take.first if side == LEFT else take.last, {}).setdefault(seen, []).append(take)
            following.setdefault(take.bound, set()).add(seen)
        begin, known = len(self.states), defaultdict[tuple[int, int], list[int]](list)
        for bound in sorted(following, key=lambda bound: abs(bound - h)):
            for inner, taken in sorted(into.get(bound, {NOTHING: []}).items()):
                steps = [
                    (state, self.number[take.m, head, take.first, take.last])
                    for take in taken
                    for state in known[take.bound, inner]
                ]
                for after in sorted(following[bound]):
                    known[bound, after].append(len(self.states))
                    self.states.append((bound, inner, after, len(self.steps)))
                    self.steps += steps
        self.ranges[side].append((begin, len(self.states)))
        for target in targets:
            self.done[side][h, target] = known[target, NOTHING]

    def _grids(self) -> tuple[list[tuple[int, ...]], int]:
        """The rows of type GRID; how many cells they have."""
        grids, cells = list[tuple[int, ...]](), 0
        for h, g in dict.fromkeys((h, g) for h, g, *_ in self.items):
            left, right = self.ranges[LEFT][h], self.ranges[RIGHT][h]
            grids.append((h, g, cells, *left, *right))
            cells += (left[1] - left[0]) * (right[1] - right[0])
        return grids, cells


def _ordered(grids: NDArray[np.void], states: NDArray[np.void], items: NDArray[np.void]) -> tuple[Ints, Ints]:
    """`order` and `grid_of`: by the number of words, items behind cells."""
    lefts, rights = grids["left_end"] - grids["left"], grids["right_end"] - grids["right"]
    grid_of = np.repeat(np.arange(len(grids), dtype=np.int32), lefts * rights)
    within, of = np.arange(len(grid_of)) - grids["cell"][grid_of], grids[grid_of]
    left = of["left"] + within // rights[grid_of]
    right = of["right"] + within % rights[grid_of]
    width = np.append(states["bound"][right] - states["bound"][left], items["last"] - items["first"])
    is_item = np.arange(len(width)) >= len(grid_of)
    return np.lexsort((is_item, width)).astype(np.int32), grid_of
