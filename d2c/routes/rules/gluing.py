"""Pieces of c-tree, glued: the conversion of a d-tree.

Each head takes its dependents from the nearest outward, those on the right before those on the left. A piece
is glued to the projections that the head has already; a dependent attaches no lower than the one before it on
its side, so that what is glued has no more gaps than the d-tree. Linear in the length of the sentence: a word
has no more than 2 MOST projections.
"""

from __future__ import annotations

from collections.abc import Sequence

from d2c.routes.rules.pieces import Arc, Chain
from d2c.routes.rules.tables import PieceTables
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import head_outward, modifiers_of, top_down


class Gluing:
    """A c-tree in the making: which words attach to each projection of each word.

    default: symbol of a projection where there is no rule; missing: how many arcs no rule fitted
    """

    def __init__(self, tables: PieceTables, heads: Sequence[int], arcs: Sequence[Arc], default: str) -> None:
        self.tables, self.arcs, self.default = tables, arcs, default
        self.modifiers = modifiers_of(heads)
        self.order = top_down(heads, self.modifiers)
        self.missing = 0
        self.chains: list[Chain] = [()] * len(heads)  # the projections of each token
        self.levels = [0] * len(heads)  # the number of the head's projection to which each token attaches
        for h in self.order:
            self.chains[h] = self._projections(h)

    def _projections(self, h: int) -> Chain:
        """The projections of a word; says to which of them its dependents attach."""
        base = self.tables.base(self.arcs[h]) if self.modifiers[h] else None
        there: Chain = ()
        left, right = head_outward(h, self.modifiers[h])
        for side in (right, left):
            level = 0
            for m in side:
                chain = self.tables.attachment(self.arcs[m], there, level, base)
                if chain is None:  # as low as can be
                    self.missing += 1
                    there = there or (self.default,)
                else:
                    there, level = there + chain[len(there) :], len(chain) - 1
                self.levels[m] = level
        return there + self.tables.top(self.arcs[h], there)

    def ctree(self, tokens: Tokens, top: str | None) -> CTree:
        """The c-tree. top: label of its wrapper."""
        n = len(self.chains)
        labels: list[str] = []
        children: list[list[int]] = []
        head_children: list[int] = []
        psi = list(range(n))  # the highest node so far whose lexical head is h
        for h in reversed(self.order):
            attached: list[list[int]] = [[] for _ in self.chains[h]]
            for m in self.modifiers[h]:
                attached[self.levels[m]].append(psi[m])
            for symbol, others in zip(self.chains[h], attached, strict=True):
                labels.append(symbol)
                children.append([psi[h], *others])
                head_children.append(psi[h])
                psi[h] = n + len(labels) - 1
        return build_ctree(tokens, labels, children, psi[self.order[0]], head_children, top)
