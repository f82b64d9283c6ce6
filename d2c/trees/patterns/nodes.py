"""The nodes of many c-trees as arrays, in which relations between nodes are comparisons of numbers.

Over each tree stands a node ROOT, and under each pre-terminal its word. Nodes are numbered in preorder, one
tree after the other: the nodes below node a are those from a + 1 to before `end[a]`. Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from d2c.trees.ctree import CTree
from d2c.trees.patterns.limits import SECONDS, Clock

Ids = NDArray[np.int64]  # of nodes, or one number for each of some nodes
ROOT = "ROOT"
NONE = -1  # no such node


class TreeNodes:
    """M nodes of some trees, one or more.

    parent, end:  [M] of each node its parent, NONE for a ROOT, and the first node after those below it
    first, last:  [M] its first and last token, counted over all trees with a number left out between trees
    tree:         [M] the number of its tree
    labels:       [M] the number of its label in `names`; the label of a word is its form
    origin:       [M] its id in its c-tree; for the i-th word -1 - i, for ROOT n + K
    clock:        how much time a search in the nodes has left
    """

    def __init__(self, ctrees: Sequence[CTree]) -> None:
        self.ctrees, self.clock = ctrees, Clock(SECONDS)
        self.names: dict[str, int] = {ROOT: 0}
        shapes = [_shape(ctree) for ctree in ctrees]
        tokens = np.array([len(ctree.tokens) for ctree in ctrees])
        counts = np.array([len(sizes) for _, _, sizes, _, _ in shapes])  # without words and ROOT
        self.starts = np.array([0, *accumulate(counts + tokens + 1)])  # [trees + 1] the ROOT of each tree
        self.count = m = int(self.starts[-1])
        token_starts = np.array([0, *accumulate(tokens + 1)])[:-1]
        rank, parent, size, first, last = (
            np.fromiter((x for shape in shapes for x in shape[column]), np.int64, counts.sum())
            for column in range(5)
        )
        base = np.repeat(self.starts[:-1], counts)
        own = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # ids in c-trees
        tag = own < np.repeat(tokens, counts)
        nodes, roots = rank + base, self.starts[:-1]
        words, shift = nodes[tag] + 1, np.repeat(token_starts, counts)
        self.parent, self.end, self.first, self.last, self.origin, self.labels = np.zeros((6, m), np.int64)
        for array, of_nodes, of_words, of_roots in (
            (self.parent, parent + base, words - 1, np.full(len(ctrees), NONE)),
            (self.end, nodes + size, words + 1, self.starts[1:]),
            (self.first, first + shift, (first + shift)[tag], token_starts),
            (self.last, last + shift, (last + shift)[tag], token_starts + tokens - 1),
            (self.origin, own, -1 - own[tag], counts),
            (self.labels, *self._numbered(), np.zeros(len(ctrees))),
        ):
            array[nodes], array[words], array[roots] = of_nodes, of_words, of_roots
        self.tree = np.repeat(np.arange(len(ctrees)), np.diff(self.starts))

    def _numbered(self) -> tuple[list[int], list[int]]:
        names, labels, forms = self.names, list[int](), list[int]()
        for ctree in self.ctrees:
            for column, found in (
                (ctree.tokens.tags, labels),
                (ctree.labels, labels),
                (ctree.tokens.forms, forms),
            ):
                found += [names.setdefault(name, len(names)) for name in column]
        return labels, forms

    @cached_property
    def by_label(self) -> tuple[Ids, Ids]:
        """Return the nodes sorted by label [M], and where those of each label begin there [labels + 1]."""
        order = np.argsort(self.labels, kind="stable")
        return order, np.searchsorted(self.labels[order], np.arange(len(self.names) + 1))

    @cached_property
    def longest(self) -> int:
        """Return how many characters the longest label has."""
        return max(map(len, self.names))

    @cached_property
    def children(self) -> Ids:
        """Return how many children each node has [M]."""
        return np.bincount(self.parent[self.parent >= 0], minlength=self.count)

    @cached_property
    def place(self) -> Ids:
        """Return the place of each node among its sisters [M], from 1."""
        order = np.argsort(self.parent, kind="stable")
        place = np.empty(self.count, np.int64)
        parents = self.parent[order]
        place[order] = np.arange(self.count) - np.searchsorted(parents, parents) + 1
        return place

    @cached_property
    def next(self) -> Ids:
        """Return the next sister of each node, or NONE [M]."""
        after = np.append(self.parent, NONE)[self.end]
        return np.where((after == self.parent) & (after >= 0), self.end, NONE)

    @cached_property
    def left(self) -> Ids:
        """Return the word at the end of the chain of first children below each node [M]."""
        return self._at_or_after(self.children == 0)

    @cached_property
    def unary(self) -> Ids:
        """Return the lowest node below each node to which a chain of only children leads [M]."""
        return self._at_or_after(self.children != 1)

    def _at_or_after(self, wanted: NDArray[np.bool_]) -> Ids:
        nodes = np.flatnonzero(wanted)
        return nodes[np.searchsorted(nodes, np.arange(self.count))]

    @cached_property
    def heads(self) -> Ids:
        """Return the head word of each node, as a node [M]. Raises ValueError for a tree without heads."""
        if any(ctree.head_children is None for ctree in self.ctrees):
            rules = "head_rules, of d2c.read or d2c.search, names rules that find them"
            raise ValueError(f"the pattern asks for heads, and a tree has none; {rules}")
        heads = np.arange(self.count)
        for start, end, ctree in zip(self.starts[:-1], self.starts[1:], self.ctrees, strict=True):
            origin, lexical = self.origin[start:end], ctree.lexical_heads()
            words = np.empty(len(ctree.tokens), np.int64)
            of_word = origin < 0
            words[-1 - origin[of_word]] = heads[start:end][of_word]
            heads[start:end] = words[np.array([*lexical, lexical[-1], *range(len(words))[::-1]])[origin]]
        return heads


def _shape(ctree: CTree) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Return [n + K] of each node its place in preorder, that of its parent, the number of nodes from it
    downward, words included, its first and its last token."""
    n = len(ctree.tokens)
    size, first, last = [2] * n, list(range(n)), list(range(n))
    for kids in ctree.children:
        size.append(1 + sum([size[kid] for kid in kids]))
        first.append(first[kids[0]])
        last.append(max([last[kid] for kid in kids]))
    rank, parent = [1] * len(size), [0] * len(size)
    for node in range(ctree.root, n - 1, -1):
        at = rank[node] + 1
        for kid in ctree.children[node - n]:
            rank[kid], parent[kid] = at, rank[node]
            at += size[kid]
    return rank, parent, size, first, last
