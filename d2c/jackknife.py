"""Jackknifing: d-trees of a treebank by a d-parser that has not learned from them.

What learns to correct or to live with a d-parser's output needs its errors as they are on new sentences.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from dparsers.protocol import DependencyParser
from trees.dtree import DTree
from trees.errors import ModelError
from trees.formats.conllu import read_conllu, write_conllu


def jackknife(
    dparser: DependencyParser,
    train: Path,
    dev: Path,
    folds: int,
    progress: Callable[[object], None] | None = None,
) -> list[DTree]:
    """The d-parser's tree of every sentence of a CoNLL-U file, in order.

    The file is cut into `folds` parts of consecutive sentences; each is parsed by the d-parser when it has
    learned from the others, its best state selected on dev. Raises ModelError for fewer than two folds or
    fewer sentences than folds.
    """
    sentences = list(read_conllu(train))
    if not 2 <= folds <= len(sentences):
        raise ModelError(f"{len(sentences)} sentences cannot be jackknifed in {folds} folds")
    parsed: list[DTree] = []
    for fold in range(folds):
        begin, end = (len(sentences) * at // folds for at in (fold, fold + 1))
        if progress:
            progress(f"jackknifing: fold {fold + 1} of {folds}")
        with tempfile.TemporaryDirectory(prefix="d2c.") as directory:
            others = Path(directory) / "train.conllu"
            with open(others, "w", encoding="utf-8") as stream:
                write_conllu(sentences[:begin] + sentences[end:], stream)
            trained = dparser.train(others, dev, Path(directory) / "dparser", progress)
            parsed += trained.parse(dtree.tokens for dtree in sentences[begin:end])
    return parsed
