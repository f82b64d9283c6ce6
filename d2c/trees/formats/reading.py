"""How the trees of treebank files are read: cleaned, transformed, one after the other or in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import Faults, FormatError, Refusals, Refuse, each_located, stop
from d2c.base.files import file_name
from d2c.base.inputs import Paths, files_of, find_files
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import Attribute, Format, Options
from d2c.trees.formats.registry import FORMATS, SUFFIXES, treebank_format
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps

Read = Callable[[Paths], Iterator[CTree]]  # how the trees of treebank files are read
CONTINUOUS = {"raise": raise_gaps, "split": split_gaps}
BATCH_SIZE = 500  # items


class FileBatch(NamedTuple):
    """Some items of a treebank file, each after the number of its first line."""

    file: Path
    format_name: str
    items: list[tuple[int, Any]]


@dataclass(frozen=True)
class Reading:
    """How the trees of a treebank file are read: cleaned, and what else is asked for.

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
        """Yield the trees of files. Raises FormatError.

        refusals: of a single file, counts the sentences that cannot be read
        """
        for path in files_of(paths):
            counts = refusals or Refusals(self.faults)
            yield from counts.over(self.transformed(self.read(path, counts), path, counts))

    def files(self, given: Iterable[Path], *others: str) -> tuple[Path, ...]:
        """Return the treebank files that paths stand for. Raises FormatError.

        others: suffixes beside those of treebanks
        """
        hint = "say --format, or make trees of text with `d2c parse`"
        return find_files(given, None if self.format_name else SUFFIXES + others, hint=hint)

    def read(
        self, path: Path, refuse: Refuse = stop, left_out: Counter[Attribute] | None = None
    ) -> Iterator[CTree]:
        """Yield the trees before they are transformed. Raises FormatError.

        left_out: counts what trees do not keep of the file
        """
        return self._format(path).read.read(path, refuse, self._options(left_out))

    def batches(self, files: Iterable[Path]) -> Iterator[FileBatch]:
        """Yield the items of files, for `trees_of`. Raises FormatError after what stands before the fault."""
        for file in files:
            form = self._format(file)
            batch = FileBatch(file, form.name, [])
            try:
                for item in form.read.portable(file, self._options()):
                    batch.items.append(item)
                    if len(batch.items) == BATCH_SIZE:
                        yield batch
                        batch = FileBatch(file, form.name, [])
            except FormatError:
                yield batch
                raise
            yield batch

    def trees_of(self, batch: FileBatch, refusals: Refusals) -> Iterator[CTree]:
        """Yield the trees of a batch. Errors count sentences from the batch's first."""
        read, file = FORMATS[batch.format_name].read, file_name(batch.file)
        trees = read.carried(batch.items, file, refusals, self._options())
        return self.transformed(trees, batch.file, refusals)

    def transformed(self, ctrees: Iterator[CTree], path: Path, refusals: Refusals) -> Iterator[CTree]:
        """Yield the trees of a file after the transforms asked for."""
        steps: list[Callable[[CTree], CTree]] = [merge_gaps] if self.merge else []
        steps += [move_punctuation] if self.move_punctuation else []
        steps += [CONTINUOUS[self.continuous]] if self.continuous else []
        for step in steps:
            ctrees = each_located(step, ctrees, file_name(path), refusals)
        return ctrees

    def _format(self, path: Path) -> Format[CTree]:
        return treebank_format(path, self.format_name, self.marked)

    def _options(self, left_out: Counter[Attribute] | None = None) -> Options:
        counted = Counter[Attribute]() if left_out is None else left_out
        return Options(not self.raw, self.marked, self.traces, counted)


CLEANED = Reading()
