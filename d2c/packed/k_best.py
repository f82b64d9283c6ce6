"""The k best d-trees over packed arcs: trees with one root, by the sum of the logarithms of their arcs.

Projective d-trees are derivations of Eisner's chart (COLING 1996) over these arcs, one for each d-tree, and
the k best are found as in any forest (Huang and Chiang, IWPT 2005; `d2c.learning.semirings.k_best`). Of all
d-trees the best is a maximum spanning tree (`d2c.packed.spanning`). The others are looked for in subspaces,
as by Lawler (Management Science 1972), and by Camerini, Fratta and Maffioli (Networks 1980) for spanning
trees: one without the best tree's arc to the first word that has a choice, one with this arc but without the
arc to the second such word, and so on. The subspace with the next best tree is divided in turn. A subspace is
searched only when its bound, the sum over the best arc of each word, is the best of what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Bools, Ints
from d2c.learning.semirings import Forest, k_best
from d2c.packed.arcs import PackedArcs
from d2c.packed.spanning import chu_liu_edmonds
from d2c.trees.dtree import is_tree

MOST_FOREST_EDGES = 1 << 17  # of a forest


class Scored(NamedTuple):
    """A d-tree: its heads (1..n, 0 for the root), and the logarithm of the product of their probabilities."""

    heads: tuple[int, ...]
    log: float


def k_best_dtrees(arcs: PackedArcs, k: int, projective: bool, most: int = MOST_FOREST_EDGES) -> list[Scored]:
    """Return the k best d-trees, all different, best first; fewer where there are no more.

    projective: only projective ones; then there are none if their forest has more edges than `most`
    """
    return _projective(arcs, k, most) if projective else _any(arcs, k)


def _projective(arcs: PackedArcs, k: int, most: int) -> list[Scored]:
    """Return the k best projective d-trees, by Eisner's chart."""
    found = eisner_forest(arcs, most)
    if found is None:
        return []
    forest, of_edges = found
    logs = np.append(arcs.logs, np.float32(0.0))  # -1: no arc
    scores, edges, begin = k_best(forest, logs[of_edges], k)
    words, trees = arcs.dependents(), list[Scored]()
    for score, chosen in zip(scores.tolist(), np.split(edges, begin[1:-1]), strict=True):
        numbers = of_edges[chosen]
        numbers = numbers[numbers >= 0]
        in_order = numbers[np.argsort(words[numbers])]
        trees.append(Scored(tuple(arcs.heads[in_order].tolist()), score))
    return trees


def eisner_forest(arcs: PackedArcs, most: int = MOST_FOREST_EDGES) -> tuple[Forest, Ints] | None:
    """Return Eisner's chart over packed arcs, and the arc that each edge adds [E], -1 for none; None if there
    is no tree, or if there are more edges than `most`.

    A span i..j of words is complete, with its head at the left or right end, or consists of two complete
    spans that face each other. A word by itself is an axiom.
    """
    n, chart = len(arcs.begin) - 1, _Chart(len(arcs.begin) - 1)
    dependents: list[list[tuple[int, int]]] = [[] for _ in arcs.begin]  # of the root, then of each word; arcs
    for arc, (m, h) in enumerate(zip(arcs.dependents().tolist(), arcs.heads.tolist(), strict=True)):
        dependents[h].append((m, arc))
    ends = {(min(m, h), max(m, h)) for h, below in enumerate(dependents[1:]) for m, _ in below}
    right = {(i, i): i for i in range(n)}  # the head at the left end, its dependents on the right
    left, facing = right.copy(), dict[tuple[int, int], int]()
    for j in range(1, n):
        for i in range(j - 1, -1, -1):
            if (i, j) in ends:
                split = (k for k in range(i, j) if (i, k) in right and (k + 1, j) in left)
                chart.derive(facing, i, j, [(right[i, k], left[k + 1, j], -1) for k in split])
            ways = ((m, arc) for m, arc in dependents[i + 1] if (i, m) in facing and (m, j) in right)
            chart.derive(right, i, j, [(facing[i, m], right[m, j], arc) for m, arc in ways])
            ways = ((m, arc) for m, arc in dependents[j + 1] if (m, j) in facing and (i, m) in left)
            chart.derive(left, i, j, [(facing[m, j], left[i, m], arc) for m, arc in ways])
        if len(chart.edges) > most:
            return None
    whole = ((m, arc) for m, arc in dependents[0] if (0, m) in left and (m, n - 1) in right)
    chart.derive(facing, 0, n, [(left[0, m], right[m, n - 1], arc) for m, arc in whole])
    if (0, n) not in facing:
        return None
    head, tail, modifier, added = np.array(chart.edges, np.int32).T.copy()
    return Forest(head, tail, modifier, chart.vertices), added


class _Chart:
    """Edges (head, tail, modifier, arc) of a forest that grows; its axioms are its first vertices."""

    def __init__(self, axioms: int) -> None:
        self.edges, self.vertices = list[tuple[int, int, int, int]](), axioms

    def derive(
        self, spans: dict[tuple[int, int], int], i: int, j: int, ways: Sequence[tuple[int, int, int]]
    ) -> None:
        """Add a vertex for the span i..j, if there are ways to derive it."""
        if ways:
            self.edges.extend((self.vertices, *way) for way in ways)
            spans[i, j] = self.vertices
            self.vertices += 1


def _any(arcs: PackedArcs, k: int) -> list[Scored]:
    """Return the k best d-trees, looked for in subspaces; a subspace says which arcs [A] are left in it."""
    begin, turn = arcs.begin[:-1], count()  # of equally good subspaces, the first
    every = np.ones(len(arcs.heads), np.bool_)
    waiting: list[tuple[float, int, Bools, Ints | None]] = [(0.0, next(turn), every, None)]
    found: list[Scored] = []
    while waiting and len(found) < k:
        cost, _, subspace, tree = heappop(waiting)
        if tree is None:
            tree = _best(arcs, subspace)
            if tree is not None:
                heappush(waiting, (-float(arcs.logs[tree].sum(dtype=np.float64)), next(turn), subspace, tree))
            continue
        found.append(Scored(tuple(arcs.heads[tree].tolist()), -cost))
        for rest in _divided(arcs, subspace, tree):
            bound = np.maximum.reduceat(np.where(rest, arcs.logs, -np.inf), begin).sum(dtype=np.float64)
            heappush(waiting, (max(cost, -float(bound)), next(turn), rest, None))
    return found


def _divided(arcs: PackedArcs, subspace: Bools, tree: Ints) -> Iterator[Bools]:
    """Yield the subspaces into which a subspace [A], without its best tree [n], is divided."""
    subspace = subspace.copy()
    for a, b, own in zip(arcs.begin[:-1].tolist(), arcs.begin[1:].tolist(), tree.tolist(), strict=True):
        if subspace[a:b].sum() > 1:
            rest = subspace.copy()
            rest[own] = False
            yield rest
            subspace[a:b] = False
            subspace[own] = True


def _best(arcs: PackedArcs, subspace: Bools) -> Ints | None:
    """Return the arcs of the best tree [n] of a subspace [A]; None where it has none."""
    words, n = arcs.dependents(), len(arcs.begin) - 1
    logs = np.where(subspace, arcs.logs, -np.inf)
    likeliest = np.flatnonzero(logs == np.maximum.reduceat(logs, arcs.begin[:-1])[words]).astype(np.int32)
    tree = likeliest[np.searchsorted(words[likeliest], np.arange(n))]
    if subspace[tree].all() and is_tree(arcs.heads[tree].tolist()):  # mostly
        return tree
    table = np.full((n + 1, n), n * float(arcs.logs.min()) - 1)  # less than any tree of arcs that are left
    numbers = np.full((n + 1, n), -1, np.int32)
    table[arcs.heads[subspace], words[subspace]] = arcs.logs[subspace]
    numbers[arcs.heads, words] = np.where(subspace, np.arange(len(subspace)), -1)
    tree = numbers[chu_liu_edmonds(table), range(n)]
    return tree if (tree >= 0).all() else None
