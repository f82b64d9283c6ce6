"""Treebank files in chunks: runs of whole sentences that can be parsed apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from d2c.trees.errors import FormatError

CHUNK_SIZE = 1 << 18  # characters

Sentence = TypeVar("Sentence")


class Chunk(NamedTuple):
    """Some whole sentences of a file; line is the number of the first line of the text."""

    line: int
    text: str


def parse_chunks(
    chunks: Iterable[Chunk], parse: Callable[[Chunk, str], Iterator[Sentence]], file: str
) -> Iterator[Sentence]:
    """The sentences of all chunks. Errors of `parse` count sentences from the chunk's beginning; here they
    are counted from the file's. Raises FormatError where there is no sentence at all."""
    count = 0
    for chunk in chunks:
        before = count
        try:
            for sentence in parse(chunk, file):
                count += 1
                yield sentence
        except FormatError as error:
            raise error.after(before) from None
    if not count:
        raise FormatError(file, 1, 0, "no sentence found in this file")
