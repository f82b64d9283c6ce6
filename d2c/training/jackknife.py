"""Jackknifing: a training treebank annotated by models that have not seen the sentences which they annotate.

A treebank is cut into k blocks of consecutive sentences, so that documents stay whole. Each block is
annotated by a model trained on all others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.taggers import Tagger
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.formats.conllu import read_conllu, write_conllu


def blocks(sentences: int, k: int) -> list[range]:
    """k ranges of nearly the same length, one after the other. Raises ValueError for fewer sentences."""
    if not 2 <= k <= sentences:
        raise ValueError(f"{sentences} sentences cannot be cut into {k} parts for jackknifing")
    ends = [i * sentences // k for i in range(k + 1)]
    return [range(begin, end) for begin, end in zip(ends, ends[1:], strict=False)]


def jackknife_dtrees(
    dparser: DependencyParser,
    train: Path,
    dev: Path,
    k: int,
    progress: Callable[[object], None] | None = None,
) -> list[DTree]:
    """The d-tree of each sentence of a CoNLL-U file, by the d-parser trained on the other blocks.

    dev: what selects its best states. Raises ModelError for fewer sentences than blocks.
    """
    sentences = list(read_conllu(train))
    if not 2 <= k <= len(sentences):
        raise ModelError(f"{len(sentences)} sentences cannot be jackknifed in {k} folds")
    parsed: list[DTree] = []
    for number, block in enumerate(blocks(len(sentences), k), 1):
        if progress is not None:
            progress(f"jackknife: d-parser {number} of {k}")
        with tempfile.TemporaryDirectory(prefix="d2c.") as directory:
            others = Path(directory) / "others.conllu"
            with open(others, "w", encoding="utf-8") as stream:
                write_conllu([*sentences[: block.start], *sentences[block.stop :]], stream)
            trained = dparser.train(others, dev, Path(directory) / "dparser", progress)
            parsed += trained.parse(sentences[i].tokens for i in block)
    return parsed


def jackknife_tags(
    make: Callable[[], Tagger],
    sentences: Sequence[Tokens],
    dev: Sequence[Tokens],
    k: int,
    scratch: Path,
    progress: Callable[[object], None] | None = None,
) -> Iterator[tuple[str, ...]]:
    """The tags of each sentence, by a tagger trained on the other blocks.

    make: an untrained tagger; dev: what selects its best state; scratch: a directory for its files
    """
    dev_file = write_tokens(dev, scratch / "dev.conllu")
    for number, block in enumerate(blocks(len(sentences), k), 1):
        if progress is not None:
            progress(f"jackknife: tagger {number} of {k}")
        others = [*sentences[: block.start], *sentences[block.stop :]]
        file = write_tokens(others, scratch / "others.conllu")
        tagger = make().train(file, dev_file, scratch / "tagger", progress)
        for tokens in tagger.tag(sentences[i].forms for i in block):
            yield tokens.tags


def write_tokens(sentences: Sequence[Tokens], path: Path) -> Path:
    """A CoNLL-U file of words and tags, without heads."""
    with open(path, "w", encoding="utf-8") as stream:
        write_conllu((DTree(tokens, (0,) * len(tokens)) for tokens in sentences), stream)
    return path
