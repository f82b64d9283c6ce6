"""How far head rules cover a treebank: for each label, how often its own rules find the head child.

Only nodes with several children are counted; the others need no rule. Linear time; memory grows with the
number of labels, not with the treebank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from d2c.trees.ctree import CTree
from d2c.trees.heads import HeadRules


class HeadCoverage:
    """Counts for one table, by label.

    nodes:       nodes with several children
    by_position: those whose head child was found by the label's own searches, but by one without labels,
                 which takes the first child from an end
    by_default:  those where the label's own searches found none
    """

    def __init__(self, rules: HeadRules) -> None:
        self.rules = rules
        self.nodes: Counter[str] = Counter()
        self.by_position: Counter[str] = Counter()
        self.by_default: Counter[str] = Counter()

    def add(self, ctree: CTree) -> None:
        """Counts a tree's nodes."""
        for label, kids in zip(ctree.labels, ctree.children, strict=True):
            if len(kids) > 1:
                self.nodes[label] += 1
                own = self.rules.by_rule(label, tuple([ctree.label(kid) for kid in kids]))
                if own is None:
                    self.by_default[label] += 1
                elif not own[0].labels:
                    self.by_position[label] += 1

    def lines(self) -> Iterator[str]:
        """A table by label, those that fall to the default most often first, and a summary."""
        width = max(5, *map(len, self.nodes)) if self.nodes else 5
        yield f"{'label':<{width}}  {'nodes':>9}  {'by label':>9}  {'by place':>9}  {'default':>9}"
        for label, nodes in sorted(self.nodes.items(), key=self._rank):
            position, default = self.by_position[label], self.by_default[label]
            counts = nodes, nodes - position - default, position, default
            yield "  ".join((f"{label:<{width}}", *(f"{count:>9,}" for count in counts)))
        total, fallen, position = self.nodes.total(), self.by_default.total(), self.by_position.total()
        without = [label for label in sorted(self.nodes) if not self.rules.searches_of(label)]
        yield f"{self.rules.name}: {total:,} nodes with several children under {len(self.nodes):,} labels"
        yield f"by place: {position:,} ({_percent(position, total)})"
        yield f"default: {fallen:,} ({_percent(fallen, total)}) under {len(self.by_default):,} labels"
        yield f"labels without rules: {' '.join(without) or 'none'}"

    def _rank(self, item: tuple[str, int]) -> tuple[int, int, str]:
        label, nodes = item
        return -self.by_default[label], -nodes, label


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.2f} %"


def head_coverage(ctrees: Iterable[CTree], rules: HeadRules) -> HeadCoverage:
    """Counts the nodes of a treebank."""
    coverage = HeadCoverage(rules)
    for ctree in ctrees:
        coverage.add(ctree)
    return coverage
