"""The conversion of a d-tree: what its arcs stand for is glued together to a c-tree.

Each head takes its dependents from the nearest outward, those on the right before those on the left. What an
arc stands for is glued to the projections that the head has already; a dependent attaches no lower than the
one before it on its side, so that the c-tree has no more gaps than the d-tree. Linear in the length of the
sentence: a word has no more than 2 MOST_PROJECTIONS projections.
"""

from __future__ import annotations

from collections.abc import Sequence

from d2c.routes.rules.conversion_rules import Arc, Projections, RuleTables
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import head_outward, modifiers_of, top_down


class Gluing:
    """A c-tree in the making: which words attach to each projection of each word.

    default: symbol of a projection where there is no rule; missing: how many arcs no rule fitted
    """

    def __init__(self, tables: RuleTables, heads: Sequence[int], arcs: Sequence[Arc], default: str) -> None:
        self.tables, self.arcs, self.default = tables, arcs, default
        self.modifiers = modifiers_of(heads)
        self.order = top_down(heads, self.modifiers)
        self.missing = 0
        self.projections: list[Projections] = [()] * len(heads)  # of each token
        self.levels = [0] * len(heads)  # the number of the head's projection to which each token attaches
        for h in self.order:
            self.projections[h] = self._attach_dependents(h)

    def _attach_dependents(self, h: int) -> Projections:
        """Set the levels at which a word's dependents attach; return the projections of the word."""
        base = self.tables.base(self.arcs[h]) if self.modifiers[h] else None
        built: Projections = ()
        left, right = head_outward(h, self.modifiers[h])
        for side in (right, left):
            level = 0
            for m in side:
                chain = self.tables.attachment(self.arcs[m], built, level, base)
                if chain is None:  # as low as can be
                    self.missing += 1
                    built = built or (self.default,)
                else:
                    built, level = built + chain[len(built) :], len(chain) - 1
                self.levels[m] = level
        return built + self.tables.top(self.arcs[h], built)

    def ctree(self, tokens: Tokens, top: str | None) -> CTree:
        """Return the c-tree. top: label of its wrapper."""
        n = len(self.projections)
        labels: list[str] = []
        children: list[list[int]] = []
        head_children: list[int] = []
        psi = list(range(n))  # the highest node so far whose lexical head is h
        for h in reversed(self.order):
            attached: list[list[int]] = [[] for _ in self.projections[h]]
            for m in self.modifiers[h]:
                attached[self.levels[m]].append(psi[m])
            for symbol, others in zip(self.projections[h], attached, strict=True):
                labels.append(symbol)
                children.append([psi[h], *others])
                head_children.append(psi[h])
                psi[h] = n + len(labels) - 1
        return build_ctree(tokens, labels, children, psi[self.order[0]], head_children, top)
