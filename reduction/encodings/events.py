"""The direct and the delta encoding of section 4.1: labels of symbols and events. Unary nodes are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from d2c.reduction.encodings.encoding import Constraint, Encoding, Order
from d2c.trees.dtree import DTree, head_outward, modifiers_of
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


class Delta(Encoding):
    """Labels `Z#d` where d is the difference to the event of the next modifier towards the head.

    Events 1, 3, 4 from the head outward are written #1 #2 #1.
    """

    name = "delta"
    continuous_only = True
    constraint = Constraint(rising=True, joint=True, differences=True)

    def label(self, dtree: DTree) -> DTree:
        """Write the differences of a head-ordered d-tree, which is projective and nested."""
        assert dtree.symbols is not None and dtree.events is not None
        deltas = list(dtree.events)
        for side in _sides(dtree.heads):
            for inner, outer in zip(side, side[1:], strict=False):
                deltas[outer] = dtree.events[outer] - dtree.events[inner]
        return replace(dtree, labels=write_labels(dtree.heads, dtree.symbols, deltas))

    def decode(self, dtree: DTree) -> Order:
        """Read symbols, and add up differences from each head outward."""
        read = [read_label(label) for label in dtree.labels or ()]
        events = [0] * len(read)
        for side in _sides(dtree.heads):
            event = 0
            for m in side:
                delta = read[m][1]
                if delta >= 0:
                    event += delta
                    events[m] = event
        return Order([symbol for symbol, _ in read], events)


def _sides(heads: Sequence[int]) -> Iterator[list[int]]:
    """Yield every head's left and right modifiers, from the head outward."""
    for h, modifiers in enumerate(modifiers_of(heads)):
        if modifiers:
            yield from head_outward(h, modifiers)
