"""D-trees in files, with their packed arcs if they have any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from d2c.linear.weights import read_arrays, write_arrays
from d2c.packed.arcs import joined, parted
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.packed.feature import ARRAYS, from_arrays, to_arrays
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu


def save_dtrees(dtrees: Sequence[DTree], stem: Path) -> None:
    """Write d-trees, and their packed arcs if they have any, into stem.conllu and stem.npz."""
    save_conllu(dtrees, stem.with_suffix(".conllu"))
    arcs = [packed for packed in map(packed_arcs, dtrees) if packed is not None]
    if arcs:
        write_arrays(stem.with_suffix(".npz"), to_arrays(joined(arcs)))


def read_dtrees(sentences: Sequence[Tokens], stem: Path) -> list[DTree]:
    """Read what `save_dtrees` wrote, over the tokens of the sentences."""
    pairs = zip(sentences, read_conllu(stem.with_suffix(".conllu")), strict=True)
    dtrees = [replace(dtree, tokens=tokens) for tokens, dtree in pairs]
    arrays = stem.with_suffix(".npz")
    if not arrays.exists():
        return dtrees
    arcs = parted(from_arrays(read_arrays(arrays, ARRAYS)), (len(dtree.heads) for dtree in dtrees))
    return list(map(with_packed_arcs, dtrees, arcs))
