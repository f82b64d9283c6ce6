"""Records, from which workers make sentences. The first process only reads them and hands them on.

A record is a line of text, a paragraph of free text, a block of CoNLL-U, or a document: a JSON object or a
row of Parquet. Cutting words and sentences takes longer than reading, so the workers do it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import FormatError
from d2c.base.files import NOT_UTF8
from d2c.corpora.options import CorpusOptions
from d2c.parsing.input import KINDS, lines_of, sentence_of_words, sentences_of, sentences_of_conllu
from d2c.parsing.options import TAGGED_NAMES, TEXT_NAMES
from d2c.parsing.output import format_by_name
from d2c.parsing.sentence import Sentence, refused
from d2c.parsing.text import PENN
from d2c.protocols.dparser import TextRules
from d2c.trees.ctree import comment_of
from d2c.trees.formats.format import check_text

_SENTENCE = 100  # characters, about: for cutting shards before sentences are known
_WORD = 6  # characters, about, with the blank after it


class FileFormat(NamedTuple):
    """A format of files, known by the endings of their names.

    tagged: its records are sentences that have words and tags; documents: its records have fields
    """

    suffixes: tuple[str, ...]
    tagged: bool = False
    documents: bool = False


TEXT = "text"
RECORDS = {
    TEXT: FileFormat(TEXT_NAMES),
    "conllu": FileFormat(TAGGED_NAMES, tagged=True),
    "jsonl": FileFormat((".jsonl", ".ndjson", ".json"), documents=True),
    "parquet": FileFormat((".parquet",), documents=True),
}


def format_of_records(file: Path, options: CorpusOptions) -> str:
    """Return the format of a file, one of RECORDS: the given one, else the one of its name, else text."""
    return options.format_name or format_by_name(file, RECORDS) or TEXT


class Record(NamedTuple):
    """A piece of the input.

    line:     the line where it begins, from 1; in Parquet, the number of the row
    document: the id of its document, as far as that is known without looking into the text
    format:   the format of the file, one of RECORDS; the text of a row of Parquet is JSON
    begin:    how many characters of the file are before it, a line break being one; 0 for a document
    xpos:     whether this record and those before it show that UPOS and XPOS of the file hold two tagsets
    """

    file: str
    line: int
    text: str
    document: str
    format: str
    begin: int = 0
    xpos: bool = False

    def size(self, kind: str) -> int:
        """Return about how many sentences it has; exactly 1 for a line or a block of CoNLL-U."""
        form = RECORDS[self.format]
        one = form.tagged or not (form.documents or KINDS[kind].split)
        return 1 if one else 1 + len(self.text) // _SENTENCE

    @property
    def words(self) -> int:
        """Return about how many words it has."""
        return self.text.count("\n") if RECORDS[self.format].tagged else len(self.text) // _WORD


def sentences_of_record(
    record: Record, options: CorpusOptions, rules: TextRules = PENN
) -> Iterator[Sentence]:
    """Yield the sentences of a record, with their file, line, document and id; offsets are counted in the
    file or, for a document, in its text. What cannot be read becomes a sentence that says so.
    """
    name, document, form = f"{record.file}:{record.line}", record.document, RECORDS[record.format]
    if form.documents:
        given, sentences = _document(record, options, rules)
        document = given or name
    elif form.tagged:
        lines = lines_of(io.StringIO(record.text), mark="")
        sentences = sentences_of_conllu(lines, record.file, record.xpos)
    else:
        sentences = sentences_of(io.StringIO(record.text), options.kind, rules, record.file)
    for number, sentence in enumerate(sentences, 1):
        offsets = sentence.offsets
        yield replace(
            sentence,
            file=record.file,
            line=record.line if form.documents else record.line + sentence.line - 1,
            offsets=offsets and tuple([(record.begin + start, record.begin + end) for start, end in offsets]),
            document=document,
            id=comment_of(sentence.tokens.comments, "sent_id") or f"{name}.{number}",
        )


def _document(record: Record, options: CorpusOptions, rules: TextRules) -> tuple[str, Iterator[Sentence]]:
    """Return the id of a document, "" if it has none, and its sentences."""

    def wrong(why: str) -> Sentence:
        return refused(FormatError(record.file, record.line, 0, why))

    def named(sentence: Sentence) -> Sentence:
        error = sentence.error
        return wrong(f"{options.text_field!r}: {error.message}") if error else sentence

    try:
        values = json.loads(record.text.rstrip())
    except (ValueError, RecursionError) as error:
        why = str(error)
        if isinstance(error, json.JSONDecodeError):  # its lines are not the file's
            why = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        return "", iter([wrong(f"not JSON: {why}")])
    if not isinstance(values, dict):
        return "", iter([wrong("not an object of JSON")])
    document = "" if values.get(options.id_field) is None else str(values[options.id_field])
    try:
        check_text(document)
    except ValueError:
        return "", iter([wrong(f"{options.id_field!r}: {NOT_UTF8}")])
    if (name := options.text_field) not in values:
        return document, iter([wrong(f"there is no {name!r}; --text-field names another field")])
    text: Any = values[name]
    if isinstance(text, str):
        lines = io.StringIO(text, newline="")
        return document, map(named, sentences_of(lines, options.kind, rules, record.file))
    if isinstance(text, list) and all(isinstance(form, str) for form in text):
        return document, iter([named(sentence_of_words(record.file, record.line, tuple(text)))])
    return document, iter([wrong(f"{name!r} is neither text nor a list of words")])
