"""Nonterminals that say more than labels: with the parent's label, or for a whole chain of unary nodes.

Section 3.3 of "Transforming Dependencies into Phrase Structures" tried both: vertical Markovization (Klein
and Manning, 2003), where a node's symbol has its parent's label, and unary nodes collapsed into one symbol.
A grammar is learned from refined c-trees; `restore` brings back the trees that they stand for. Linear time.

A symbol may also stand for nothing that is shown. If a label begins with HIDDEN, its node belongs to the
grammar alone. So a chart can use nodes that d-trees have as subtrees but the wanted c-trees lack. The Penn
Treebank, for example, has no noun phrases within noun phrases (NML), and no node over a conjunction and the
conjunct after it, which form a subtree in Universal Dependencies (`with_subtrees`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from d2c.trees.ctree import CTree, build_ctree
from d2c.trees.dtree import subtrees
from d2c.trees.transforms import collapse
from d2c.trees.unaries import Chain, restore_unaries, strip_unaries

JOINT = "\x1f"  # between the parts of a refined label; no format has it in a label
HIDDEN = "\x1e"


class Refinement(NamedTuple):
    """A way to refine c-trees; labels: refined label → labels of the nodes it stands for, topmost first."""

    refine: Callable[[CTree], CTree]
    labels: Callable[[str], Chain]

    def restore(self, ctree: CTree) -> CTree:
        """Return the c-tree that a refined one stands for: a node that stands for several becomes a chain of
        them, and hidden nodes are removed."""
        if not ctree.labels:
            return ctree
        chains = self.shown(ctree.labels)
        if not all(chains):
            ctree, chains = collapse(ctree, list(map(bool, chains))), list(filter(None, chains))
        bottom = replace(ctree, labels=tuple(chain[-1] for chain in chains))
        return restore_unaries(bottom, [()] * len(ctree.tokens) + [chain[:-1] for chain in chains])

    def shown(self, labels: Sequence[str]) -> list[Chain]:
        """Return [K] for each refined label of a tree, the root's last, the labels of its nodes that are not
        hidden.

        The root is shown even if it is hidden.
        """
        chains = [
            tuple([one for one in self.labels(label) if not one.startswith(HIDDEN)]) for label in labels
        ]
        if chains:  # not a bare token
            chains[-1] = chains[-1] or (labels[-1].strip(HIDDEN),)
        return chains


def with_parents(ctree: CTree) -> CTree:
    """Return the tree with each label joined to that of the node's parent; to nothing at the root."""
    n, labels = len(ctree.tokens), []
    for label, parent in zip(ctree.labels, ctree.parents()[n:], strict=True):
        labels.append(f"{label}{JOINT}{ctree.label(parent) if parent >= 0 else ''}")
    return replace(ctree, labels=tuple(labels))


def collapsed(ctree: CTree) -> CTree:
    """Return the tree with each unary chain as one node, with the node below it if that is not a token."""
    n, (unaryless, chains) = len(ctree.tokens), strip_unaries(ctree)
    labels = [JOINT.join((*chain, label)) for chain, label in zip(chains[n:], unaryless.labels, strict=True)]
    above_tokens = [(JOINT.join(chain),) if chain else () for chain in chains[:n]]
    refined = replace(unaryless, labels=tuple(labels))
    return restore_unaries(refined, [*above_tokens, *[()] * len(labels)])


REFINEMENTS = {
    "plain": Refinement(lambda ctree: ctree, lambda label: (label,)),
    "vertical": Refinement(with_parents, lambda label: (label.partition(JOINT)[0],)),
    "collapsed": Refinement(collapsed, lambda label: tuple(label.split(JOINT))),
}


def visible(ctree: CTree) -> CTree:
    """Return the c-tree as it is shown, without hidden nodes."""
    return REFINEMENTS["plain"].restore(ctree)


def with_subtrees(ctree: CTree, heads: Sequence[int]) -> CTree:
    """Return the tree with a hidden node over each subtree of a projective d-tree that has no node of its own
    and that no node crosses.

    Without these nodes no c-tree over the d-tree has the same constituents. A hidden node has the label of
    the node above it. A tree with gaps stays as it is; any other loses its head children.
    """
    spans = ctree.spans()
    if spans is None or not ctree.labels:
        return ctree
    n, root, (first, last) = len(ctree.tokens), ctree.root, spans
    labels, children = [*ctree.labels], [[*kids] for kids in ctree.children]
    own = {(a, b) for a, b, _ in zip(*subtrees(heads), strict=True) if a < b}
    for a, b in sorted(own, key=lambda span: (span[0] - span[1], span)):  # wider spans first
        node, kids, wider = root, children[root - n], [root]
        while wider:
            node, kids = wider[0], children[wider[0] - n]
            wider = [kid for kid in kids if first[kid] <= a and b <= last[kid]]
        inside = [kid for kid in kids if a <= first[kid] and last[kid] <= b]
        if len(inside) < len(kids) and inside and (first[inside[0]], last[inside[-1]]) == (a, b):
            place = kids.index(inside[0])
            kids[place : place + len(inside)] = [n + len(labels)]
            labels.append(HIDDEN + labels[node - n].strip(HIDDEN))
            children.append(inside)
            first.append(a)
            last.append(b)
    return build_ctree(ctree.tokens, labels, children, root, top=ctree.top)
