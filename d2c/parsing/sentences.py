"""Sentences of files that may be treebanks, CoNLL-U, or what d2c has parsed: JSON lines of `d2c parse --to
json`, or the Parquet of `d2c corpus`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from d2c.base.errors import FormatError, Refusals, each_located, needs
from d2c.base.files import file_name
from d2c.base.inputs import is_called
from d2c.parsing.json_lines import PLAIN, read_json_lines, sentence_of_row
from d2c.parsing.options import JSON_LINES
from d2c.parsing.output import format_by_name
from d2c.parsing.sentence import Sentence
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.constituency import CONSTITUENCY
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES, treebank_in

_PARQUET = ".parquet"
PARSED = (*JSON_LINES, _PARQUET)  # how names of files end that d2c has parsed
_COLUMNS = ["file", "text", "tokens", "offsets", "tags", "bracket", "spans", "error"]
_ROWS = 1000  # of a table that are read at once


def content_of(file: Path, reading: Reading) -> str:
    """Return what a file holds by the format that is said, or by its name: `json`, `parquet` or `conllu`; ""
    for a treebank, which may be called so, too."""
    endings = {DTREE_SUFFIXES: "conllu", (_PARQUET,): "parquet"}
    named = (content for names, content in endings.items() if is_called(file, names))
    content = reading.format_name or format_by_name(file) or next(named, "")
    if content not in _READERS:
        return ""
    # What has both trees is CoNLL-U here.
    is_treebank = not reading.format_name and treebank_in(file) not in ("", CONSTITUENCY.name)
    return "" if is_treebank else content


def is_parsed(file: Path, reading: Reading) -> bool:
    """Return whether d2c has parsed what is in a file."""
    return content_of(file, reading) in ("json", "parquet")


def sentences_in(file: Path, reading: Reading, refusals: Refusals, dtrees: bool = True) -> Iterator[Sentence]:
    """Yield the sentences of a file, also those that could not be parsed. Raises FormatError.

    dtrees: of CoNLL-U, too; otherwise a file of that name is refused as a treebank is
    """
    content = content_of(file, reading)
    if content and (dtrees or content != "conllu"):
        return _READERS[content](file, refusals)
    ctrees = reading.transformed(reading.read(file, refusals), file, refusals)
    return (Sentence(ctree.tokens, ctree=ctree) for ctree in ctrees)


def numbered_sentences(file: Path, reading: Reading, as_named: bool = True) -> Iterator[tuple[int, Sentence]]:
    """Yield sentences with c-trees, each after its number: in the file, or, as_named, in the one that it
    names if it does.

    Those that could not be parsed are left out. Raises FormatError.
    """
    refusals, source, before = Refusals(reading.faults), "", 0
    sentences = refusals.over(sentences_in(file, reading, refusals, dtrees=False))
    for number, sentence in enumerate(sentences, 1):
        if as_named and sentence.file != source:
            source, before = sentence.file, number + refusals.count - 1
        if not sentence.error:
            yield number + refusals.count - before, sentence


def _dtrees(file: Path, refusals: Refusals) -> Iterator[Sentence]:
    return (Sentence(dtree.tokens, dtree=dtree) for dtree in read_conllu(file, refusals))


def _table(file: Path, refusals: Refusals) -> Iterator[Sentence]:
    return each_located(sentence_of_row, _rows(file), file_name(file), refusals)


_READERS: dict[str, Callable[[Path, Refusals], Iterator[Sentence]]] = {
    "json": read_json_lines,
    "parquet": _table,
    "conllu": _dtrees,
}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    parquet, arrow = needs("pyarrow.parquet"), needs("pyarrow")
    try:
        with parquet.ParquetFile(file) as opened:
            if missing := [name for name in _COLUMNS if name not in opened.schema_arrow.names]:
                raise FormatError(
                    str(file), 0, 0, f"no table of `d2c corpus`: it has no column {missing[0]!r}"
                )
            more = [name for name in PLAIN if name in opened.schema_arrow.names and name not in _COLUMNS]
            for batch in opened.iter_batches(_ROWS, columns=_COLUMNS + more):
                yield from batch.to_pylist()
    except (OSError, arrow.ArrowException) as error:
        raise FormatError(str(file), 0, 0, f"is no Parquet file that can be read: {error}") from None
