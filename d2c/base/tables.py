"""Tables, written row by row: TSV, CSV, JSON lines, Excel and Parquet for other programs, aligned columns for
people at a terminal. Parquet is opened to be read, too."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from d2c.base.columns import in_columns, in_context, terminal_width
from d2c.base.errors import FormatError, located, needs, printable
from d2c.base.files import open_binary_output, open_output
from d2c.base.inputs import ending_of, is_called

Columns = Mapping[str, type]  # the names, with what they hold: str, int, float, Before


class Before(str):
    """The words before a match. The match and the words after it are in the next two columns, the last."""


Put = Callable[[Mapping[str, Any]], None]  # takes a row; what it lacks, or has as None, is an empty cell

_ONE_LINE = str.maketrans("\t\n\r", "   ")
_FORMULAS = ("=", "+", "-", "@")
_SHEET_ROWS, _CELL = 1 << 20, 32_767  # the most of Excel: rows of a sheet, characters of a cell
_ROW_GROUP, _SCREEN = 1 << 14, 20  # rows that are written together: to Parquet, in aligned columns


@contextmanager
def _separated(dialect: str, output: Path, columns: Columns, safe: bool) -> Iterator[Put]:
    with open_output(output) as stream:
        table, begun = csv.writer(stream, dialect, lineterminator="\n"), False

        def put(row: Mapping[str, Any]) -> None:
            nonlocal begun
            if not begun:  # input that cannot be read fails before the names of the columns are printed
                table.writerow(columns)
                begun = True
            table.writerow([_cell(row.get(name), safe) for name in columns])

        yield put
        if not begun:
            table.writerow(columns)


def _cell(value: Any, safe: bool) -> str:
    """Return the text of a cell, on one line; `safe`: no spreadsheet takes it for a formula."""
    text = "" if value is None else str(value).translate(_ONE_LINE)
    return f"'{text}" if safe and isinstance(value, str) and text.startswith(_FORMULAS) else text


@contextmanager
def _aligned(output: Path, columns: Columns, _safe: bool) -> Iterator[Put]:
    """Write screens of rows, each aligned by itself, without the columns that are empty there."""
    rows: list[list[str]] = []
    width = terminal_width() if str(output) == "-" else None
    context = Before in columns.values()
    with open_output(output) as stream:

        def flush() -> None:
            all_used = context or not rows
            used = [k for k, name in enumerate(columns) if all_used or any(row[k] for row in rows)]
            names = [*columns]
            texts = [i for i, k in enumerate(used) if columns[names[k]] is str]
            table = [[row[k] for k in used] for row in (names, *rows)]
            lines = in_context(table, width, texts) if context else in_columns(table, width, texts, 2)
            stream.writelines(line + "\n" for line in lines)
            rows.clear()

        def put(row: Mapping[str, Any]) -> None:
            if len(rows) == _SCREEN:
                flush()
                stream.write("\n")
            rows.append([printable(_cell(row.get(name), False)) for name in columns])

        yield put
        flush()


@contextmanager
def _json(output: Path, _columns: Columns, _safe: bool) -> Iterator[Put]:
    with open_output(output) as stream:

        def put(row: Mapping[str, Any]) -> None:
            given = {name: value for name, value in row.items() if value is not None}
            stream.write(json.dumps(given, ensure_ascii=False) + "\n")

        yield put


@contextmanager
def _excel(output: Path, columns: Columns, _safe: bool) -> Iterator[Put]:
    cells, writer = needs("openpyxl.cell.cell", "tables"), needs("openpyxl.writer.excel", "tables")
    book = needs("openpyxl", "tables").Workbook(write_only=True)
    sheet, count = book.create_sheet(), 0

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        text = cells.ILLEGAL_CHARACTERS_RE.sub(" ", value.translate(_ONE_LINE))
        if len(text) > _CELL:
            raise ValueError(f"a cell of Excel holds {_CELL:,} characters; write .csv or .parquet")
        made = cells.WriteOnlyCell(sheet, text)
        made.data_type = "s"  # also what looks like a formula
        return made

    def put(row: Mapping[str, Any]) -> None:
        nonlocal count
        count += 1
        if count > _SHEET_ROWS:
            raise ValueError(f"a sheet of Excel has {_SHEET_ROWS:,} rows; write .csv or .parquet")
        sheet.append([cell(row.get(name)) for name in columns])

    with open_binary_output(output) as stream, located(str(output)):
        try:
            put({name: name for name in columns})
            yield put
            with ZipFile(packed := BytesIO(), "w", ZIP_DEFLATED) as archive:  # seeks, which .gz cannot
                writer.ExcelWriter(book, archive).save()
            stream.write(packed.getbuffer())
        finally:
            with suppress(Exception):  # it may be closed; left open, it complains later
                sheet.close()


@contextmanager
def _parquet(output: Path, columns: Columns, _safe: bool) -> Iterator[Put]:
    pa, parquet = needs("pyarrow", "tables"), needs("pyarrow.parquet", "tables")
    types = {str: pa.string(), Before: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    rows: list[Mapping[str, Any]] = []
    with open_binary_output(output) as stream, parquet.ParquetWriter(stream, schema) as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(rows, schema))
            rows.clear()

        def put(row: Mapping[str, Any]) -> None:
            rows.append(row)
            if len(rows) == _ROW_GROUP:
                flush()

        yield put
        flush()


@contextmanager
def opened_parquet(file: Path) -> Iterator[Any]:
    """Open a file of Parquet. Raises FormatError where it cannot be read, now or while the block runs."""
    parquet, arrow = needs("pyarrow.parquet"), needs("pyarrow")
    try:
        with parquet.ParquetFile(file, page_checksum_verification=True) as opened:
            yield opened
    except (OSError, arrow.ArrowException, UnicodeDecodeError) as error:  # the last one: of a column's name
        raise FormatError(str(file), 0, 0, f"is no Parquet file that can be read: {error}") from None


class TableFormat(NamedTuple):
    """A format. suffixes: of file names; opened: begins a table, given whether cells must be no formulas"""

    suffixes: tuple[str, ...]
    opened: Callable[[Path, Columns, bool], AbstractContextManager[Put]]


TABLES = {
    "tsv": TableFormat((".tsv",), partial(_separated, "excel-tab")),
    "csv": TableFormat((".csv",), partial(_separated, "excel")),
    "json": TableFormat((".jsonl", ".json"), _json),
    "xlsx": TableFormat((".xlsx",), _excel),
    "parquet": TableFormat((".parquet",), _parquet),
    "columns": TableFormat((), _aligned),
}


def table_format(output: Path) -> str:
    """Return the format that a file's name says; without an ending, columns on a terminal, otherwise tsv.

    Raises FormatError for other endings.
    """
    if str(output) == "-" and terminal_width():
        return "columns"
    for name, known in TABLES.items():
        if is_called(output, known.suffixes):
            return name
    if ending_of(output):
        endings = " ".join(suffix for known in TABLES.values() for suffix in known.suffixes)
        raise FormatError(str(output), 0, 0, f"no table is called so; say --to, or one of {endings}")
    return "tsv"
