"""Sentences of files that may be treebanks, or JSON lines that `d2c parse --to json` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d2c.base.errors import Refusals
from d2c.parsing.json_lines import ReadSentence, read_json_lines
from d2c.parsing.output import format_by_name
from d2c.treebanks.reading import Reading


def is_json(file: Path, reading: Reading) -> bool:
    """Return whether a file is JSON lines, by the format that is said, or by its name."""
    return (reading.format_name or format_by_name(file)) == "json"


def read_sentences(file: Path, reading: Reading) -> Iterator[tuple[int, ReadSentence]]:
    """Yield sentences, each after its number: in the file, or, of JSON lines that say it, in their file.

    Those that could not be parsed are left out. Raises FormatError.
    """
    refusals, source, before = Refusals(reading.faults), "", 0
    if is_json(file, reading):
        sentences = refusals.over(read_json_lines(file, refusals))
    else:
        sentences = map(ReadSentence, reading(file, refusals))
    for number, sentence in enumerate(sentences, 1):
        if sentence.file != source:
            source, before = sentence.file, number + refusals.count - 1
        if not sentence.error:
            yield number + refusals.count - before, sentence
