"""How sure the reduction is of each constituent.

A node of the unaryless c-tree was made by the labels of the modifiers that attach in it: it is as sure as
the least sure of these, by the labeler. A d-parser's labels come without scores and count as 1. A unary node
is as sure as the choice of its chain. These are shares of scores that were trained with margins: they rank,
they are not calibrated. Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence

from d2c.trees.ctree import CTree
from d2c.trees.unaries import Chain, restore_unaries


def of_nodes(ctree: CTree, shares: Sequence[float]) -> list[float]:
    """Return the confidence of the nodes of a unaryless c-tree with head children [K].

    shares: [n] of tokens' labels
    """
    assert ctree.head_children is not None
    lexical_heads = ctree.lexical_heads()
    return [
        min(shares[lexical_heads[kid]] for kid in kids if kid != head_child)
        for kids, head_child in zip(ctree.children, ctree.head_children, strict=True)
    ]


def with_unaries(
    ctree: CTree, nodes: Sequence[float], chains: Sequence[Chain], shares: Sequence[float]
) -> tuple[CTree, tuple[float, ...]]:
    """Return the c-tree with its unary nodes, and the confidence of all its nodes.

    nodes:          [K] of those of the unaryless c-tree
    chains, shares: [n + K] the chain above each of its nodes, and how sure that is
    """
    n = len(ctree.tokens)
    numbers: list[float] = []
    for node, (chain, share) in enumerate(zip(chains, shares, strict=True)):  # as `restore_unaries` goes
        if node >= n:
            numbers.append(nodes[node - n])
        numbers += [share] * len(chain)
    return restore_unaries(ctree, chains), tuple(numbers)
