"""One forest, several semirings: best derivation, counting, log-sum and marginals (k best:
`d2c.forests.kbest`).

Each function is one pass over the edges of a forest (two for marginals), in the order in which they stand.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.search.chart import HEAD, MODIFIER, TAIL, Forest

Doubles = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _underivable(forest: Forest, value: float) -> Doubles:
    """[V] the value of a vertex that has a derivation without edges (a pre-terminal): 0, else `value`."""
    inside, edges = np.zeros(len(forest.symbols), np.float64), forest.edges
    for at in range(len(edges)):
        inside[edges[at, HEAD]] = value
    return inside


@njit(cache=True, nogil=True)
def viterbi(forest: Forest, scores: NDArray[np.float32]) -> NDArray[np.int32]:
    """The edges of a best derivation of the goal, those of a vertex before those that use it."""
    best = _underivable(forest, -np.inf)
    back, edges = np.full(len(forest.symbols), -1, np.int32), forest.edges
    for at in range(len(edges)):
        head, modifier = edges[at, HEAD], edges[at, MODIFIER]
        score = scores[at] + best[edges[at, TAIL]]
        if modifier >= 0:
            score += best[modifier]
        if score > best[head]:
            best[head], back[head] = score, at
    return follow(forest, back)


@njit(cache=True, nogil=True)
def follow(forest: Forest, back: NDArray[np.int32]) -> NDArray[np.int32]:
    """The derivation that chooses edge back[v] (-1: none) for vertex v."""
    wanted = np.zeros(len(forest.symbols), np.bool_)
    wanted[-1] = True
    chosen = np.zeros(len(forest.edges), np.bool_)
    for vertex in range(len(forest.symbols) - 1, -1, -1):
        at = back[vertex]
        if wanted[vertex] and at >= 0:
            chosen[at] = True
            wanted[forest.edges[at, TAIL]] = True
            if forest.edges[at, MODIFIER] >= 0:
                wanted[forest.edges[at, MODIFIER]] = True
    return np.flatnonzero(chosen).astype(np.int32)


@njit(cache=True, nogil=True)
def count_derivations(forest: Forest) -> float:
    """How many derivations the goal has; exact up to 2^53."""
    if len(forest.edges) == 0:
        return 0.0
    inside = np.exp(_underivable(forest, -np.inf))
    for edge in forest.edges:
        ways = inside[edge[TAIL]]
        if edge[MODIFIER] >= 0:
            ways *= inside[edge[MODIFIER]]
        inside[edge[HEAD]] += ways
    return inside[-1]


@njit(cache=True, nogil=True)
def marginals(forest: Forest, scores: NDArray[np.float32]) -> tuple[float, Doubles]:
    """The log of the sum of exp(score) over all derivations; [E] each edge's share of it."""
    inside, edges = _underivable(forest, -np.inf), forest.edges
    weight = np.empty(len(edges), np.float64)
    for at in range(len(edges)):
        head, modifier = edges[at, HEAD], edges[at, MODIFIER]
        weight[at] = scores[at] + inside[edges[at, TAIL]]
        if modifier >= 0:
            weight[at] += inside[modifier]
        inside[head] = np.logaddexp(inside[head], weight[at])
    share = np.zeros(len(forest.symbols), np.float64)
    share[-1] = 1.0
    for at in range(len(edges) - 1, -1, -1):
        head, modifier = edges[at, HEAD], edges[at, MODIFIER]
        weight[at] = share[head] * np.exp(weight[at] - inside[head])
        share[edges[at, TAIL]] += weight[at]
        if modifier >= 0:
            share[modifier] += weight[at]
    return inside[-1], weight
