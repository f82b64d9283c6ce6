"""One forest, several semirings: best derivation, counting, log-sum and marginals (k best:
`d2c.learning.kbest`).

Each function is one pass over the edges of a forest (two for marginals), in the order in which they stand.
"""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Doubles, Floats, Ints
from d2c.learning.forest import Forest
from d2c.learning.kernels import inner, kernel


@inner
def before_edges(forest: Forest, axiom: float, derived: float) -> Doubles:
    """Return the value [V] of each vertex before the first edge: of an axiom, or of what has derivations."""
    inside = np.full(forest.vertices, axiom)
    for vertex in forest.head:
        inside[vertex] = derived
    return inside


@kernel
def viterbi(forest: Forest, scores: Floats) -> Ints:
    """Return the edges of a best derivation of the goal, those of a vertex before those that use it.

    scores: [E] of each edge
    """
    best = before_edges(forest, 0.0, -np.inf)
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
def count_derivations(forest: Forest) -> float:
    """Return how many derivations the goal has; exact up to 2^53."""
    inside = before_edges(forest, 1.0, 0.0)
    for edge in range(len(forest.head)):
        ways = inside[forest.tail[edge]]
        if forest.modifier[edge] >= 0:
            ways *= inside[forest.modifier[edge]]
        inside[forest.head[edge]] += ways
    return inside[-1] if len(forest.head) else 0.0


@kernel
def marginals(forest: Forest, scores: Floats) -> tuple[float, Doubles]:
    """Return the log of the sum of exp(score) over all derivations; each edge's share of that sum [E].

    scores: [E] of each edge
    """
    inside, weight = before_edges(forest, 0.0, -np.inf), np.empty(len(scores))
    for edge in range(len(scores)):
        head, modifier = forest.head[edge], forest.modifier[edge]
        weight[edge] = scores[edge] + inside[forest.tail[edge]]
        if modifier >= 0:
            weight[edge] += inside[modifier]
        inside[head] = np.logaddexp(inside[head], weight[edge])
    share = np.zeros(forest.vertices)
    share[-1] = 1.0
    for edge in range(len(scores) - 1, -1, -1):
        head, modifier = forest.head[edge], forest.modifier[edge]
        weight[edge] = share[head] * np.exp(weight[edge] - inside[head])
        share[forest.tail[edge]] += weight[edge]
        if modifier >= 0:
            share[modifier] += weight[edge]
    return inside[-1], weight
