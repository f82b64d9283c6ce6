"""Treebank files: how their trees are read for a route, and `d2c convert`, from one format to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import TextIO

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.errors import FormatError
from d2c.trees.files import file_name, open_input
from d2c.trees.formats.brackets import bracket_chunks
from d2c.trees.formats.chunks import Chunk
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.graphs import SecondaryEdges
from d2c.trees.formats.treebanks import (
    FORMATS,
    format_of,
    format_to_write,
    parse_treebank,
    read_treebank,
    write_treebank,
)
from d2c.trees.induced_heads import induce_heads
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps

Read = Callable[[Path], Iterator[CTree]]  # how the trees of a treebank file are read
WRITABLE = tuple(name for name, known in FORMATS.items() if known.write)
Part = Chunk | list[CTree]  # of a treebank: a piece of its text, or trees, where files cannot be cut
CONTINUOUS = {"raise": raise_gaps, "split": split_gaps}
_BRACKETS = frozenset("()")
PART_SIZE = 500  # trees


@dataclass(frozen=True)
class Reading:
    """How the trees of a treebank file are read for a route: cleaned, and what else is asked for.

    format_name: None for what the file's name says; marked: head children are those that the treebank marks;
    raw: brackets keep traces and function tags; continuous: `raise` or `split` gaps
    """

    format_name: str | None = None
    marked: bool = False
    traces: bool = False
    move_punctuation: bool = False
    raw: bool = False
    continuous: str | None = None

    def __call__(self, path: Path) -> Iterator[CTree]:
        """The trees. Raises FormatError."""
        trees = read_treebank(path, self.format_name, not self.raw, self.marked, self.traces)
        return _transformed(trees, path, self.move_punctuation, self.continuous)

    def parts(self, path: Path) -> Iterator[Part]:
        """The file in parts, for `trees_of`. Raises FormatError."""
        if self.marked or FORMATS[self.format_name or format_of(path)].parse is None:
            trees = self(path)
            while part := list(islice(trees, PART_SIZE)):
                yield part
        else:
            with open_input(path) as stream:
                yield from bracket_chunks(stream)

    def trees_of(self, part: Part, path: Path) -> Iterable[CTree]:
        """The trees of a part of the file. Raises FormatError, counting sentences from the part's first."""
        if not isinstance(part, Chunk):
            return part
        name = self.format_name or format_of(path)
        trees = parse_treebank(part, path, name, not self.raw, self.traces)
        return _transformed(trees, path, self.move_punctuation, self.continuous)


CLEANED = Reading()


def convert_treebank(
    source: Path,
    target: Path,
    stream: TextIO,
    source_format: str | None = None,
    target_format: str | None = None,
    clean: bool = False,
    traces: bool = False,
    move_punctuation: bool = False,
    continuous: str | None = None,
    merge: bool = False,
    heads: Path | None = None,
) -> list[str]:
    """Writes the trees of `source` in the format of `target`; see `d2c.trees.transforms` for the options.

    Returns what was left out: what c-trees do not keep, and what the format does not hold.
    Raises FormatError for what cannot be read, or not be held by the format: a format that d2c only reads,
    gaps in brackets, words that the export format takes for something else.
    """
    written = target_format or format_to_write(target)
    if heads and not FORMATS[written].graphs:
        raise FormatError(str(target), 0, 0, f"the format {written} marks no heads")
    read = source_format or format_of(source)
    secondary, lost = SecondaryEdges(), set[str]()

    def converted() -> Iterator[CTree]:
        trees = read_treebank(source, read, clean, traces=traces, secondary=secondary)
        given = with_heads(trees, heads) if heads else trees
        for number, ctree in enumerate(_transformed(given, source, move_punctuation, continuous, merge), 1):
            lost.update(_not_held(ctree.tokens, written))
            if written == "brackets" and not ctree.is_continuous():
                message = "a tree with gaps, which brackets cannot hold; see --continuous"
                raise FormatError(file_name(source), 0, number, message)
            yield ctree

    write_treebank(converted(), written, stream, source)
    left_out = [f"{secondary.count:,} secondary edges"] if secondary.count else []
    if FORMATS[read].marks_heads:
        left_out.append("grammatical functions")
    return left_out + sorted(lost)


def _not_held(tokens: Tokens, format_name: str) -> Iterator[str]:
    """What a format cannot hold of tokens. Where it holds no blanks, no-break spaces stand for them; of round
    brackets in tags, -LRB- and -RRB-."""
    columns = {"words": tokens.forms, "lemmas": tokens.lemmas, "morphology": tokens.morphs}
    for name, column in columns.items():
        if column and name != "words" and not FORMATS[format_name].graphs:
            yield name
        elif column and not format_name.endswith("xml") and " " in "".join(column):
            yield f"blanks in {name}"
    if format_name == "brackets" and not _BRACKETS.isdisjoint("".join(tokens.tags)):
        yield "round brackets in tags"


def with_heads(ctrees: Iterable[CTree], conllu: Path) -> Iterator[CTree]:
    """The c-trees with head children by the d-trees of a CoNLL-U file. Raises FormatError."""
    for number, (ctree, dtree) in enumerate(zip_longest(ctrees, read_conllu(conllu)), 1):
        if ctree is None or dtree is None:
            what = "missing; the other file has it" if dtree is None else "the treebank has no such sentence"
            raise FormatError(file_name(conllu), 0, number, what)
        try:
            yield induce_heads(ctree, dtree.heads)
        except ValueError as error:
            raise FormatError(file_name(conllu), 0, number, str(error)) from None


def _transformed(
    ctrees: Iterator[CTree], path: Path, punctuation: bool, continuous: str | None, merge: bool = False
) -> Iterator[CTree]:
    """The trees of a file after the transforms asked for, in this order. Raises FormatError."""
    steps: list[Callable[[CTree], CTree]] = []
    if merge:
        steps.append(merge_gaps)
    if punctuation:
        steps.append(move_punctuation)
    if continuous:
        steps.append(CONTINUOUS[continuous])
    if not steps:
        return ctrees

    def transformed() -> Iterator[CTree]:
        for number, ctree in enumerate(ctrees, 1):
            try:
                for step in steps:
                    ctree = step(ctree)
            except ValueError as error:
                raise FormatError(file_name(path), 0, number, str(error)) from None
            yield ctree

    return transformed()
