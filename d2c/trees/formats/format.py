"""From files to sentences and back: items that hold sentences, their trees, text for each tree.

Here errors get the file, the line and the sentence that they are in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TextIO, TypeVar

from d2c.base.errors import FormatError, Refuse, stop
from d2c.base.files import AnyPath, file_name

Tree = TypeVar("Tree")  # of a sentence: a c-tree, a d-tree
Item = TypeVar("Item")
Read = Callable[..., Iterator[Tree]]
Write = Callable[[Iterable[Tree], TextIO], None]


class Malformed(ValueError):
    """A fault of an item, so many lines below its beginning."""

    def __init__(self, message: str, lines: int = 0) -> None:
        super().__init__(message)
        self.lines = lines


@dataclass(frozen=True)
class Reader(Generic[Tree]):
    """Yields the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    items: of a path, each after the number of its first line; one may be what is wrong with it, a ValueError
    trees: of an item, by options; None for one that is no sentence. Raises ValueError
    """

    items: Callable[[AnyPath], Iterable[tuple[int, Any]]]
    trees: Callable[..., Iterable[Tree | None]]

    def __call__(self, path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return parse_all(self.items(path), partial(self.trees, **options), file_name(path), refuse)


def item_reader(
    items: Callable[[AnyPath], Iterable[tuple[int, Any]]], parse: Callable[..., Tree | None]
) -> Reader[Tree]:
    """Return a reader of items that hold one sentence each, or none."""
    return Reader(items, lambda item, **options: (parse(item, **options),))


def parse_all(
    items: Iterable[tuple[int, Item | ValueError]],
    parse: Callable[[Item], Iterable[Tree | None]],
    file: str,
    refuse: Refuse = stop,
    is_part: bool = False,
) -> Iterator[Tree]:
    """Yield the trees of items; refuse, with line and sentence, an item where `parse` raises ValueError.

    Raises FormatError where there is no sentence at all, unless the items are part of a file.
    """
    sentences = 0
    for line, item in items:
        try:
            if isinstance(item, ValueError):
                raise item
            for tree in parse(item):
                if tree is not None:
                    sentences += 1
                    yield tree
        except ValueError as error:
            sentences += 1
            refuse(FormatError(file, line + getattr(error, "lines", 0), sentences, str(error)))
    if not sentences and not is_part:
        raise FormatError(file, 1, 0, "no sentence found in this file")


def parse_each(
    items: Iterable[tuple[int, Item | ValueError]],
    parse: Callable[[Item], Tree | None],
    file: str,
    refuse: Refuse = stop,
) -> Iterator[Tree]:
    """Yield the trees of items that hold one sentence each, or none; see `parse_all`."""
    return parse_all(items, lambda item: (parse(item),), file, refuse)


def writer(text: Callable[[Tree, int], str], before: str = "", after: str = "") -> Write[Tree]:
    """Make a function that writes trees into a stream: the text of each, with its number from 1."""

    def write(trees: Iterable[Tree], stream: TextIO) -> None:
        stream.write(before)
        for number, tree in enumerate(trees, 1):
            stream.write(text(tree, number))
        stream.write(after)

    return write
