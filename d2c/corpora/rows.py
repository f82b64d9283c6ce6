"""The table of parsed sentences: its schema, rows of sentences, and its bytes as Parquet.

Settings of the writer are fixed, and nothing in a file says when or by what process it was made, so the same
sentences are the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as parquet

from d2c.corpora.records import NO_SENTENCE, PlacedSentence, Record
from d2c.parsing.json_lines import tree_to_json
from d2c.parsing.output import FORMATS
from d2c.parsing.parsed import Parsed
from d2c.trees.formats.conllu import comment_of

_LEVEL = 3  # of zstd

_RANGE = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_SPAN = pa.struct(
    [
        ("label", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("head", pa.int32()),
        ("confidence", pa.float32()),
    ]
)
SCHEMA = pa.schema(  # docs/corpora.md says what each column holds
    [
        ("document_id", pa.string()),
        ("sentence_id", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("text", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("tokens", pa.list_(pa.string())),
        ("offsets", pa.list_(_RANGE)),
        ("tags", pa.list_(pa.string())),
        ("heads", pa.list_(pa.int32())),
        ("bracket", pa.string()),
        ("spans", pa.list_(_SPAN)),
        ("error", pa.string()),
    ]
)


def table_of(
    items: Sequence[PlacedSentence], parsed: Sequence[Parsed | None], bracket: str, error: str = ""
) -> pa.Table:
    """Return a row for each sentence.

    parsed:  what became of it; None: nothing, for this `error`, unless the sentence itself has one
    bracket: one of `output.FORMATS`
    """
    rows = [_row(item, one, bracket, error) for item, one in zip(items, parsed, strict=True)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def lost(record: Record, error: str) -> pa.Table:
    """Return the row of a record of which not even the sentences could be found."""
    name = f"{record.file}:{record.line}.1"
    row = _empty(PlacedSentence(NO_SENTENCE, record.document, name, record.file, record.line), error)
    return pa.Table.from_pylist([row], schema=SCHEMA)


def _row(item: PlacedSentence, parsed: Parsed | None, bracket: str, error: str) -> dict[str, Any]:
    if item.sentence.error or parsed is None:
        return _empty(item, item.sentence.error.message if item.sentence.error else error)
    ctree, dtree = parsed.ctree, parsed.dtree
    assert ctree is not None and dtree is not None
    try:
        text = FORMATS[bracket].text(parsed).rstrip("\n")
    except ValueError as fault:
        return _empty(item, str(fault))
    shown = tree_to_json(ctree, parsed.confidences)  # more than the table has: places in a text
    offsets = [{"start": start, "end": end} for start, end in _offsets(item)] or None
    return _place(item) | shown | {"offsets": offsets, "heads": dtree.heads, "bracket": text}


def _empty(item: PlacedSentence, error: str) -> dict[str, Any]:
    said = " ".join(error.split()) or "cannot be parsed"
    return _place(item) | {"tokens": [], "tags": [], "heads": [], "spans": [], "error": _clean(said)}


def _place(item: PlacedSentence) -> dict[str, Any]:
    sentence, offsets = item.sentence, _offsets(item)
    text = sentence.text or comment_of(sentence.tokens.comments, "text") or None
    ids = {"document_id": _clean(item.document), "sentence_id": _clean(item.id)}
    place = ids | {"file": _clean(item.file), "line": item.line, "text": text}
    return place | ({"start": offsets[0][0], "end": offsets[-1][1]} if offsets else {})


def _offsets(item: PlacedSentence) -> list[tuple[int, int]]:
    """Return those of a sentence's words, in its file or its document's text; none where it has none."""
    return [(item.begin + start, item.begin + end) for start, end in item.sentence.offsets or ()]


def _clean(text: str) -> str:
    """Return text in which halves of characters, as names of files may have, are escaped: UTF-8 cannot hold
    them, and names that differ in them alone stay two."""
    return text.encode("utf-8", "backslashreplace").decode()


def write_parquet(tables: Sequence[pa.Table], stream: BinaryIO) -> pa.Table:
    """Write tables as one, whatever pieces they came in, and return it."""
    table = pa.concat_tables(tables).combine_chunks()
    parquet.write_table(
        table, stream, compression="zstd", compression_level=_LEVEL, row_group_size=max(1, table.num_rows)
    )
    return table


def read_parquet(path: Path) -> pa.Table:
    """Return what `write_parquet` wrote, so that it makes the same bytes again."""
    return parquet.read_table(path).cast(SCHEMA)
