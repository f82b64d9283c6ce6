"""What an encoding makes of a treebank (the figures of section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator

from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, head_outward, modifiers_of
from d2c.trees.repair import projectivize


class Statistics:
    """Counts over c-trees and their encodings."""

    def __init__(self) -> None:
        self.sentences = self.tokens = self.nodes = self.unaries = 0
        self.orders = self.not_nested = self.not_projective = 0
        self.labels: set[str] = set()
        self.symbols: set[str] = set()

    def count(self, ctree: CTree, dtree: DTree) -> None:
        """Counts one sentence."""
        assert dtree.events is not None and dtree.labels is not None
        self.sentences += 1
        self.tokens += len(ctree.tokens)
        self.nodes += len(ctree.labels)
        self.unaries += sum(len(kids) == 1 for kids in ctree.children)
        self.labels.update(dtree.labels)
        self.symbols.update(ctree.labels)
        for h, modifiers in enumerate(modifiers_of(dtree.heads)):
            if modifiers:
                sides = head_outward(h, modifiers)
                self.orders += 1
                self.not_nested += any(_falls([dtree.events[m] for m in side]) for side in sides)
        lifted = projectivize(dtree.heads)
        self.not_projective += sum(a != b for a, b in zip(dtree.heads, lifted, strict=True))

    def add(self, other: Statistics) -> None:
        """Adds the counts of another part of the treebank."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            setattr(self, name, own | value if isinstance(value, set) else own + value)

    def lines(self) -> Iterator[str]:
        """The figures, one a line."""
        arcs = self.tokens - self.sentences
        yield f"sentences               {self.sentences:>9,}"
        yield f"tokens                  {self.tokens:>9,}"
        yield f"phrase symbols          {len(self.symbols):>9,}"
        yield f"dependency labels       {len(self.labels):>9,}"
        yield f"labels per symbol       {len(self.labels) / max(1, len(self.symbols)):>9.2f}"
        yield f"unary nodes             {_percent(self.unaries, self.nodes):>9} of {self.nodes:,} nodes"
        yield f"orders not nested       {_percent(self.not_nested, self.orders):>9} of {self.orders:,} heads"
        yield f"arcs not projective     {_percent(self.not_projective, arcs):>9} of {arcs:,} arcs"


def _falls(events: list[int]) -> bool:
    return any(outer < inner for inner, outer in zip(events, events[1:], strict=False))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.2f} %"
