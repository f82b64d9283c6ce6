"""The table of parsed sentences: its schema, rows of sentences, and its bytes as Parquet.

The writer's settings are fixed, and nothing in a file says when or by which process it was made, so the same
sentences give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as parquet

from d2c.base.errors import FormatError
from d2c.corpora.records import Record
from d2c.parsing.json_lines import FIELDS
from d2c.parsing.output import OUTPUTS
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import Tokens

_LEVEL = 3  # of zstd

TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "strings": pa.list_(pa.string()),
    "numbers": pa.list_(pa.int32()),
    "ranges": pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())])),
    "spans": pa.list_(
        pa.struct(
            [
                ("label", pa.string()),
                ("start", pa.int32()),
                ("end", pa.int32()),
                ("head", pa.int32()),
                ("confidence", pa.float32()),
            ]
        )
    ),
}
_COLUMNS = {one.name: one for one in FIELDS if one.arrow}
# The first columns, in the order that they have had from the start; newer columns come after these.
_FIRST = (
    "document_id",
    "sentence_id",
    "file",
    "line",
    "text",
    "start",
    "end",
    "tokens",
    "offsets",
    "tags",
    "heads",
    "bracket",
    "spans",
    "error",
)
SCHEMA = pa.schema(  # docs/corpora.md says what each column holds
    [(name, TYPES[_COLUMNS[name].arrow]) for name in dict.fromkeys((*_FIRST, *_COLUMNS))]
)


def table_of(sentences: Sequence[Sentence], bracket: str) -> pa.Table:
    """Return a table with a row for each sentence. bracket: the format of trees, one of `output.OUTPUTS`"""
    return pa.Table.from_pylist([_row(sentence, bracket) for sentence in sentences], schema=SCHEMA)


def lost(record: Record, why: str) -> pa.Table:
    """Return a table with one row, for a record that could not even be cut into sentences."""
    id, error = f"{record.file}:{record.line}.1", FormatError(record.file, record.line, 0, why)
    sentence = Sentence(Tokens((), ()), record.file, record.line, document=record.document, id=id)
    return table_of([sentence.failed(error)], "brackets")


def _row(sentence: Sentence, bracket: str) -> dict[str, Any]:
    text = None
    try:
        text = None if sentence.error else OUTPUTS[bracket].text(sentence).rstrip("\n")
    except ValueError as fault:
        sentence = sentence.failed(FormatError(sentence.file, sentence.line, 0, str(fault)))
    values = {name: column.column(sentence) for name, column in _COLUMNS.items()} | {"bracket": text}
    return {name: _clean(value) if isinstance(value, str) else value for name, value in values.items()}


def _clean(text: str) -> str:
    """Return text with lone surrogates, which names of files may have, escaped: UTF-8 cannot hold them, and
    names that differ only in them stay different."""
    return text.encode("utf-8", "backslashreplace").decode()


def write_parquet(table: pa.Table, stream: BinaryIO) -> None:
    """Write a table. One of a single chunk gives the same bytes, whatever pieces it was made of."""
    size = max(1, table.num_rows)
    how = {"compression": "zstd", "compression_level": _LEVEL, "write_page_checksum": True}
    parquet.write_table(table, stream, row_group_size=size, **how)


def read_parquet(path: Path) -> pa.Table:
    """Return what `write_parquet` wrote, so that it makes the same bytes again."""
    return parquet.read_table(path, page_checksum_verification=True).cast(SCHEMA)
