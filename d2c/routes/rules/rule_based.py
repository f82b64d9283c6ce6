"""Rule-based conversion as an estimator: d-trees → c-trees by the commonest rule for each arc.

The system that PAD's Table 2 compares with (there 88.1 precision, 90.7 recall, 89.4 F1 on gold d-trees). It
has no weights and nothing random, only counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from d2c.base.counting import commonest
from d2c.base.model_files import read_as, write_settings
from d2c.base.progress import counted
from d2c.protocols.route import Route, TrainingTrees
from d2c.routes.rules.conversion_rules import (
    ConversionRule,
    Gluing,
    RuleRows,
    RuleTables,
    arcs_into,
    extract_rules,
)
from d2c.trees.conversion import to_labelled_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.lone import LoneNodes
from d2c.trees.repair import Repairs, repair_tree

RULES_FORMAT = 1  # of the model directory
NO_RULE = "no rule"
_FILE = "rules.json"


@dataclass(frozen=True)
class RuleFile(RuleRows):
    """The file of a fitted `RuleBased`; attributes as there."""

    head_rules: str
    labels: bool
    gaps: bool
    top: str | None
    default: str
    lone: LoneNodes | None = LoneNodes()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.default:
            raise ValueError("the commonest symbol is empty")


class RuleBased(Route):
    """The third algorithm of Xia and Palmer (2001), with rules learned from a treebank (Xia et al. 2009).

    head_rules: name or file of a head table, see `d2c.trees.heads.load_head_rules`
    labels:     whether rules see d-labels

    Learned by `fit`: the rules, the commonest wrapper, and the commonest symbol.
    """

    def __init__(self, head_rules: str = "collins", labels: bool = False) -> None:
        self.head_rules, self.labels = head_rules, labels
        self.top_: str | None = "TOP"
        self.default_ = "X"
        self.tables_ = RuleTables({}, {}, {})

    def _fit(self, trees: TrainingTrees) -> None:
        """Count the rules of c-trees; `dev` is not used.

        dtrees: one for each c-tree, in place of `encode`'s, of any convention; repaired as in `decode`
        """
        treebank = list(trees.ctrees)
        self.gaps_ = not all(ctree.is_continuous() for ctree in treebank)
        tops = Counter(ctree.top for ctree in treebank)
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")
        symbols = Counter(label for ctree in treebank for label in ctree.labels)
        self.default_ = commonest(symbols, "X")
        dtrees = map(self.encode, treebank) if trees.dtrees is None else trees.dtrees
        pairs = counted(zip(treebank, dtrees, strict=True), "rules")
        self.tables_ = RuleTables.of(rule for pair in pairs for rule in self._extract(*pair))

    def encode(self, ctree: CTree) -> DTree:
        """Return the d-tree that a d-parser learns from; the label of an arc is its phrase symbol."""
        return to_labelled_dependencies(self._heads.headed(ctree))

    def _decode(self, dtree: DTree, repairs: Repairs) -> CTree:
        """Return a c-tree; heads that form no tree are repaired first.

        What had to be repaired, and arcs that no rule fitted, are added to `repairs`.
        """
        heads = repair_tree(dtree.heads, not self.gaps_, repairs)
        arcs = arcs_into(dtree.tokens.tags, heads, dtree.labels if self.labels else None)
        gluing = Gluing(self.tables_, heads, arcs, self.default_)
        repairs.counts[NO_RULE] += gluing.missing
        return gluing.ctree(dtree.tokens, self.top_)

    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        return (self._decode(dtree, repairs) for dtree in dtrees)

    def save(self, directory: Path) -> None:
        """Write JSON into a directory, made if absent."""
        said = {"head_rules": self.head_rules, "labels": self.labels}
        said |= {"gaps": self.gaps_, "top": self.top_, "default": self.default_, "lone": self.lone_}
        write_settings(directory / _FILE, RULES_FORMAT, said | self.tables_.to_json())

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        learned = read_as(directory / _FILE, RULES_FORMAT, RuleFile)
        route = cls(learned.head_rules, learned.labels)
        route.gaps_, route.top_, route.default_ = learned.gaps, learned.top, learned.default
        route.tables_, route.lone_ = RuleTables.from_json(learned), learned.lone
        return route

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.head_rules)

    def _extract(self, ctree: CTree, dtree: DTree) -> list[ConversionRule]:
        """Return the rules of a c-tree with a d-tree."""
        heads = repair_tree(dtree.heads, not self.gaps_, Repairs())
        return extract_rules(ctree, heads, dtree.labels if self.labels else None)
