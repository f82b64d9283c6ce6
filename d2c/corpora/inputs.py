"""Files and directories as a stream of records. What a name says: text, JSON lines, CoNLL-U or Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO, cast

import pyarrow as pa
import pyarrow.parquet as parquet
from pyarrow import ArrowException, types

from d2c.base import inputs
from d2c.base.errors import FormatError
from d2c.base.files import open_input
from d2c.corpora.records import FORMATS, TEXT, Fields, Record
from d2c.dparsers.protocol import TextRules
from d2c.parsing.input import KINDS
from d2c.parsing.text import PENN, Line, SentenceSplitter
from d2c.trees.formats.conllu import comment_of

_ROWS = 1024  # of Parquet that are read at a time


def format_of(path: Path) -> str | None:
    """Return the format that the name of a file says."""
    suffix = Path(path.name.removesuffix(".gz")).suffix
    return next((name for name, form in FORMATS.items() if suffix in form.suffixes), None)


def find_files(paths: Iterable[Path], format_name: str | None, output: Path) -> list[Path]:
    """Return the files, and those in directories, each once; the same order on every machine.

    format_name: of all of them; None: by their names. Others in directories are left out then, and files that
                 are named are text. Hidden files, and those below `output`, are left out.
    Raises FormatError for what is not there.
    """
    suffixes = tuple(suffix for form in FORMATS.values() for suffix in form.suffixes)
    files = [*inputs.find_files(paths, None if format_name else suffixes, output)]
    for file in files:
        if not file.is_file():  # a pipe cannot be read again
            raise FormatError(str(file), 0, 0, "cannot be read: No such file or directory")
    return files


@dataclass
class Inputs:
    """A stream of records, which can be gone through again; `position` says how far it is.

    kind: one of `input.KINDS`, of text; rules: cut long paragraphs
    """

    files: list[Path]
    format_name: str | None = None
    kind: str = TEXT
    fields: Fields = Fields()
    rules: TextRules = PENN
    sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = [file.stat().st_size for file in self.files]
        self._before, self._here = 0, _nowhere

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes)

    @property
    def position(self) -> int:
        """Bytes that were read, as the files have them."""
        return min(self.total, self._before + self._here())

    def __iter__(self) -> Iterator[Record]:
        """Raises FormatError for a file that cannot be read."""
        self._before = 0
        for file, size in zip(self.files, self.sizes, strict=True):
            name = self.format_name or format_of(file) or TEXT
            yield from self._parquet(file, size) if name == "parquet" else self._lines(file, name)
            self._before, self._here = self._before + size, _nowhere

    def _lines(self, file: Path, name: str) -> Iterator[Record]:
        with open_input(file, errors="surrogateescape") as stream:
            self._here = lambda: os.lseek(stream.fileno(), 0, os.SEEK_CUR)
            if name == "conllu":
                yield from _blocks(stream, str(file))
            elif name == TEXT and KINDS[self.kind].split:
                yield from _paragraphs(stream, str(file), self.rules)
            else:
                for number, line in enumerate(stream, 1):
                    if line.strip():
                        yield Record(str(file), number, line, str(file), name)

    def _parquet(self, file: Path, size: int) -> Iterator[Record]:
        """Yield rows as lines of JSON."""
        number, fields = 0, self.fields
        try:
            with parquet.ParquetFile(file) as opened:
                schema, rows = opened.schema_arrow, opened.metadata.num_rows
                columns = _columns(schema, fields, str(file))
                self._here = lambda: size * number // max(1, rows)
                for read in opened.iter_batches(_ROWS, columns=columns):
                    values = [_values(read.column(name)) for name in columns]
                    for row in zip(*values, strict=True):
                        number += 1
                        shown = json.dumps(dict(zip(columns, row, strict=True)), default=_decoded)
                        yield Record(str(file), number, shown, str(file), "parquet")
        except (OSError, ArrowException) as error:
            raise FormatError(str(file), 0, 0, f"is no Parquet file that can be read: {error}") from None


def _columns(schema: pa.Schema, fields: Fields, file: str) -> list[str]:
    """Return the columns of text and id. Raises FormatError where one holds something else, or is missing."""
    if fields.text not in schema.names:
        raise FormatError(file, 0, 0, f"has no column {fields.text!r}, but {' '.join(schema.names)}")
    holds = {fields.text: (_is_text, "text"), fields.document: (_is_id, "text or numbers")}
    columns = [name for name in dict.fromkeys((fields.document, fields.text)) if name in schema.names]
    for name in columns:
        fits, what = holds[name]
        kind = _undictionaried(schema.field(name).type)
        if not fits(kind) and not (name == fields.text and _is_list(kind) and _is_text(kind.value_type)):
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
    """Return bytes as text, in which halves of characters stand for what is not UTF-8."""
    return value.decode(errors="surrogateescape")


def _nowhere() -> int:
    return 0


def _blocks(stream: TextIO, file: str) -> Iterator[Record]:
    """Yield the sentences of CoNLL-U; a comment `newdoc id = X` says the document of those that follow."""
    document = file
    for empty, block in groupby(enumerate(stream, 1), lambda numbered: not numbered[1].strip()):
        if not empty:
            lines = [*block]
            comments = [text[1:].strip() for _, text in lines if text.startswith("#")]
            document = comment_of(comments, "newdoc id") or document
            yield Record(file, lines[0][0], "".join(text for _, text in lines), document, "conllu")


def _paragraphs(stream: TextIO, file: str, rules: TextRules) -> Iterator[Record]:
    """Yield what stands between empty lines; what is very long is cut between sentences."""

    def lines() -> Iterator[Line]:
        begin = 0
        for number, text in enumerate(stream, 1):
            yield Line(number, begin, text)
            begin += len(text)

    for paragraph in SentenceSplitter(rules).paragraphs(lines()):
        yield Record(file, paragraph[0].number, "".join(line.text for line in paragraph), file, TEXT)
