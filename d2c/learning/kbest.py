"""The k best derivations of a forest (the k-best semiring).

As algorithm 1 of Huang and Chiang, "Better k-best Parsing" (IWPT 2005), but of an edge's k² combinations
only those are looked at that can be among its k best: the i-th best of one tail with the j-th best of the
other has i·j - 1 better ones.
"""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Doubles, Floats, Ints
from d2c.learning.forest import Forest
from d2c.learning.kernels import inner, kernel
from d2c.learning.semirings import before_edges


@kernel
def k_best(forest: Forest, scores: Floats, k: int) -> tuple[Doubles, Ints, Ints]:
    """Return the best derivations of the goal, best first.

    scores: [E] of each edge

    Their scores [K <= k]; the edges of all, one derivation after the other, those of a vertex before those
    that use it; where each derivation begins [K + 1].
    """
    best = np.full((forest.vertices, k), -np.inf)  # sorted
    back = np.full((forest.vertices, k, 3), -1, np.int32)  # edge, rank in the tail, rank in the modifier
    inside = before_edges(forest, 0.0, -np.inf)
    for vertex in range(forest.vertices):
        best[vertex, 0] = inside[vertex]
    one = np.full(k, -np.inf)
    one[0] = 0.0
    for edge in range(len(scores)):
        head, tail, modifier = forest.head[edge], forest.tail[edge], forest.modifier[edge]
        others = best[modifier] if modifier >= 0 else one
        for i in range(k):
            for j in range(k // (i + 1)):
                score = scores[edge] + best[tail, i] + others[j]
                if score <= best[head, k - 1]:
                    break
                _insert(best[head], back[head], score, (edge, i, j))
    found = 0
    while len(scores) and found < k and best[-1, found] > -np.inf:
        found += 1
    begin, chosen = np.zeros(found + 1, np.int32), np.empty(found * forest.vertices, np.int32)
    for rank in range(found):
        begin[rank + 1] = begin[rank] + _follow(forest, back, rank, chosen[begin[rank] :])
    return best[-1, :found].copy(), chosen[: begin[found]], begin


@inner
def _insert(best: Doubles, back: Ints, score: float, step: tuple[int, int, int]) -> None:
    """Put a derivation among those of a vertex, [k] and [k, 3], the last of which is worse."""
    rank = len(best) - 1
    while rank > 0 and best[rank - 1] < score:
        best[rank] = best[rank - 1]
        for field in range(3):  # numba takes seconds to compile the assignment of an array
            back[rank, field] = back[rank - 1, field]
        rank -= 1
    best[rank] = score
    back[rank, 0], back[rank, 1], back[rank, 2] = step


@inner
def _follow(forest: Forest, back: Ints, rank: int, chosen: Ints) -> int:
    """Write the edges of one derivation of the goal into `chosen` [V]; return how many.

    back: [V, k, 3] edge, rank in the tail, rank in the modifier
    """
    ranks = np.full(forest.vertices, np.int32(-1))
    ranks[-1] = rank
    count = 0
    for vertex in range(forest.vertices - 1, -1, -1):
        if ranks[vertex] < 0 or back[vertex, ranks[vertex], 0] < 0:
            continue
        step = back[vertex, ranks[vertex]]
        edge, i, j = step[0], step[1], step[2]
        chosen[count], count = edge, count + 1
        ranks[forest.tail[edge]] = i
        if forest.modifier[edge] >= 0:
            ranks[forest.modifier[edge]] = j
    for i in range(count // 2):  # the goal's edge comes last
        chosen[i], chosen[count - 1 - i] = chosen[count - 1 - i], chosen[i]
    return count
