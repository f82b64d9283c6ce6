"""Streams in pieces: chunks of whole sentences that can be parsed apart, what holds one tree each, batches.

Here errors get the file, the line and the sentence that they are in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TextIO, TypeVar

from d2c.base.errors import FormatError, Refuse, stop
from d2c.base.files import AnyPath, file_name

CHUNK_SIZE = 1 << 18  # characters

Tree = TypeVar("Tree")  # of a sentence: a c-tree, a d-tree
Item = TypeVar("Item")
Read = Callable[..., Iterator[Tree]]
Write = Callable[[Iterable[Tree], TextIO], None]


class Chunk(NamedTuple):
    """Some whole sentences of a file; line is the number of the first line of the text."""

    line: int
    text: str


def parse_chunks(
    chunks: Iterable[Chunk],
    parse: Callable[[Chunk, str, Refuse], Iterator[Tree]],
    file: str,
    refuse: Refuse = stop,
) -> Iterator[Tree]:
    """Yield the sentences of all chunks. Errors of `parse` count sentences from the chunk's beginning;
    here they are counted from the file's. Raises FormatError where there is no sentence at all."""
    count = before = 0

    def counted(error: FormatError) -> None:
        nonlocal count
        count += 1
        refuse(error.after(before))

    for chunk in chunks:
        before = count
        for tree in parse(chunk, file, counted):
            count += 1
            yield tree
    if not count:
        raise _no_sentence(file)


def parse_each(
    items: Iterable[tuple[int, Item | Malformed]],
    parse: Callable[[Item], Tree | None],
    file: str,
    refuse: Refuse = stop,
) -> Iterator[Tree]:
    """Yield the trees of items, each after the number of its first line; items without a tree are left out.

    Refuses an item where `parse` raises ValueError, and one that is itself a Malformed. Raises FormatError
    where there is no sentence at all.
    """
    any_sentence = False
    for sentence, (line, item) in enumerate(items, 1):
        try:
            if isinstance(item, Malformed):
                raise item
            tree = parse(item)
        except ValueError as error:
            line += getattr(error, "lines", 0)
            any_sentence = True
            refuse(FormatError(file, line, sentence, str(error)))
            continue
        if tree is not None:
            any_sentence = True
            yield tree
    if not any_sentence:
        raise _no_sentence(file)


def chunk_reader(
    chunks: Callable[[AnyPath], Iterable[Chunk]], parse: Callable[..., Iterator[Tree]]
) -> Read[Tree]:
    """Return a reader: a function that yields the trees of a file (`-`: standard input), one at a time.

    It takes the path, `refuse` and the options of `parse`, which parses a chunk. Raises FormatError.
    """

    def read(path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return parse_chunks(chunks(path), partial(parse, **options), file_name(path), refuse)

    return read


def item_reader(
    items: Callable[[AnyPath], Iterable[tuple[int, Any]]], parse: Callable[..., Tree | None]
) -> Read[Tree]:
    """Return a reader of a file of items; arguments and errors as of `chunk_reader`."""

    def read(path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return parse_each(items(path), partial(parse, **options), file_name(path), refuse)

    return read


def batches(stream: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of so many elements, the last one perhaps of fewer; one list is held at a time."""
    rest = iter(stream)
    while batch := [*islice(rest, size)]:
        yield batch


def writer(text: Callable[[Tree, int], str], before: str = "", after: str = "") -> Write[Tree]:
    """Make a function that writes trees into a stream: the text of each, with its number from 1."""

    def write(trees: Iterable[Tree], stream: TextIO) -> None:
        stream.write(before)
        for number, tree in enumerate(trees, 1):
            stream.write(text(tree, number))
        stream.write(after)

    return write


class Malformed(ValueError):
    """A fault of a text, so many lines below its beginning."""

    def __init__(self, message: str, lines: int = 0) -> None:
        super().__init__(message)
        self.lines = lines


def _no_sentence(file: str) -> FormatError:
    return FormatError(file, 1, 0, "no sentence found in this file")
