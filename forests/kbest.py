"""The k best derivations of a forest (the k-best semiring).

As algorithm 1 of Huang and Chiang, "Better k-best Parsing" (IWPT 2005), but of an edge's k² combinations
only those are looked at that can be among its k best: the i-th best of one tail with the j-th best of the
other has i·j - 1 better ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.search.chart import HEAD, MODIFIER, TAIL, Forest
from d2c.cky.search.layout import Ints
from d2c.forests.semirings import Doubles


@njit(cache=True, nogil=True)
def k_best(forest: Forest, scores: NDArray[np.float32], k: int) -> tuple[Doubles, Ints, Ints]:
    """Scores [K <= k] of the best derivations of the goal, best first; the edges of all, one derivation after
    the other, those of a vertex before those that use it; where each derivation begins [K + 1]."""
    vertices, edges = len(forest.symbols), len(forest.edges)
    best = np.full((vertices, k), -np.inf)  # sorted
    back = np.full((vertices, k, 3), -1, np.int32)  # edge, rank in the tail, rank in the modifier
    derived = np.zeros(vertices, np.bool_)
    for at in range(edges):
        derived[forest.edges[at, HEAD]] = True
    for vertex in range(vertices):
        if not derived[vertex]:
            best[vertex, 0] = 0.0
    one = np.full(k, -np.inf)
    one[0] = 0.0
    for at in range(edges):
        head, tail, modifier = forest.edges[at, HEAD], forest.edges[at, TAIL], forest.edges[at, MODIFIER]
        others = best[modifier] if modifier >= 0 else one
        for i in range(k):
            for j in range(k // (i + 1)):
                score = scores[at] + best[tail, i] + others[j]
                if score <= best[head, k - 1]:
                    break
                place = k - 1
                while place > 0 and best[head, place - 1] < score:
                    best[head, place] = best[head, place - 1]
                    back[head, place] = back[head, place - 1]
                    place -= 1
                best[head, place] = score
                back[head, place, 0], back[head, place, 1], back[head, place, 2] = at, i, j
    found = 0
    while edges and found < k and best[vertices - 1, found] > -np.inf:
        found += 1
    begin, chosen = np.zeros(found + 1, np.int32), np.empty(found * vertices, np.int32)
    for rank in range(found):
        begin[rank + 1] = begin[rank] + _follow(forest, back, rank, chosen[begin[rank] :])
    return best[vertices - 1, :found], chosen[: begin[found]], begin


@njit(cache=True, nogil=True)
def _follow(forest: Forest, back: NDArray[np.int32], rank: int, chosen: Ints) -> int:
    """Writes the edges of one derivation of the goal; returns how many."""
    ranks = np.full(len(forest.symbols), -1, np.int32)
    ranks[-1] = rank
    count = 0
    for vertex in range(len(forest.symbols) - 1, -1, -1):
        if ranks[vertex] < 0 or back[vertex, ranks[vertex], 0] < 0:
            continue
        at, i, j = back[vertex, ranks[vertex]]
        chosen[count] = at
        count += 1
        ranks[forest.edges[at, TAIL]] = i
        if forest.edges[at, MODIFIER] >= 0:
            ranks[forest.edges[at, MODIFIER]] = j
    chosen[:count].sort()
    return count
