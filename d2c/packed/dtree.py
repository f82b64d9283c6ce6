"""D-trees that carry packed arcs: beside the d-parser's own heads the other likely ones."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from d2c.packed.arcs import PackedArcs
from d2c.trees.dtree import DTree


@dataclass(frozen=True, slots=True, eq=False)
class PackedDTree(DTree):
    """A d-tree with packed arcs, which a comparison leaves out: it equals the same d-tree without them."""

    arcs: PackedArcs = field(kw_only=True, repr=False)

    def __eq__(self, other: object) -> bool:
        """Return whether everything but the arcs is equal."""
        if not isinstance(other, DTree):
            return NotImplemented
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(DTree))

    __hash__ = DTree.__hash__


def packed_arcs(dtree: DTree) -> PackedArcs | None:
    """Return the packed arcs of a d-tree; None where its d-parser was not asked for them."""
    return dtree.arcs if isinstance(dtree, PackedDTree) else None


def with_packed_arcs(dtree: DTree, arcs: PackedArcs | None) -> DTree:
    """Return the same d-tree with these packed arcs in place of its own; None: without any."""
    columns = {one.name: getattr(dtree, one.name) for one in fields(DTree)}
    return DTree(**columns) if arcs is None else PackedDTree(**columns, arcs=arcs)
