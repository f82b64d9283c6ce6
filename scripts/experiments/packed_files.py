"""Files of d-trees with packed arcs: CoNLL-U, and beside it the arcs of all sentences as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from d2c.learning.weights import Arrays, Like, read_arrays, write_arrays
from d2c.packed.arcs import LEAST_LABEL, ArcLabels, PackedArcs, single, to_arrays
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu

ARRAYS = {  # of packed arcs in a file
    "begin": Like("i4", 1),
    "heads": Like("i4", 1),
    "logs": Like("f4", 1),
    "names": Like("u1", 1),
    "labels": Like("f4", 2),
    "yields": Like("f4", 1),
}


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


def joined_arcs(sentences: Sequence[PackedArcs]) -> PackedArcs:
    """Return the arcs of sentences, one after the other, with their heads as they were; with labels, and with
    yields, if all sentences have them. A label that only other d-parsers know has the least probability."""
    widths = [np.diff(arcs.begin) for arcs in sentences]
    begin = np.cumsum([0, *chain.from_iterable(widths)], dtype=np.int32)
    heads, logs = ([getattr(arcs, name) for arcs in sentences] for name in ("heads", "logs"))
    empty = single(())
    whole = PackedArcs(begin, np.concatenate([*heads, empty.heads]), np.concatenate([*logs, empty.logs]))
    yields = [arcs.yields for arcs in sentences if len(arcs.heads)]
    given = [one for one in yields if one is not None]
    if given and len(given) == len(yields):
        whole = whole._replace(yields=np.concatenate(given))
    labels = [arcs.labels for arcs in sentences if len(arcs.heads)]
    known = [one for one in labels if one is not None]
    if not known or len(known) < len(labels):
        return whole
    names = tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(one.names for one in known))))
    if any(one.names != names for one in known):
        known = [_renamed(one, names) for one in known]
    return whole._replace(labels=ArcLabels(names, np.concatenate([one.logs for one in known])))


def _renamed(labels: ArcLabels, names: tuple[str, ...]) -> ArcLabels:
    """Return labels by these names, theirs and others; of the others each has the least probability."""
    number = {name: i for i, name in enumerate(names)}
    logs = np.full((len(labels.logs), len(names)), np.log(LEAST_LABEL), np.float32)
    logs[:, [number[name] for name in labels.names]] = labels.logs
    return ArcLabels(names, logs)


def parted_arcs(arcs: PackedArcs, lengths: Iterable[int]) -> Iterator[PackedArcs]:
    """Yield what `joined_arcs` was given, of sentences of so many words."""
    first = square = 0
    for length in lengths:
        begin = arcs.begin[first : first + length + 1]
        own = slice(begin[0], begin[-1])
        labels = arcs.labels and ArcLabels(arcs.labels.names, arcs.labels.logs[own])
        end = square + 2 * length**2
        yields = None if arcs.yields is None else arcs.yields[square:end]
        yield PackedArcs(begin - begin[0], arcs.heads[own], arcs.logs[own], labels, yields)
        first, square = first + length, end


def from_arrays(arrays: Arrays) -> PackedArcs:
    """Return the packed arcs that `to_arrays` wrote."""
    names = tuple(arrays["names"].tobytes().decode().split("\n"))
    labels = ArcLabels(names, arrays["labels"]) if len(arrays["labels"]) else None
    yields = arrays["yields"] if len(arrays["yields"]) else None
    return PackedArcs(arrays["begin"], arrays["heads"], arrays["logs"], labels, yields)
