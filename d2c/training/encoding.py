"""Treebanks as files for d-parsers: a pair in CoNLL-U, to learn from and to choose the best state on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from d2c.base.errors import each_located
from d2c.base.progress import counted, log
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.route import Route


def conllu_pair(directory: Path) -> tuple[Path, Path]:
    """Return the names of the two files in a directory: train.conllu and dev.conllu."""
    return directory / "train.conllu", directory / "dev.conllu"


def encode_treebank(route: Route, treebank: Path, reading: Read = CLEANED) -> Iterator[DTree]:
    """Yield the d-trees of a treebank file. Raises FormatError naming the sentence that cannot be encoded."""
    return each_located(route.encode, reading(treebank), str(treebank))


def write_encoded(
    routes: Sequence[Route], treebanks: Sequence[Path], reading: Read, directory: Path
) -> tuple[Path, Path]:
    """Write what the first route encodes of treebank files into the `conllu_pair` of a directory.

    Of the other routes make only sure that they can encode all trees, before hours of training.
    """
    files, (first, *others) = conllu_pair(directory), routes
    for treebank, file in zip(treebanks, files, strict=True):
        dtrees = described(encode_treebank(first, treebank, reading), treebank)
        with open(file, "w", encoding="utf-8") as stream:
            stream.writelines(each_located(format_conllu, dtrees, str(treebank)))
        for route in others:
            for _ in counted(encode_treebank(route, treebank, reading), f"encoding {treebank}"):
                pass
    return files


def described(dtrees: Iterable[DTree], treebank: Path) -> Iterator[DTree]:
    """Hand the d-trees of a treebank on, and say in the end how large it is."""
    sentences = words = 0
    labels = set[str]()
    for dtree in counted(dtrees, f"reading {treebank}"):
        sentences, words = sentences + 1, words + len(dtree.heads)
        labels.update(dtree.labels or ())
        yield dtree
    log.info("%s", f"{treebank}: {sentences:,} sentences, {words:,} words, {len(labels):,} labels of arcs")
