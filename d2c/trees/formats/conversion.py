"""From one treebank format to another, and what is left out on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from d2c.base.counting import many
from d2c.base.errors import FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import of_each
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.pairs import check_words
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS, Place, format_of, format_to_write, write_treebank
from d2c.trees.graphs import LeftOut
from d2c.trees.heads import induce_heads

WRITABLE = tuple(name for name, known in FORMATS.items() if known.write)
_BRACKETS, _BLANKS = frozenset("()"), frozenset(" \t\r\n")


def convert_treebank(
    reading: Reading,
    sources: tuple[Path, ...],
    target: Path,
    stream: TextIO,
    target_format: str | None,
    heads: Path | None,
) -> list[str]:
    """Writes the trees of `sources` in the format of `target`, with the heads that a CoNLL-U file induces
    over the only one of them.

    Returns what was left out: what c-trees do not keep, and what the format does not hold.
    Raises FormatError for what cannot be read, or not be held by the format: a format that d2c only reads,
    gaps in brackets, words that the export format takes for something else.
    """
    written = target_format or format_to_write(target)
    if heads and "heads" not in FORMATS[written].holds:
        raise FormatError(str(target), 0, 0, f"the format {written} marks no heads")
    left_out, lost, place = LeftOut(), set[str](), Place("")

    def converted(source: Path) -> Iterator[CTree]:
        refusals = Refusals(reading.faults)
        place.file, place.refusals, place.sentence = source, refusals, 0
        if {"marked", "left_out"} & FORMATS[reading.format_name or format_of(source)].accepts == {"marked"}:
            lost.add("grammatical functions")
        trees = reading.read(source, refusals, left_out)
        given = with_heads(trees, heads) if heads else trees
        transformed = reading.transformed(given, source, refusals)
        return refusals.over(each_located(held, transformed, file_name(source), refusals))

    def held(ctree: CTree) -> CTree:
        lost.update(_not_held(ctree, written))
        if "gaps" not in FORMATS[written].holds and not ctree.is_continuous():
            raise ValueError("a tree with gaps, which brackets cannot hold; see --continuous")
        return ctree

    write_treebank(of_each(converted)(sources), written, stream, place)
    if left_out.functions:
        lost.add("grammatical functions")
    return [*([many(left_out.edges, "secondary edge")] if left_out.edges else []), *sorted(lost)]


def _not_held(ctree: CTree, format_name: str) -> Iterator[str]:
    """What a format cannot hold of a tree. Where it holds no blanks, no-break spaces stand for them; of round
    brackets in tags, -LRB- and -RRB-."""
    held, tokens = FORMATS[format_name].holds, ctree.tokens
    columns = {"lemmas": tokens.lemmas, "morphology": tokens.morphs}
    named = {"words": tokens.forms, "tags": tokens.tags, "labels": ctree.labels}
    for name, column in (named | columns).items():
        if column and name in columns and "columns" not in held:
            yield name
        elif column and "blanks" not in held and not _BLANKS.isdisjoint("".join(column)):
            yield f"blanks in {name}"
    if "brackets" not in held and not _BRACKETS.isdisjoint("".join(tokens.tags)):
        yield "round brackets in tags"


def with_heads(ctrees: Iterable[CTree], conllu: Path) -> Iterator[CTree]:
    """The c-trees with head children by the d-trees of a CoNLL-U file. Raises FormatError."""

    def headed(pair: tuple[CTree | None, DTree | None]) -> CTree:
        ctree, dtree = pair
        if ctree is None or dtree is None:
            what = "missing; the other file has it" if dtree is None else "the treebank has no such sentence"
            raise ValueError(what)
        check_words(ctree, dtree)
        return induce_heads(ctree, dtree.heads)

    return each_located(headed, zip_longest(ctrees, read_conllu(conllu)), file_name(conllu))
