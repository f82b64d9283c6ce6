"""Pairs of d-tree and c-tree, cut into the piece of c-tree that each arc stands for.

F. Xia and M. Palmer, "Converting dependency structures to phrase structures" (HLT 2001), third algorithm, and
F. Xia et al., "Towards a multi-representational treebank" (TLT 2009). A word has a chain of projections, the
nodes above it; an arc says how far the dependent projects, and to which projection of the head it attaches.
The piece is the path in the c-tree from the one word to the other, so that d-trees of any convention will do.
Linear in the length of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from d2c.trees.ctree import CTree

Chain = tuple[str, ...]  # the symbols of projections, lowest first
LEFT, RIGHT, ROOT = "left", "right", "root"  # where the dependent stands
MOST = 50  # projections in a chain; of a word with more of them no piece is made


class Arc(NamedTuple):
    """What the rules see of an arc: tags, the d-label, where the dependent stands. None: anything."""

    head: str | None = None
    dependent: str | None = None
    label: str | None = None
    side: str | None = None

    def backed_off(self) -> Iterator[Arc]:
        """The arc, then with less and less said of it."""
        head, dependent, label, side = self
        if label is not None:
            yield self
        if head is not None:
            yield Arc(head, dependent, None, side)
        yield Arc(None, dependent, None, side)
        if head is not None:
            yield Arc(head, None, None, side)
        yield Arc(None, None, None, side)
        yield Arc()


class Piece(NamedTuple):
    """What an arc stands for.

    attachment:  projections of the head, up to the node where the dependent attaches; () for the root
    projections: of the dependent, up to the child of that node
    built:       how many of these the dependent's own arcs stand for: up to its last attachment
    """

    arc: Arc
    attachment: Chain
    projections: Chain
    built: int


def arcs_of(tags: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None = None) -> list[Arc]:
    """[n] the arc into each token; heads (1..n, 0 = root) form a tree."""
    arcs = []
    for m, h in enumerate(heads):
        side = (LEFT if m < h - 1 else RIGHT) if h else ROOT
        arcs.append(Arc(tags[h - 1] if h else None, tags[m], None if labels is None else labels[m], side))
    return arcs


def pieces_of(ctree: CTree, heads: Sequence[int], labels: Sequence[str] | None = None) -> list[Piece]:
    """The pieces of a c-tree, one for each arc of a d-tree over the same tokens, but for chains too long."""
    n, parents = len(heads), ctree.parents()
    spines = [_spine(parents, token) for token in range(n)]
    built, found = [0] * n, []
    for m, (h, arc) in enumerate(zip(heads, arcs_of(ctree.tokens.tags, heads, labels), strict=True)):
        above = {node: level for level, node in enumerate(spines[h - 1] if h else [-1])}
        reached = next((level for level, node in enumerate(spines[m]) if node in above), None)
        if reached is None or (h and above[spines[m][reached]] >= MOST):
            continue
        attachment = spines[h - 1][: above[spines[m][reached]] + 1] if h else []
        if h:
            built[h - 1] = max(built[h - 1], len(attachment))
        found.append((m, arc, attachment, spines[m][:reached]))

    def symbols(nodes: Sequence[int]) -> Chain:
        return tuple([ctree.labels[node - n] for node in nodes])

    return [
        Piece(arc, symbols(attachment), symbols(nodes), min(built[m], len(nodes)))
        for m, arc, attachment, nodes in found
    ]


def _spine(parents: Sequence[int], token: int) -> list[int]:
    """The nodes above a token, lowest first, and -1 above the root; MOST of them and one more at most."""
    spine = [parents[token]]
    while spine[-1] >= 0 and len(spine) <= MOST:
        spine.append(parents[spine[-1]])
    return spine
