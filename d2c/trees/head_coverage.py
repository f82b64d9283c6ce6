"""How far head rules, or a treebank's own marks, cover a treebank: counted by label.

Linear time; the memory grows with the number of labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from d2c.base.counting import many
from d2c.trees.conventions import strip_function
from d2c.trees.ctree import CTree
from d2c.trees.heads import HeadRules
from d2c.trees.marks import has_mark
from d2c.trees.scores.matches import percent


class HeadCoverage:
    """How far a table covers a treebank: for each label, how often its own rules find the head child.

    nodes:       nodes with several children; the others need no rule
    by_position: nodes whose head child is found by one of the label's own searches that lists no labels, and
                 so takes the first child from an end that is not punctuation
    by_default:  nodes whose head child none of the label's own searches finds
    """

    def __init__(self, ctrees: Iterable[CTree], rules: HeadRules) -> None:
        self.rules = rules
        self.nodes: Counter[str] = Counter()
        self.by_position: Counter[str] = Counter()
        self.by_default: Counter[str] = Counter()
        for ctree in ctrees:
            for label, kids in zip(ctree.labels, ctree.children, strict=True):
                if len(kids) > 1:
                    self.nodes[label] += 1
                    own = rules.by_rule(label, tuple([ctree.label(kid) for kid in kids]))
                    if own is None:
                        self.by_default[label] += 1
                    elif not own[0].labels:
                        self.by_position[label] += 1

    def lines(self) -> Iterator[str]:
        """Yield a table of labels, those that fall to the default most often first, and a summary."""
        width = max(5, *map(len, self.nodes)) if self.nodes else 5
        yield f"{'label':<{width}}  {'nodes':>9}  {'by label':>9}  {'by place':>9}  {'default':>9}"
        for label in sorted(
            self.nodes, key=lambda label: (-self.by_default[label], -self.nodes[label], label)
        ):
            nodes = self.nodes[label]
            position, default = self.by_position[label], self.by_default[label]
            counts = nodes, nodes - position - default, position, default
            yield "  ".join((f"{label:<{width}}", *(f"{count:>9,}" for count in counts)))
        total, fallen, position = self.nodes.total(), self.by_default.total(), self.by_position.total()
        without = [label for label in sorted(self.nodes) if not self.rules.searches_of(label)]
        under = many(len(self.nodes), "label")
        yield f"{self.rules.name}: {many(total, 'node')} with several children under {under}"
        yield f"by place: {position:,} ({percent(position, total):.2f} %)"
        under = many(len(self.by_default), "label")
        yield f"default: {fallen:,} ({percent(fallen, total):.2f} %) under {under}"
        yield f"labels without rules: {' '.join(without) or 'none'}"


class MarkCoverage:
    """How far a treebank marks heads: for each label, in how many nodes a child is marked.

    nodes: nodes with several children; marked: those of them with a mark
    """

    def __init__(self, ctrees: Iterable[CTree]) -> None:
        self.nodes, self.marked = Counter[str](), Counter[str]()
        for ctree in ctrees:
            for label, kids, marked in zip(ctree.labels, ctree.children, has_mark(ctree), strict=True):
                if len(kids) > 1:
                    name = label if ctree.functions else strip_function(label)
                    self.nodes[name] += 1
                    self.marked[name] += marked

    def lines(self) -> Iterator[str]:
        """Yield a table of labels, those that lack marks most often first, and a summary."""
        width = max(5, *map(len, self.nodes)) if self.nodes else 5
        yield f"{'label':<{width}}  {'nodes':>9}  {'marked':>9}  {'by place':>9}"
        for label in sorted(
            self.nodes, key=lambda label: (self.marked[label] - self.nodes[label], -self.nodes[label], label)
        ):
            nodes, marked = self.nodes[label], self.marked[label]
            yield f"{label:<{width}}  {nodes:>9,}  {marked:>9,}  {nodes - marked:>9,}"
        total, marked = self.nodes.total(), self.marked.total()
        under = many(len(self.nodes), "label")
        yield f"marked: {many(total, 'node')} with several children under {under}"
        yield f"by place: {total - marked:,} ({percent(total - marked, total):.2f} %)"
