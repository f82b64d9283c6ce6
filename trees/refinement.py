"""Nonterminals that say more than labels: with the parent's label, or for a whole chain of unary nodes.

Section 3.3 of "Transforming Dependencies into Phrase Structures" tried both: vertical Markovization (Klein
and Manning, 2003), where a node's symbol has its parent's label, and unary nodes collapsed into one symbol.
A grammar is learned from refined c-trees; `restore` brings back the trees that they stand for. Linear time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from d2c.trees.ctree import CTree
from d2c.trees.unaries import Chain, restore_unaries

_JOINT = "\x1f"  # between the parts of a refined label; no format has it in a label


class Refinement(NamedTuple):
    """A way to refine c-trees; and the labels of the nodes that a refined label is of, topmost first."""

    refine: Callable[[CTree], CTree]
    labels: Callable[[str], Chain]

    def restore(self, ctree: CTree) -> CTree:
        """The c-tree that a refined one stands for; what stood for several nodes is these, one after the
        other."""
        chains = [self.labels(label) for label in ctree.labels]
        bottom = replace(ctree, labels=tuple(chain[-1] for chain in chains))
        return restore_unaries(bottom, [()] * len(ctree.tokens) + [chain[:-1] for chain in chains])


def with_parents(ctree: CTree) -> CTree:
    """Each label joined with that of the node's parent, which the root has none of."""
    n, labels = len(ctree.tokens), []
    for label, parent in zip(ctree.labels, ctree.parents()[n:], strict=True):
        labels.append(f"{label}{_JOINT}{ctree.label(parent) if parent >= 0 else ''}")
    return replace(ctree, labels=tuple(labels))


def collapsed(ctree: CTree) -> CTree:
    """Each chain of unary nodes as one node. One that is above a token stays above it."""
    n = len(ctree.tokens)
    new = list(range(n))
    labels: list[str] = []
    children: list[tuple[int, ...]] = []
    head_children: list[int] = []
    for k, (label, kids) in enumerate(zip(ctree.labels, ctree.children, strict=True)):
        if len(kids) == 1 and kids[0] >= n:
            new.append(new[kids[0]])
            labels[new[-1] - n] = f"{label}{_JOINT}{labels[new[-1] - n]}"
        else:
            new.append(n + len(labels))
            labels.append(label)
            children.append(tuple([new[kid] for kid in kids]))
            if ctree.head_children is not None:
                head_children.append(new[ctree.head_children[k]])
    heads = None if ctree.head_children is None else tuple(head_children)
    return CTree(ctree.tokens, tuple(labels), tuple(children), heads, ctree.top)


REFINEMENTS = {
    "plain": Refinement(lambda ctree: ctree, lambda label: (label,)),
    "vertical": Refinement(with_parents, lambda label: (label.partition(_JOINT)[0],)),
    "collapsed": Refinement(collapsed, lambda label: tuple(label.split(_JOINT))),
}
