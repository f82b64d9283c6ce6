"""Gold c-trees paired with d-trees, perhaps with other heads: what training and the oracle compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.counting import first_few, many
from d2c.base.progress import log
from d2c.cky.grammar import Grammar, Rule, rules_of
from d2c.cky.search.parts import Parts, bracket_key
from d2c.cky.search.skeleton import sites_of_steps, skeleton_of
from d2c.trees.binarization import BINARIZATIONS, LEFT, Derivation, Symbol, binarize
from d2c.trees.ctree import CTree
from d2c.trees.dtree import head_outward, modifiers_of
from d2c.trees.labels import quote

_NO_RULE = -9  # number of a rule that the grammar does not have
DISORDERED = (
    "a gap in an order that is not nested has no derivation; --move-punctuation leaves fewer of these, and "
    "--continuous raise none"
)
UNREACHED = "the grammar makes no tree over their predicted heads; --grammar closed makes more trees"


class Gold(NamedTuple):
    """A c-tree and a d-tree over the same tokens.

    ctree:      with head children
    gold_heads: 1..n, 0 = root, by these head children
    derivation: of the c-tree; None where it has none, see `binarize`
    heads, labels: the d-tree's
    """

    ctree: CTree
    gold_heads: Sequence[int]
    derivation: Derivation | None
    heads: Sequence[int]
    labels: Sequence[str] | None

    @classmethod
    def of(cls, ctree: CTree, scheme: str, heads: Sequence[int] | None, labels: Sequence[str] | None) -> Gold:
        """Return a c-tree paired with the heads and labels of a d-tree; None as heads: the gold ones.

        scheme: the name of one of BINARIZATIONS
        """
        gold_heads, derivation = binarize(ctree, BINARIZATIONS[scheme])
        return cls(ctree, gold_heads, derivation, gold_heads if heads is None else heads, labels)

    def rules(self) -> list[list[Rule]]:
        """Return [n] the rules of the derivation, word by word; empty lists where there is no derivation."""
        used: list[list[Rule]] = [[] for _ in self.gold_heads]
        if self.derivation is not None:
            for h, rule in rules_of(self.ctree.tokens.tags, self.gold_heads, self.derivation):
                used[h].append(rule)
        return used

    def rule_labels(self, labels: Sequence[str]) -> list[str]:
        """Return for each arc the rule A → β1 β2 that attaches its dependent, as `label of A#bar of A#β1#β2`
        (draft, section 3.2); the label of `labels` for the root, and for all where there is no derivation."""
        named, modifiers = list(labels), modifiers_of(self.gold_heads)
        for h, used in enumerate(self.rules()):
            sides = tuple(map(iter, head_outward(h, modifiers[h])))
            for rule in used:
                if rule.modifier is not None:
                    children = (rule.modifier, rule.head)[:: 1 if rule.kind == LEFT else -1]
                    parts = (rule.parent.label, rule.parent.bar, *map(str, children))
                    named[next(sides[rule.kind])] = "#".join(map(quote, parts))
        return named

    def parts(self, grammar: Grammar) -> Parts:
        """Return the parts of the derivation, over the gold heads."""
        rules = self.rules()
        flat = [rule for used in rules for rule in used]
        kinds = np.array([rule.kind for rule in flat], np.int32)
        ids = np.array([grammar.rule_ids.get(rule, _NO_RULE) for rule in flat], np.int32)
        steps = np.cumsum([0] + [len(used) for used in rules], dtype=np.int32)
        return Parts(sites_of_steps(skeleton_of(np.array(self.gold_heads, np.int32)), kinds, steps), ids)

    def brackets(self, grammar: Grammar) -> NDArray[np.int64]:
        """Return the sorted keys [keys] of constituents with symbols in the grammar, see `bracket_key`."""
        n, ids = len(self.gold_heads), grammar.symbol_ids
        keys = [
            bracket_key(ids[Symbol(label)], below[0], below[-1], n)
            for label, below in zip(self.ctree.labels, self.ctree.yields()[n:], strict=True)
            if Symbol(label) in ids
        ]
        return np.sort(np.array(keys, np.int64))


def tell_left_out(numbers: Mapping[str, Sequence[int]], trees: int) -> None:
    """Say for each reason from how many trees nothing is learned, and which are the first. numbers: from 1"""
    for why, left_out in numbers.items():
        if left_out:
            named = f"sentence{'s' * (len(left_out) > 1)} {first_few(left_out)}"
            of = f"{many(len(left_out), 'tree')} of {trees:,} ({named})"
            log.warning("%s", f"cky: nothing is learned from {of}: {why}")
