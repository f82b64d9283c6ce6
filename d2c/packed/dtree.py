"""D-trees that carry packed arcs, besides the d-parser's own heads the other likely ones; and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from d2c.learning.weights import read_arrays, write_arrays
from d2c.packed.arcs import ARRAYS, PackedArcs, from_arrays, joined_arcs, parted_arcs, to_arrays
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu


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


def save_dtrees(dtrees: Sequence[DTree], stem: Path) -> None:
    """Write d-trees, and their packed arcs if they have any, into stem.conllu and stem.npz."""
    save_conllu(dtrees, stem.with_suffix(".conllu"))
    arcs = [packed for packed in map(packed_arcs, dtrees) if packed is not None]
    if arcs:
        write_arrays(stem.with_suffix(".npz"), to_arrays(joined_arcs(arcs)))


def read_dtrees(sentences: Sequence[Tokens], stem: Path) -> list[DTree]:
    """Read what `save_dtrees` wrote, over the tokens of the sentences."""
    pairs = zip(sentences, read_conllu(stem.with_suffix(".conllu")), strict=True)
    dtrees = [replace(dtree, tokens=tokens) for tokens, dtree in pairs]
    arrays = stem.with_suffix(".npz")
    if not arrays.exists():
        return dtrees
    arcs = parted_arcs(from_arrays(read_arrays(arrays, ARRAYS)), (len(dtree.heads) for dtree in dtrees))
    return list(map(with_packed_arcs, dtrees, arcs))
