"""Files and directories as a stream of records: text, JSON lines, CoNLL-U or Parquet, as their names say."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

import pyarrow as pa
from pyarrow import types

from d2c.base import inputs
from d2c.base.errors import FormatError
from d2c.base.files import open_input
from d2c.base.tables import opened_parquet
from d2c.corpora.options import CorpusOptions
from d2c.corpora.records import RECORDS, TEXT, Record, format_of_records
from d2c.parsing.input import KINDS, blocks_of, lines_of
from d2c.parsing.text import PENN, split_paragraphs
from d2c.protocols.dparser import TextRules
from d2c.trees.ctree import comment_of

_ROWS = 1024  # of Parquet that are read at a time
_BEGINNING = 1 << 16  # bytes
_SUFFIXES = tuple(suffix for form in RECORDS.values() for suffix in form.suffixes)


def corpus_files(
    paths: Sequence[Path], format_name: str | None, output: Path
) -> tuple[list[Path], list[Path]]:
    """Return the files given and those in directories given, each once; and files there of no known format.

    format_name: the format of all files; None: by their names. Files given by name are text if their names
                 show nothing else. Hidden files, and those below `output`, are left out. The order is the
                 same on every machine.
    Raises FormatError for missing files, for standard input and pipes, and where an input is the output.
    """
    inputs.check_apart(paths, output)
    files = [*inputs.find_files(paths, None if format_name else _SUFFIXES, output)]
    inputs.check_repeatable(tuple(files))
    known = set(files)
    return files, [file for file in inputs.find_files(paths, None, output) if file not in known]


@dataclass
class Inputs:
    """A stream of records, which can be read repeatedly; `position` says how far it has been read.

    A file is read whole or left out: Parquet and .gz, which may be broken anywhere, are checked to the end.

    rules:   cut very long paragraphs
    others:  files that are skipped for their names
    read:    how many files were read
    skipped: files without text or with another ending, and why; broken: files that cannot be read, and why
    """

    files: list[Path]
    options: CorpusOptions = CorpusOptions()
    rules: TextRules = PENN
    others: Sequence[Path] = ()
    read: int = field(init=False, default=0)
    skipped: dict[str, str] = field(init=False, default_factory=dict)
    broken: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._before, self._here, self._known = 0, _nowhere, set[str]()
        self.sizes = [*map(_size, self.files)]

    def go_on_after(self, known: Sequence[str], planned: Iterable[str]) -> None:
        """Put first the files that earlier runs read, in this order; then those that they planned to read and
        that are still there; last those that were added.

        Raises FormatError if a file that was read is not among the files any more.
        """
        files, self._known = {str(file): file for file in self.files}, {*known}
        if gone := [name for name in known if name not in files]:
            problem = "has been parsed, but is not in the input any more; put it back, or parse anew"
            raise FormatError(gone[0], 0, 0, f"{problem} into another directory")
        self.files = [files[name] for name in dict.fromkeys([*known, *planned, *files]) if name in files]
        self.sizes = [*map(_size, self.files)]

    @property
    def total(self) -> int:
        """Return how many bytes all files have."""
        return sum(self.sizes)

    @property
    def position(self) -> int:
        """Return how many bytes of the files were read, compressed ones in compressed bytes."""
        return min(self.total, self._before + self._here())

    def __iter__(self) -> Iterator[Record]:
        """Yield all records. Raises FormatError for a file that an earlier run read and that must be left out
        now; if strict, for each file that must be left out."""
        self._before, self.read, self.skipped, self.broken = 0, 0, {}, {}
        for file in self.others:
            self._leave_out(file, f"its name ends in none of {' '.join(_SUFFIXES)}", self.skipped)
        for file, size in zip(self.files, self.sizes, strict=True):
            try:
                self._check(file)
            except FormatError as error:
                self._leave_out(file, error.message, self.broken)
            else:
                yield from self._records(file, size)
            self._before, self._here = self._before + size, _nowhere

    def _check(self, file: Path) -> None:
        """Raise FormatError for a file that cannot be opened or, if it is Parquet or .gz, read to its end."""
        inputs.check_link(file)
        if format_of_records(file, self.options) == "parquet":
            deque(_tables(file, self.options), maxlen=0)
            return
        with open_input(file) as stream:
            while file.suffix == ".gz" and stream.buffer.read(_BEGINNING):
                pass

    def _leave_out(self, file: Path, why: str, among: dict[str, str]) -> None:
        if self.options.strict or str(file) in self._known:
            raise FormatError(str(file), 0, 0, why)
        among[str(file)] = why

    def _records(self, file: Path, size: int) -> Iterator[Record]:
        """Yield the records of a file; a file without records is left out."""
        name = format_of_records(file, self.options)
        records = self._rows(file, size) if name == "parquet" else self._lines(file, name)
        if (first := next(records, None)) is None:
            self._leave_out(file, "holds no text", self.skipped)
            return
        self.read += 1
        yield first
        yield from records

    def _lines(self, file: Path, name: str) -> Iterator[Record]:
        encoding = "utf-8" if name == TEXT else "utf-8-sig"  # in text a byte order mark is a character
        with open_input(file, encoding, "surrogateescape") as stream:
            self._here = lambda: os.lseek(stream.fileno(), 0, os.SEEK_CUR)
            if name == "conllu":
                yield from _blocks(stream, str(file))
            elif name == TEXT and KINDS[self.options.kind].split:
                yield from _paragraphs(stream, str(file), self.rules)
            else:
                for line in lines_of(stream):
                    if line.text.strip():
                        begin = line.begin if name == TEXT else 0
                        yield Record(str(file), line.number, line.text, str(file), name, begin)

    def _rows(self, file: Path, size: int) -> Iterator[Record]:
        """Yield rows of Parquet as lines of JSON."""
        number, rows = 0, 1
        self._here = lambda: size * number // rows
        for read, total in _tables(file, self.options):
            rows = total
            values = [_values(column) for column in read.columns]
            for row in zip(*values, strict=True):
                number += 1
                shown = json.dumps(dict(zip(read.schema.names, row, strict=True)), default=_decoded)
                yield Record(str(file), number, shown, str(file), "parquet")


def _tables(file: Path, options: CorpusOptions) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield columns of text and id, some rows at a time, with the number of all rows. Raises FormatError."""
    with opened_parquet(file) as opened:
        columns = _columns(opened.schema_arrow, options, str(file))
        for read in opened.iter_batches(_ROWS, columns=columns):
            yield read.select(columns), opened.metadata.num_rows


def _columns(schema: pa.Schema, options: CorpusOptions, file: str) -> list[str]:
    """Return the names of the columns of id, if there is one, and text. Raises FormatError where text is
    missing, or a column holds something else or is there twice."""
    if options.text_field not in schema.names:
        others = " ".join(schema.names)
        raise FormatError(file, 0, 0, f"has no column {options.text_field!r}, but {others}; see --text-field")
    holds = {options.text_field: (_is_text, "text"), options.id_field: (_is_id, "text or numbers")}
    columns = [name for name in dict.fromkeys((options.id_field, options.text_field)) if name in schema.names]
    for name in columns:
        if (times := schema.names.count(name)) > 1:
            raise FormatError(file, 0, 0, f"has {times} columns {name!r}, not one")
        fits, what = holds[name]
        kind = _undictionaried(schema.field(name).type)
        if not fits(kind) and not (
            name == options.text_field and _is_list(kind) and _is_text(kind.value_type)
        ):
            raise FormatError(file, 0, 0, f"the column {name!r} holds {kind}, not {what}")
    return columns


def _undictionaried(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    strings = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(strings or types.is_binary(kind) or types.is_large_binary(kind) or types.is_null(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_id(kind: pa.DataType) -> bool:
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return _is_text(kind) or bool(numbers)


def _values(column: pa.Array) -> list[Any]:
    """Return the values of a column; text as bytes, which are not always UTF-8."""
    kind = _undictionaried(column.type)
    if _is_text(kind):
        column = column.cast(kind).cast(pa.large_binary())
    elif _is_list(kind):
        column = column.cast(pa.large_list(pa.large_binary()))
    return cast(list[Any], column.to_pylist())


def _decoded(value: bytes) -> str:
    """Return bytes as text, with lone surrogates for what is not UTF-8."""
    return value.decode(errors="surrogateescape")


def _size(file: Path) -> int:
    """Return how many bytes a file has; 0 for a broken link."""
    return file.stat().st_size if file.exists() else 0


def _nowhere() -> int:
    return 0


def _blocks(stream: TextIO, file: str) -> Iterator[Record]:
    """Yield the sentences of CoNLL-U. A comment `newdoc id = X` names the document of those that follow;
    before any, and after a `newdoc` without an id, the document is the file."""
    document = file
    for _, block, chunk in blocks_of(lines_of(stream)):
        comments = [line.text[1:].strip() for line in block if line.text.startswith("#")]
        if begun := [comment for comment in comments if comment.partition(" ")[0] == "newdoc"]:
            document = comment_of(begun[-1:], "newdoc id") or file
        yield Record(file, chunk.line, chunk.text, document, "conllu", xpos=chunk.xpos)


def _paragraphs(stream: TextIO, file: str, rules: TextRules) -> Iterator[Record]:
    """Yield the paragraphs between empty lines; very long ones are cut between sentences."""

    for paragraph in split_paragraphs(lines_of(stream), rules):
        first = paragraph[0]
        yield Record(file, first.number, "".join(line.text for line in paragraph), file, TEXT, first.begin)
