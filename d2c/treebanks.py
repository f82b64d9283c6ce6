"""`d2c convert`: from one treebank format to another, transformed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from trees.ctree import CTree
from trees.errors import FormatError
from trees.files import file_name
from trees.formats.treebanks import FORMATS, format_to_write, read_treebank
from trees.transforms import merge_gaps, move_punctuation, raise_gaps, resolve_traces, split_gaps

Read = Callable[[Path], Iterator[CTree]]  # how the trees of a treebank file are read
WRITABLE = tuple(name for name, known in FORMATS.items() if known.write)


@dataclass(frozen=True)
class Reading:
    """How the trees of a treebank file are read for training: cleaned, and what else is asked for.

    format_name: None for what the file's name says; marked: head children are those that the treebank marks
    """

    format_name: str | None = None
    marked: bool = False
    traces: bool = False
    move_punctuation: bool = False

    def __call__(self, path: Path) -> Iterator[CTree]:
        """The trees. Raises FormatError."""
        for tree in read_treebank(path, self.format_name, not self.traces, self.marked):
            ctree = resolve_traces(tree) if self.traces else tree
            if ctree is not None:
                yield move_punctuation(ctree) if self.move_punctuation else ctree


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
) -> None:
    """Writes the trees of `source` in the format of `target`; see `trees.transforms` for the options.

    Raises FormatError for what cannot be read, or not be held by the format: a format that d2c only reads,
    gaps in brackets, words that the export format takes for something else.
    """
    written = target_format or format_to_write(target)
    write = FORMATS[written].write
    if write is None:
        raise FormatError(str(target), 0, 0, f"d2c reads the format {written}, but does not write it")
    steps = _steps(traces, move_punctuation, continuous, merge)

    def converted() -> Iterator[CTree]:
        for number, tree in enumerate(read_treebank(source, source_format, clean and not traces), 1):
            ctree: CTree | None = tree
            try:
                for step in steps:
                    ctree = step(ctree) if ctree else None
            except ValueError as error:
                raise FormatError(file_name(source), 0, number, str(error)) from None
            if ctree and written == "brackets" and not ctree.is_continuous():
                message = "a tree with gaps, which brackets cannot hold; see --continuous"
                raise FormatError(file_name(source), 0, number, message)
            if ctree:
                yield ctree

    try:
        write(converted(), stream)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(file_name(source), 0, 0, str(error)) from None


def _steps(
    traces: bool, punctuation: bool, continuous: str | None, merge: bool
) -> list[Callable[[CTree], CTree | None]]:
    steps: list[Callable[[CTree], CTree | None]] = []
    if traces:
        steps.append(resolve_traces)
    if merge:
        steps.append(merge_gaps)
    if punctuation:
        steps.append(move_punctuation)
    if continuous:
        steps.append(raise_gaps if continuous == "raise" else split_gaps)
    return steps
