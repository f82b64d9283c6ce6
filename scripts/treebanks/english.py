"""The three English treebanks as one, in the Penn Treebank's convention (`models.penn`)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from d2c.base.errors import Faults, FormatError
from d2c.base.progress import log
from d2c.treebanks.reading import Read, Reading
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.chunks import batches
from treebanks.penn import to_penn

TREEBANKS = ("craft", "genia", "masc")
HELD_OUT = 40  # of so many blocks of train one selects among states; dev is for scores alone
BLOCK = 50  # consecutive sentences, which stay together


def file_of(treebank: str, part: str, folder: Path) -> Path:
    """The file of a treebank's part."""
    return folder / f"{treebank}-{part}.mrg.gz"


def penn_trees(path: Path, hyphens: bool = False, inner: bool = False) -> Iterator[CTree]:
    """The trees of one of the treebanks' files in the Penn Treebank's convention, as of `to_penn`.

    The few that cannot be read, or have no constituent, are left out.
    """
    left_out: list[FormatError] = []
    for ctree in Reading(faults=Faults(skipped=left_out.append))(path):
        converted = to_penn(ctree, hyphens, inner)
        if converted is not None and converted.labels:
            yield converted
    if left_out:
        log.info("%s: %d left out", path, len(left_out))


def write_parts(treebanks: Iterable[Path], read: Read, directory: Path, seed: int) -> tuple[Path, Path]:
    """Writes the trees of training files into train.mrg and dev.mrg, the latter a part of the former.

    Blocks of sentences are in an order that the seed draws.
    """
    blocks = [block for path in treebanks for block in batches(map(format_bracket, read(path)), BLOCK)]
    random.Random(seed).shuffle(blocks)
    parts = directory / "train.mrg", directory / "dev.mrg"
    with open(parts[0], "w", encoding="utf-8") as train, open(parts[1], "w", encoding="utf-8") as held_out:
        for number, block in enumerate(blocks):
            stream = train if number % HELD_OUT else held_out
            stream.writelines(f"{tree}\n" for tree in block)
    return parts
