"""How the trees of treebank files are read: cleaned, transformed, one after the other or in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import Faults, FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import Paths, files_of, find_files
from d2c.trees.binarization import unbinarized
from d2c.trees.conventions import ConventionName
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import Format, Options
from d2c.trees.formats.registry import FORMATS, SUFFIXES, treebank_format
from d2c.trees.transforms import merge_gaps, move_punctuation, raise_gaps, split_gaps

Read = Callable[[Paths], Iterator[CTree]]  # how the trees of treebank files are read
CONTINUOUS = {"raise": raise_gaps, "split": split_gaps}
BATCH_SIZE = 500  # items


class FileBatch(NamedTuple):
    """Some items of a treebank file, each after the number of its first line, and how they are read."""

    file: Path
    format_name: str
    options: Options
    items: list[tuple[int, Any]]


@dataclass(frozen=True)
class Reading:
    """How the trees of a treebank file are read: cleaned unless `raw`, and transformed as asked.

    format_name: None: told by the file's name and content; raw: trees keep traces, function tags and indices;
    marked, traces, strict, charset, n_best, convention, wordless, bare: see `Options`; unparsed: keep the
    trees that stand for sentences that were not parsed, as guesses do; move_punctuation: see `transforms`;
    continuous: `raise` or `split` gaps; merge, unbinarize: before that undo a split of gaps, a binarization;
    edits: functions applied to each tree, one after the other, before these transforms; over: is given the
    edited trees of a file and its name, and yields trees; binarize: applied to each tree after all else;
    faults: what becomes of sentences that cannot be read; left_out: by file, counts of what trees do not keep
    of it, those of its last reading alone; marks: counts the first trees of all files, and those in which a
    head child is marked
    """

    format_name: str | None = None
    marked: bool = False
    traces: bool = False
    move_punctuation: bool = False
    raw: bool = False
    strict: bool = False
    charset: str | None = None
    n_best: bool = False
    convention: ConventionName | None = None
    unparsed: bool = False
    wordless: bool = False
    bare: bool = False
    continuous: str | None = None
    merge: bool = False
    edits: tuple[Callable[[CTree], CTree], ...] = ()
    unbinarize: bool = False
    binarize: Callable[[CTree], CTree] | None = None
    over: Callable[[Iterator[CTree], str], Iterator[CTree]] | None = None
    faults: Faults = Faults()
    left_out: dict[str, Counter[str]] = field(default_factory=dict, compare=False, repr=False)
    marks: Counter[str] = field(default_factory=Counter, compare=False, repr=False)

    @property
    def nothing_marked(self) -> bool:
        """Return whether heads should be marked, and none is marked in the first trees of all files that were
        read."""
        return self.marks["trees"] > self.marks["marked"] == 0

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

    def read(self, path: Path, refusals: Refusals) -> Iterator[CTree]:
        """Yield the edited trees of a file, before they are transformed. Raises FormatError."""
        form = self._format(path)
        ctrees = form.read.read(path, refusals, self._options(path, form))
        for edit in self.edits:
            ctrees = each_located(edit, ctrees, file_name(path), refusals)
        return self.over(ctrees, file_name(path)) if self.over else ctrees

    def as_told_by(self, path: Path) -> Reading:
        """Return a reading of other files by the convention that the labels of this file tell."""
        if self.raw or not path.is_file():  # standard input is read once
            return self
        form = self._format(path)
        return replace(self, convention=form.read.told(path, self._options(path, form))[1].convention)

    def batches(self, files: Iterable[Path]) -> Iterator[FileBatch]:
        """Yield the items of files in batches, for `trees_of`. Raises FormatError after the items before the
        fault."""
        for file in files:
            form = self._format(file)
            items, options = form.read.portable(file, self._options(file, form))
            batch = FileBatch(file, form.name, options, [])
            try:
                for item in items:
                    batch.items.append(item)
                    if len(batch.items) == BATCH_SIZE:
                        yield batch
                        batch = FileBatch(file, form.name, options, [])
            except FormatError:
                yield batch
                raise
            yield batch

    def trees_of(self, batch: FileBatch, refusals: Refusals) -> Iterator[CTree]:
        """Yield the trees of a batch. Errors count sentences from the batch's first."""
        read, file = FORMATS[batch.format_name].read, file_name(batch.file)
        trees = read.parse(batch.items, file, refusals, batch.options, may_be_empty=True)
        return self.transformed(trees, batch.file, refusals)

    def transformed(self, ctrees: Iterator[CTree], path: Path, refusals: Refusals) -> Iterator[CTree]:
        """Yield the trees of a file after the transforms asked for."""
        for step in self.steps.values():
            ctrees = each_located(step, ctrees, file_name(path), refusals)
        return ctrees

    @property
    def steps(self) -> dict[str, Callable[[CTree], CTree]]:
        """Return the transforms asked for, in their order, each under the option that asks for it."""
        every = {
            "--merge": merge_gaps if self.merge else None,
            "--unbinarize": unbinarized if self.unbinarize else None,
            "--move-punctuation": move_punctuation if self.move_punctuation else None,
            "--continuous": CONTINUOUS[self.continuous] if self.continuous else None,
            "--binarize": self.binarize,
        }
        return {option: step for option, step in every.items() if step}

    def _format(self, path: Path) -> Format[CTree]:
        return treebank_format(path, self.format_name)

    def _options(self, path: Path, form: Format[CTree]) -> Options:
        left_out = self.left_out[file_name(path)] = Counter()
        return Options(
            clean=not self.raw,
            marked=self.marked,
            traces=self.traces,
            strict=self.strict,
            charset=self.charset,
            n_best=self.n_best,
            convention=self.convention,
            unparsed=self.unparsed,
            wordless=self.wordless,
            bare=self.bare,
            by_labels="heads" not in form.holds,
            left_out=left_out,
            marks=self.marks,
        )


CLEANED = Reading()
