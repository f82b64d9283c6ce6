"""Forests: all derivations of a sentence, packed into a hypergraph; and what semirings make of a forest: the
best derivation, the k best, the number of all, log-sum and marginals.

Each function is one pass over the edges of a forest (two for marginals), in the order in which they stand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Doubles, Floats, Ints
from d2c.learning.kernels import inner, kernel, lean

NEGLIGIBLE = 1e-9  # share of all derivations
FAR = 25.0  # in logarithms: what is smaller by more than this adds nothing


class Forest(NamedTuple):
    """V vertices and E edges, each of which derives a vertex from one or two others.

    head:     [E] the vertex derived; edges stand in an order in which a vertex's derivations precede its uses
    tail:     [E] the vertex that it is derived from, whose number is smaller
    modifier: [E] the other vertex that it is derived from, whose number is smaller, too, or -1
    vertices: V; the last vertex is the goal; a vertex without derivations is an axiom
    """

    head: Ints
    tail: Ints
    modifier: Ints
    vertices: int


@inner
def _before_edges(forest: Forest, axiom: float, derived: float) -> Doubles:
    """Return the value [V] of each vertex before the first edge: `derived` if edges derive it, or `axiom`."""
    inside = np.full(forest.vertices, axiom)
    for vertex in forest.head:
        inside[vertex] = derived
    return inside


@kernel
def viterbi(forest: Forest, scores: Floats) -> Ints:
    """Return the edges of a best derivation of the goal, that of a vertex before the one that uses it.

    scores: [E] of each edge
    """
    best = _before_edges(forest, 0.0, -np.inf)
    back = np.full(forest.vertices, np.int32(-1))
    for edge in range(len(scores)):
        score = scores[edge] + best[forest.tail[edge]]
        if forest.modifier[edge] >= 0:
            score += best[forest.modifier[edge]]
        if score > best[forest.head[edge]]:
            best[forest.head[edge]], back[forest.head[edge]] = score, edge
    wanted, chosen = np.zeros(forest.vertices, np.bool_), np.empty(forest.vertices, np.int32)
    wanted[-1], begin = True, forest.vertices
    for vertex in range(forest.vertices - 1, -1, -1):
        edge = back[vertex]
        if wanted[vertex] and edge >= 0:
            begin -= 1
            chosen[begin] = edge
            wanted[forest.tail[edge]] = True
            if forest.modifier[edge] >= 0:
                wanted[forest.modifier[edge]] = True
    return chosen[begin:]


@kernel
def k_best(forest: Forest, scores: Floats, k: int) -> tuple[Doubles, Ints, Ints]:
    """Return the best derivations of the goal, best first: the k-best semiring. The result is their scores
    [K <= k]; the edges of all, one derivation after the other, each as `viterbi` has them; where each
    derivation begins [K + 1].

    As algorithm 1 of Huang and Chiang, "Better k-best Parsing" (IWPT 2005), but only those of an edge's k²
    combinations are tried that can be among its k best: there are at least i·j - 1 that are no worse than
    the i-th best of one tail with the j-th best of the other.

    scores: [E] of each edge
    """
    best = np.full((forest.vertices, k), -np.inf)  # sorted
    back = np.full((forest.vertices, k, 3), -1, np.int32)  # edge, rank in the tail, rank in the modifier
    inside = _before_edges(forest, 0.0, -np.inf)
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
    """Put a derivation in its place among those of a vertex, [k] and [k, 3]; it is better than the last."""
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
    """Write the edges of one derivation of the goal into `chosen` [V]; return how many they are.

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


@kernel
def count_derivations(forest: Forest) -> float:
    """Return how many derivations the goal has; exact up to 2^53."""
    inside = _before_edges(forest, 1.0, 0.0)
    for edge in range(len(forest.head)):
        ways = inside[forest.tail[edge]]
        if forest.modifier[edge] >= 0:
            ways *= inside[forest.modifier[edge]]
        inside[forest.head[edge]] += ways
    return inside[-1] if len(forest.head) else 0.0


@kernel
def marginals(forest: Forest, scores: Floats) -> tuple[float, Doubles]:
    """Return the log of the sum of exp(score) over all derivations; each edge's share of that sum [E], 0 if
    the share of its vertex is less than NEGLIGIBLE, or if the edge is FAR below the sum over its vertex.

    scores: [E] of each edge
    """
    # Of each vertex the best score so far, and the sum over its derivations relative to that, which is added
    # to it when the vertex is used: then the sum is complete
    inside, rest = _before_edges(forest, 0.0, -np.inf), np.ones(forest.vertices)
    weight = np.empty(len(scores))
    for edge in range(len(scores)):
        head, modifier = forest.head[edge], forest.modifier[edge]
        score = scores[edge] + _settled(inside, rest, forest.tail[edge])
        if modifier >= 0:
            score += _settled(inside, rest, modifier)
        weight[edge] = score
        if score > inside[head]:
            rest[head] = rest[head] * np.exp(inside[head] - score) + 1
            inside[head] = score
        elif score > inside[head] - FAR:
            rest[head] += np.exp(score - inside[head])
    total, share = _settled(inside, rest, forest.vertices - 1), np.zeros(forest.vertices)
    share[-1] = 1.0
    for edge in range(len(scores) - 1, -1, -1):
        head, modifier = forest.head[edge], forest.modifier[edge]
        if share[head] < NEGLIGIBLE or weight[edge] < inside[head] - FAR:
            weight[edge] = 0.0
            continue
        weight[edge] = share[head] * np.exp(weight[edge] - inside[head])
        share[forest.tail[edge]] += weight[edge]
        if modifier >= 0:
            share[modifier] += weight[edge]
    return total, weight


@lean
def _settled(inside: Doubles, rest: Doubles, vertex: int) -> float:
    """Return the log of the sum over the derivations of a vertex, all of which are known. inside, rest: [V]
    as in `marginals`"""
    if rest[vertex] != 1.0:
        inside[vertex] += np.log(rest[vertex])
        rest[vertex] = 1.0
    return inside[vertex]
