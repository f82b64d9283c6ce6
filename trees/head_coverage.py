"""How far a head table covers a treebank: which labels fall through to its default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trees.ctree import CTree
from trees.heads import HeadRules


@dataclass
class Coverage:
    """Nodes with several children, by label: all, those without rules, those whose rules find no child."""

    nodes: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, ctrees: Iterable[CTree], rules: HeadRules) -> Coverage:
        """The coverage of a treebank."""
        coverage = cls()
        for ctree in ctrees:
            for label, kids in zip(ctree.labels, ctree.children, strict=True):
                if len(kids) > 1:
                    coverage.nodes[label] += 1
                    if not rules.knows(label):
                        coverage.without[label] += 1
                    elif rules.by_rule(label, tuple(map(ctree.label, kids))) is None:
                        coverage.failed[label] += 1
        return coverage

    def lines(self) -> Iterator[str]:
        """A table of the labels that fall through, commonest first, and the sums."""
        fallen = self.without + self.failed
        if fallen:
            yield f"{'label':<16}{'nodes':>9}{'default':>9}"
        for label, count in sorted(fallen.items(), key=lambda item: (-item[1], item[0])):
            why = "no rule" if self.without[label] else "rule finds no child"
            yield f"{label:<16}{self.nodes[label]:>9,}{count:>9,}  {why}"
        nodes, left = self.nodes.total(), fallen.total()
        share = 100 * left / nodes if nodes else 0.0
        yield f"{left:,} of {nodes:,} nodes with several children ({share:.2f} %) fall to the default"
