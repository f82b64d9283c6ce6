"""Unary nodes: strip them into chains, and put chains back.

Section 4.4 of "Parsing as Reduction". A chain is the labels of the unary nodes above a node, topmost first;
`S -> ADJP` over a node JJ is ("S", "ADJP"). Stripping and restoring take linear time and undo each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from d2c.trees.ctree import CTree, trusted_ctree
from d2c.trees.transforms import collapse

Chain = tuple[str, ...]


def strip_unaries(ctree: CTree) -> tuple[CTree, list[Chain]]:
    """Strip unary nodes; return the unaryless tree, and for each of its n + K nodes the chain above it."""
    if ctree.is_unaryless():
        return ctree, [()] * (ctree.root + 1)
    n = len(ctree.tokens.forms)
    new_id = list(range(n))
    chains: list[Chain] = [()] * n
    labels, children, head_children = [], [], []
    for k, (label, kids) in enumerate(zip(ctree.labels, ctree.children, strict=True)):
        if len(kids) == 1:
            node = new_id[kids[0]]
            chains[node] = (label, *chains[node])
            new_id.append(node)
        else:
            new_id.append(len(chains))
            chains.append(())
            labels.append(label)
            children.append(tuple([new_id[kid] for kid in kids]))
            if ctree.head_children is not None:
                head_children.append(new_id[ctree.head_children[k]])
    heads = None if ctree.head_children is None else tuple(head_children)
    return trusted_ctree(ctree.tokens, tuple(labels), tuple(children), heads, ctree.top), chains


def restore_unaries(ctree: CTree, chains: Sequence[Chain]) -> CTree:
    """Put a chain of unary nodes above each of the n + K nodes of a tree."""
    if not any(chains):
        return ctree
    n = len(ctree.tokens.forms)
    top_of = list(range(n))  # what stands for each node of the unaryless tree
    labels: list[str] = []
    children: list[tuple[int, ...]] = []
    head_children: list[int] = []

    def add_chain(node: int) -> None:
        for label in reversed(chains[node]):
            labels.append(label)
            children.append((top_of[node],))
            head_children.append(top_of[node])
            top_of[node] = n + len(labels) - 1

    for token in range(n):
        if chains[token]:
            add_chain(token)
    for k, (label, kids) in enumerate(zip(ctree.labels, ctree.children, strict=True)):
        labels.append(label)
        children.append(tuple([top_of[kid] for kid in kids]))
        if ctree.head_children is not None:
            head_children.append(top_of[ctree.head_children[k]])
        top_of.append(n + len(labels) - 1)
        if chains[n + k]:
            add_chain(n + k)
    heads = None if ctree.head_children is None else tuple(head_children)
    return trusted_ctree(ctree.tokens, tuple(labels), tuple(children), heads, ctree.top)


def without_copies(ctree: CTree) -> CTree:
    """Return the tree in which a node and a single child with the same label are one node."""
    gone = {*copies(ctree)}
    return collapse(ctree, [node not in gone for node in range(len(ctree.tokens), ctree.root + 1)])


def copies(ctree: CTree) -> list[int]:
    """Return the nodes that are the single child of a node of their own label."""
    n, labels = len(ctree.tokens), ctree.labels
    single = [(label, kids[0]) for label, kids in zip(labels, ctree.children, strict=True) if len(kids) == 1]
    return [kid for label, kid in single if kid >= n and labels[kid - n] == label]
