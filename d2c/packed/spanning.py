"""Maximum spanning trees: of all d-trees over a sentence the one with the greatest sum of scores of its arcs.

The best projective tree is found by Eisner's chart (COLING 1996) in time n³, the best of all by the algorithm
of Chu and Liu (1965) and Edmonds (1967) in time n², as by Tarjan (1977). Most often the best heads of all
words form a tree, and no search is needed.
"""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Doubles, Longs
from d2c.trees.dtree import is_projective, is_tree
from d2c.trees.repair import cycles_of


def spanning_tree(scores: Doubles, projective: bool = False) -> tuple[int, ...]:
    """Return the heads (1..n, 0 for the one root) of the tree with the greatest sum of scores.

    scores: [n + 1, n] of each head (0 = root) for each word
    """
    heads = tuple(map(int, scores.argmax(axis=0)))
    if is_tree(heads) and not (projective and not is_projective(heads)):
        return heads
    return eisner(scores) if projective else chu_liu_edmonds(scores)


def eisner(scores: Doubles) -> tuple[int, ...]:
    """Return the heads of the best projective tree over scores [n + 1, n].

    A span i..j of words is complete, with its head at the left or right end, or consists of two complete
    spans that face each other.
    """
    n = scores.shape[1]
    # [from, to]: complete spans with their head at the left end, at the right end; where spans were split
    left, right = np.zeros((n, n)), np.zeros((n, n))
    split = np.zeros((3, n, n), np.int64)
    joined = np.zeros((n, n))  # of i..j the best of two complete spans that face each other
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            halves = left[i, i:j] + right[i + 1 : j + 1, j]
            split[0, i, j] = i + int(halves.argmax())
            joined[i, j] = halves.max()
            # An arc from i to k, where k has all its dependents on both sides; an arc from j to k likewise.
            ends = joined[i, i + 1 : j + 1] + scores[i + 1, i + 1 : j + 1] + left[i + 1 : j + 1, j]
            split[1, i, j] = i + 1 + int(ends.argmax())
            left[i, j] = ends.max()
            ends = right[i, i:j] + joined[i:j, j] + scores[j + 1, i:j]
            split[2, i, j] = i + int(ends.argmax())
            right[i, j] = ends.max()
    root = int((right[0] + left[:, -1] + scores[0]).argmax())
    return _follow(split, root)


def _follow(split: Longs, root: int) -> tuple[int, ...]:
    """Return the heads of the best derivation.

    split: [3, n, n] where spans of each kind were split, see `eisner`: two that face each other (0), or
    complete with the head at the left (1) or right (2) end."""
    n = split.shape[1]
    heads, waiting = [0] * n, [(2, 0, root), (1, root, n - 1)]
    while waiting:
        kind, i, j = waiting.pop()
        if i == j:
            continue
        k = int(split[kind, i, j])
        a, b = (i, k) if kind == 1 else (k, j)  # the ends of the arc
        middle = int(split[0, a, b])
        heads[k] = (i if kind == 1 else j) + 1
        waiting += [(1, a, middle), (2, middle + 1, b)]
        waiting.append((1, k, j) if kind == 1 else (2, i, k))
    return tuple(heads)


def chu_liu_edmonds(scores: Doubles) -> tuple[int, ...]:
    """Return the heads of the best tree over scores [n + 1, n], projective or not.

    Arcs of the root are lowered by more than all others can make up for, so only one is taken (Stanojević and
    Cohen, EMNLP 2021). A cycle becomes one node, its first word; arcs to its other words lead there.
    """
    n = scores.shape[1]
    graph = np.full((n + 1, n + 1), -np.inf)  # [head, modifier]
    graph[:, 1:] = scores
    graph[0] -= 1 + (n + 1) * np.ptp(scores[np.isfinite(scores)])
    np.fill_diagonal(graph, -np.inf)
    contracted: list[tuple[int, dict[int, int], Longs, Longs]] = []
    heads = graph.argmax(axis=0)
    while cycles := cycles_of(heads[1:].tolist()):
        for words in cycles:
            first, *rest = cycle = [m + 1 for m in words]
            old = {m: int(heads[m]) for m in cycle}
            lost = graph[[*old.values()], cycle]
            into, out = graph[:, cycle] - lost, graph[cycle]
            enter, leave = np.array(cycle)[into.argmax(axis=1)], np.array(cycle)[out.argmax(axis=0)]
            graph[:, first], graph[first] = into.max(axis=1), out.max(axis=0)
            graph[rest] = graph[:, rest] = -np.inf
            graph[cycle, first] = -np.inf
            contracted.append((first, old, enter, leave))
            heads[np.isin(heads, rest)] = first  # no other word has another best head than before
            heads[rest], heads[first] = 0, graph[:, first].argmax()
    for first, old, enter, leave in reversed(contracted):
        outside = heads[first]
        heads = np.where(heads == first, leave, heads)
        for m, h in old.items():
            heads[m] = h
        heads[enter[outside]] = outside
    return tuple(map(int, heads[1:]))
