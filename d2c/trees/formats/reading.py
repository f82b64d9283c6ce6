"""How the trees of treebank files are read for a route."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import Faults, FormatError, Refusals, Refuse, each_located, stop
from d2c.base.files import file_name
from d2c.base.inputs import Paths, files_of, find_files
from d2c.trees.ctree import CTree
from d2c.trees.formats.registry import FORMATS, Options, format_of, items_of, read_treebank, trees_of
from d2c.trees.graphs import LeftOut
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps

Read = Callable[[Paths], Iterator[CTree]]  # how the trees of treebank files are read
CONTINUOUS = {"raise": raise_gaps, "split": split_gaps}
PART_SIZE = 500  # items
SUFFIXES = tuple(suffix for known in FORMATS.values() for suffix in known.suffixes) + (".xml",)


class Part(NamedTuple):
    """Some items of a treebank file, each after the number of its first line."""

    file: Path
    format_name: str
    items: list[tuple[int, Any]]


@dataclass(frozen=True)
class Reading:
    """How the trees of a treebank file are read for a route: cleaned, and what else is asked for.

    format_name: None for what the file's name says; marked: head children are those that the treebank marks;
    raw: brackets keep traces and function tags; continuous: `raise` or `split` gaps; merge: join first what
    was split; faults: what becomes of sentences that cannot be read
    """

    format_name: str | None = None
    marked: bool = False
    traces: bool = False
    move_punctuation: bool = False
    raw: bool = False
    continuous: str | None = None
    merge: bool = False
    faults: Faults = Faults()

    def __call__(self, paths: Paths, refusals: Refusals | None = None) -> Iterator[CTree]:
        """The trees; refusals: of a single file, counts those that cannot be read. Raises FormatError."""
        for path in files_of(paths):
            counts = refusals or Refusals(self.faults)
            yield from counts.over(self.transformed(self.read(path, counts), path, counts))

    def files(self, given: Iterable[Path], *others: str) -> tuple[Path, ...]:
        """The treebank files that paths stand for; others: suffixes beside theirs. Raises FormatError."""
        hint = "say --format, or make trees of text with `d2c parse`"
        return find_files(given, None if self.format_name else SUFFIXES + others, hint=hint)

    def read(self, path: Path, refuse: Refuse = stop, left_out: LeftOut | None = None) -> Iterator[CTree]:
        """The trees before they are transformed; counts what is left out. Raises FormatError."""
        return read_treebank(path, self.format_name, refuse, **self._options(left_out))

    def parts(self, files: Iterable[Path]) -> Iterator[Part]:
        """The files in parts, for `trees_of`. Raises FormatError after what stands before the fault."""
        for file in files:
            name = self.format_name or format_of(file)
            part = Part(file, name, [])
            try:
                for item in items_of(file, name, **self._options()):
                    part.items.append(item)
                    if len(part.items) == PART_SIZE:
                        yield part
                        part = Part(file, name, [])
            except FormatError:
                yield part
                raise
            yield part

    def trees_of(self, part: Part, refusals: Refusals) -> Iterator[CTree]:
        """The trees of a part of a file. Errors count sentences from the part's first."""
        trees = trees_of(part.items, part.file, part.format_name, refusals, **self._options())
        return self.transformed(trees, part.file, refusals)

    def _options(self, left_out: LeftOut | None = None) -> Options:
        return Options(clean=not self.raw, marked=self.marked, traces=self.traces, left_out=left_out)

    def transformed(self, ctrees: Iterator[CTree], path: Path, refusals: Refusals) -> Iterator[CTree]:
        """The trees of a file after the transforms asked for."""
        steps: list[Callable[[CTree], CTree]] = [merge_gaps] if self.merge else []
        steps += [move_punctuation] if self.move_punctuation else []
        steps += [CONTINUOUS[self.continuous]] if self.continuous else []
        for step in steps:
            ctrees = each_located(step, ctrees, file_name(path), refusals)
        return ctrees


CLEANED = Reading()
