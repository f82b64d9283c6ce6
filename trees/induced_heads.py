"""Head children from a dependency treebank over the same tokens, and head tables estimated from them.

Y. Versley, "Incorporating Semi-supervised Features into Discontinuous Easy-first Constituent Parsing" (SPMRL
2014): the head child is the one that holds the word whose head lies outside the node.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from d2c.trees.ctree import CTree
from d2c.trees.heads import HeadRules, HeadSearch


def induce_heads(ctree: CTree, heads: Sequence[int]) -> CTree:
    """Give a c-tree head children by the heads of its tokens (1..n, 0 = root).

    Of several words with their head outside the node, that nearest to the root of the d-tree counts, then the
    leftmost. Raises ValueError where the numbers of tokens differ and where heads form no tree.
    """
    n = len(ctree.tokens)
    if len(heads) != n:
        raise ValueError(f"{len(heads)} heads for {n} tokens")
    if max(heads) > n:
        raise ValueError(f"the head {max(heads)} of {n} tokens")
    depth = _depths(heads)
    best = list(range(n))  # of each node, the word nearest to the root: its own head lies outside
    head_children = []
    for kids in ctree.children:
        head = min(kids, key=lambda kid: (depth[best[kid]], best[kid]))
        head_children.append(head)
        best.append(best[head])
    return replace(ctree, head_children=tuple(head_children))


def estimate_rules(ctrees: Iterable[CTree]) -> HeadRules:
    """Estimate a head table from c-trees with head children.

    For every symbol the labels of children by how often they are head where they occur, sought from the side
    on which the head stands more often where labels are equal.
    """
    present: defaultdict[str, Counter[str]] = defaultdict(Counter)
    heads: defaultdict[str, Counter[str]] = defaultdict(Counter)
    side: Counter[str] = Counter()  # how much oftener the left one of equal labels is head
    for ctree in ctrees:
        for label, kids, head in zip(ctree.labels, ctree.children, ctree.head_children or (), strict=True):
            if len(kids) < 2:
                continue
            names = [ctree.label(kid) for kid in kids]
            present[label].update(set(names))
            head_label = ctree.label(head)
            heads[label][head_label] += 1
            equal = [kid for kid, kid_name in zip(kids, names, strict=True) if kid_name == head_label]
            if len(equal) > 1:
                side[label] += (head == equal[0]) - (head == equal[-1])
    searches = {}
    for label, counts in sorted(heads.items()):
        sought = sorted((-count / present[label][kid], kid) for kid, count in counts.items())
        direction = "left" if side[label] >= 0 else "right"
        searches[label] = (HeadSearch(direction, tuple(kid for _, kid in sought)),)
    return HeadRules("induced", searches)


def _depths(heads: Sequence[int]) -> list[int]:
    """Return [n] arcs from each token to the root. Raises ValueError for a circle."""
    depths = [-1] * len(heads)
    for start in range(len(heads)):
        path, m = [], start
        while m >= 0 and depths[m] < 0:
            path.append(m)
            if len(path) > len(heads):
                raise ValueError("the heads form a circle")
            m = heads[m] - 1
        base = depths[m] if m >= 0 else -1
        for up, token in enumerate(reversed(path), 1):
            depths[token] = base + up
    return depths
