"""Jackknifing: a training treebank annotated by models that have not seen the sentences which they annotate.

A treebank is cut into k blocks of consecutive sentences, so that documents stay whole. Each block is
annotated by a model trained on all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from d2c.base.errors import each_located
from d2c.base.progress import counted
from d2c.base.temporary import scratch
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.taggers import Tagger
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu, save_conllu
from d2c.trees.route import Progress

Item = TypeVar("Item")  # a sentence
Parse = Callable[[Iterable[Tokens]], Iterator[DTree]]


def blocks(sentences: int, k: int) -> list[range]:
    """k ranges of nearly the same length, one after the other. Raises ValueError for fewer sentences."""
    if not 2 <= k <= sentences:
        raise ValueError(f"{sentences} sentences cannot be cut into {k} parts for jackknifing")
    ends = [i * sentences // k for i in range(k + 1)]
    return [range(begin, end) for begin, end in zip(ends, ends[1:], strict=False)]


def folds(
    sentences: Sequence[Item], k: int, what: str, progress: Progress | None
) -> Iterator[tuple[range, list[Item]]]:
    """Each block, and the sentences of all others, on which `what` is to be trained."""
    for number, block in enumerate(blocks(len(sentences), k), 1):
        if progress is not None:
            progress(f"jackknife: {what} {number} of {k}")
        yield block, [*sentences[: block.start], *sentences[block.stop :]]


def jackknife_dtrees(
    dparser: DependencyParser,
    sentences: Sequence[DTree],
    dev: Path,
    k: int,
    progress: Progress | None = None,
    parsing: Callable[[DependencyParser], Parse] = lambda dparser: dparser.parse,
) -> Iterator[DTree]:
    """The d-tree of each sentence by the d-parser, trained on the gold d-trees of the other blocks.

    dev: a CoNLL-U file, which selects its best states; parsing: how it parses. Raises ValueError for fewer
    sentences than blocks.
    """
    for block, others in folds(sentences, k, "d-parser", progress):
        with scratch() as directory:
            file = directory / "others.conllu"
            save_conllu(others, file)
            trained = dparser.train(file, dev, directory / "dparser", progress)
            yield from counted(parsing(trained)(sentences[i].tokens for i in block), "jackknife: parsing")


def jackknife_tags(
    make: Callable[[], Tagger],
    sentences: Sequence[Tokens],
    dev: Path,
    k: int,
    directory: Path,
    progress: Progress | None = None,
) -> Iterator[tuple[str, ...]]:
    """The tags of each sentence, by a tagger trained on the other blocks.

    make: an untrained tagger; dev: a CoNLL-U file, which selects its best states; directory: for its files
    """
    for block, others in folds(sentences, k, "tagger", progress):
        file = write_tokens(others, directory / "others.conllu")
        tagger = make().train(file, dev, directory / "tagger", progress)
        for tokens in counted(tagger.tag(sentences[i].forms for i in block), "jackknife: tagging"):
            yield tokens.tags


def write_tokens(sentences: Iterable[Tokens], path: Path, source: Path | None = None) -> Path:
    """A CoNLL-U file of words and tags, without heads.

    Raises FormatError, which names their source, for sentences that CoNLL-U cannot hold.
    """

    def text(tokens: Tokens) -> str:
        return format_conllu(DTree(tokens, (0,) * len(tokens)))

    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(each_located(text, sentences, str(source or path)))
    return path
