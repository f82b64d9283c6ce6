"""Jackknifing: a training treebank annotated by models that have not seen the sentences that they annotate.

A treebank is cut into k blocks of consecutive sentences, so that documents stay whole. Each block is
annotated by a model trained on all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from d2c.base.counting import many
from d2c.base.errors import each_located
from d2c.base.inputs import Paths, names_of
from d2c.base.progress import counted
from d2c.base.temporary import scratch
from d2c.models.model import parsing
from d2c.protocols.dparser import DependencyParser, Tagger
from d2c.protocols.route import Progress
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu, save_conllu

Item = TypeVar("Item")  # a sentence


def blocks(sentences: int, k: int, purpose: str = "for jackknifing") -> list[range]:
    """Return k ranges of nearly the same length, in order. Raises ValueError for fewer sentences."""
    if not 2 <= k <= sentences:
        raise ValueError(f"{many(sentences, 'sentence')} cannot be cut into {k} parts {purpose}")
    ends = [i * sentences // k for i in range(k + 1)]
    return [range(begin, end) for begin, end in zip(ends, ends[1:], strict=False)]


def tenths(sentences: int) -> list[range]:
    """Return ten of `blocks`, of which some are held out. Raises ValueError for fewer than ten sentences."""
    return blocks(sentences, 10, "to hold out a tenth")


def _folds(
    sentences: Sequence[Item], k: int, what: str, progress: Progress | None
) -> Iterator[tuple[Sequence[Item], Sequence[Item]]]:
    """Yield for each block all other sentences, on which `what` is to be trained, and those of the block."""
    for number, block in enumerate(blocks(len(sentences), k), 1):
        if progress is not None:
            progress(f"jackknife: {what} {number} of {k}")
        yield [*sentences[: block.start], *sentences[block.stop :]], sentences[block.start : block.stop]


def jackknife_dtrees(
    dparser: DependencyParser,
    sentences: Sequence[DTree],
    dev: Path,
    k: int,
    progress: Progress | None = None,
    packed: bool = False,
) -> Iterator[DTree]:
    """Yield each sentence's d-tree by the d-parser, trained on the gold d-trees of the other blocks.

    dev: a CoNLL-U file, which selects its best states; packed: d-trees have packed arcs, if it gives them.
    Raises ValueError for fewer sentences than blocks.
    """
    for others, block in _folds(sentences, k, "d-parser", progress):
        yield from _parse_block(dparser, others, block, dev, progress, packed)


def parse_last_tenth(
    dparser: DependencyParser, sentences: Sequence[DTree], dev: Path, progress: Progress | None
) -> list[DTree]:
    """Return d-trees with packed arcs of the last tenth, by a d-parser that has learned from the others.

    dev as of `jackknife_dtrees`. Raises ValueError for fewer than ten sentences.
    """
    begin = tenths(len(sentences))[-1].start
    if progress is not None:
        progress("packed arcs: d-parser on nine tenths")
    return list(_parse_block(dparser, sentences[:begin], sentences[begin:], dev, progress, True))


def _parse_block(
    dparser: DependencyParser,
    others: Sequence[DTree],
    block: Sequence[DTree],
    dev: Path,
    progress: Progress | None,
    packed: bool,
) -> Iterator[DTree]:
    with scratch() as directory:
        save_conllu(others, directory / "others.conllu")
        trained = dparser.train(directory / "others.conllu", dev, directory / "dparser", progress)
        yield from counted(parsing(trained, packed)(dtree.tokens for dtree in block), "jackknife: parsing")


def jackknife_tags(
    make: Callable[[], Tagger],
    sentences: Sequence[Tokens],
    dev: Path,
    k: int,
    directory: Path,
    progress: Progress | None = None,
) -> Iterator[tuple[str, ...]]:
    """Yield the tags of each sentence, by a tagger trained on the other blocks.

    make: returns an untrained tagger; dev: a CoNLL-U file, which selects its best states; directory: of files
    """
    for others, block in _folds(sentences, k, "tagger", progress):
        file = write_tokens(others, directory / "others.conllu")
        tagger = make().train(file, dev, directory / "tagger", progress)
        for tokens in counted(tagger.tag(one.forms for one in block), "jackknife: tagging"):
            yield tokens.tags


def write_tokens(sentences: Iterable[Tokens], path: Path, source: Paths | None = None) -> Path:
    """Write a CoNLL-U file of words and tags, without heads; return its path.

    Raises FormatError, which names `source`, or else `path`, for sentences that CoNLL-U cannot hold.
    """

    def text(tokens: Tokens) -> str:
        return format_conllu(DTree(tokens, (0,) * len(tokens)))

    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(each_located(text, sentences, names_of(source or path)))
    return path
