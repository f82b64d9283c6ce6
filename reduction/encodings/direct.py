"""The direct encoding of section 4.1: labels `Z#j` with the event index j. Unary nodes are lost."""

from __future__ import annotations

from dataclasses import replace

from d2c.reduction.encodings.encoding import Constraint, Encoding, Order
from d2c.trees.dtree import DTree
from d2c.trees.labels import read_label, write_labels


class Direct(Encoding):
    """Labels `Z#j`; events 1, 3, 4 from the head outward are written #1 #3 #4."""

    name = "direct"
    constraint = Constraint(rising=True, joint=True)

    def label(self, dtree: DTree) -> DTree:
        """Write the events of a head-ordered d-tree."""
        assert dtree.symbols is not None and dtree.events is not None
        return replace(dtree, labels=write_labels(dtree.heads, dtree.symbols, dtree.events))

    def decode(self, dtree: DTree) -> Order:
        """Read symbols and events; heads do not matter."""
        read = [read_label(label) for label in dtree.labels or ()]
        return Order([symbol for symbol, _ in read], [number if number > 0 else 0 for _, number in read])
