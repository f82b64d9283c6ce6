"""Files and directories as a stream of records. What a name says: text, JSON lines, CoNLL-U or Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TextIO

import pyarrow.parquet as parquet
from pyarrow import ArrowException

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
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = [file for file in _below(path, output) if format_name or format_of(file)]
            if not inside:
                known = " ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
                raise FormatError(str(path), 0, 0, f"no file in it is called {known}; say --format")
            found |= dict.fromkeys(inside)
        elif path.is_file():
            found[path] = None
        else:
            raise FormatError(str(path), 0, 0, "cannot be read: No such file or directory")
    return [*found]


def _below(directory: Path, output: Path) -> Iterator[Path]:
    out = output.resolve()
    for path in sorted(directory.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(directory).parts)
        if not hidden and path.is_file() and out not in path.resolve().parents:
            yield path


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
                known, rows = opened.schema_arrow.names, opened.metadata.num_rows
                if fields.text not in known:
                    raise FormatError(
                        str(file), 0, 0, f"has no column {fields.text!r}, but {' '.join(known)}"
                    )
                self._here = lambda: size * number // max(1, rows)
                columns = [name for name in (fields.document, fields.text) if name in known]
                for rows_read in opened.iter_batches(_ROWS, columns=columns):
                    for row in rows_read.to_pylist():
                        number += 1
                        yield Record(str(file), number, json.dumps(row, default=str), str(file), "parquet")
        except (OSError, ArrowException) as error:
            raise FormatError(str(file), 0, 0, f"is no Parquet file that can be read: {error}") from None


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
