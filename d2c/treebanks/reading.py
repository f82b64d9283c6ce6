"""How the trees of treebank files are read for a route."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d2c.base.errors import Faults, FormatError, Refusals, Refuse, each_located, stop
from d2c.base.files import file_name
from d2c.trees.ctree import CTree
from d2c.trees.formats.treebanks import Options, format_of, items_of, read_treebank, trees_of
from d2c.trees.graphs import SecondaryEdges
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps

Read = Callable[[Path], Iterator[CTree]]  # how the trees of a treebank file are read
Part = list[tuple[int, Any]]  # items of a treebank file, each after the number of its first line
CONTINUOUS = {"raise": raise_gaps, "split": split_gaps}
PART_SIZE = 500  # items


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

    def __call__(self, path: Path, refusals: Refusals | None = None) -> Iterator[CTree]:
        """The trees; refusals: counts those that cannot be read. Raises FormatError."""
        refusals = refusals or Refusals(self.faults)
        return refusals.over(self.transformed(self.read(path, refusals), path, refusals))

    def read(
        self, path: Path, refuse: Refuse = stop, secondary: SecondaryEdges | None = None
    ) -> Iterator[CTree]:
        """The trees before they are transformed; counts secondary edges. Raises FormatError."""
        return read_treebank(path, self.format_name, refuse, **self._options(secondary))

    def parts(self, path: Path) -> Iterator[Part]:
        """The file in parts, for `trees_of`. Raises FormatError after what stands before the fault."""
        part: Part = []
        try:
            for item in items_of(path, self.format_name or format_of(path), **self._options()):
                part.append(item)
                if len(part) == PART_SIZE:
                    yield part
                    part = []
        except FormatError:
            yield part
            raise
        yield part

    def trees_of(self, part: Part, path: Path, refusals: Refusals) -> Iterator[CTree]:
        """The trees of a part of the file. Errors count sentences from the part's first."""
        name = self.format_name or format_of(path)
        trees = trees_of(part, path, name, refusals, **self._options())
        return self.transformed(trees, path, refusals)

    def _options(self, secondary: SecondaryEdges | None = None) -> Options:
        return Options(clean=not self.raw, marked=self.marked, traces=self.traces, secondary=secondary)

    def transformed(self, ctrees: Iterator[CTree], path: Path, refusals: Refusals) -> Iterator[CTree]:
        """The trees of a file after the transforms asked for."""
        steps: list[Callable[[CTree], CTree]] = [merge_gaps] if self.merge else []
        steps += [move_punctuation] if self.move_punctuation else []
        steps += [CONTINUOUS[self.continuous]] if self.continuous else []
        for step in steps:
            ctrees = each_located(step, ctrees, file_name(path), refusals)
        return ctrees


CLEANED = Reading()
