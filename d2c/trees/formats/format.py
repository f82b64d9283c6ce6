"""What a file format of trees is: a reader, a writer, the names of its files, and what they can hold.

From files to sentences and back: a reader takes items, which hold sentences, from a file, and trees from each
item; a writer has a text for each tree. Errors get the file, the line and the sentence that they are in. What
no file can hold is told before it is written; numbers in files are bounded before they are read: a few bytes
never ask for much time or memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TextIO, TypeVar

from d2c.base.errors import FormatError, Refuse, stop
from d2c.base.files import AnyPath, file_name
from d2c.trees.cleaning import WRAPPERS
from d2c.trees.ctree import CTree

Tree = TypeVar("Tree")  # of a sentence: a c-tree, a d-tree
Item = TypeVar("Item")

Attribute = Literal[
    "gaps",
    "heads",
    "lemmas",
    "morphology",
    "grammatical functions",  # apart from labels
    "secondary edges",
    "traces",
    "comments",
    "brackets",  # round ones in tags, which are read back as they were
    "blanks",  # in words, tags and labels
]
"""What some files hold beside the words, tags and labels of continuous trees."""

OF_GRAPHS: tuple[Attribute, ...] = (
    "gaps",
    "heads",
    "lemmas",
    "morphology",
    "grammatical functions",
    "secondary edges",
    "brackets",
)
"""What the formats of graphs hold."""


MOST_DIGITS = 18  # of a number in a file; nothing has as many words, nodes or lines
_DIGITS = re.compile("[0-9]+")


class Malformed(ValueError):
    """A fault of an item, so many lines below its beginning."""

    def __init__(self, message: str, lines: int = 0) -> None:
        super().__init__(message)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Options:
    """How trees are read. A format ignores what it has none of.

    clean:    without traces and function tags, where labels hold them
    marked:   with the head children that the treebank marks
    traces:   with antecedents in the places of their traces, without indices, and cleaned
    left_out: counts what the file says and c-trees do not keep
    """

    clean: bool = False
    marked: bool = False
    traces: bool = False
    left_out: Counter[Attribute] = field(default_factory=Counter)

    def function(self, name: str) -> None:
        """Count the grammatical function of a token or node as left out; `--` is none."""
        if name not in ("", "--"):
            self.left_out["grammatical functions"] += 1


AS_IT_IS = Options()


@dataclass(frozen=True)
class Reader(Generic[Tree]):
    """Yields the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    items:   of a path, each after the number of its first line; one may be what is wrong with it, a
             ValueError
    trees:   of an item, by options; None for one that is no sentence. Raises ValueError
    in_here: whether items are slower to hand to another process than to parse
    """

    items: Callable[[AnyPath], Iterable[tuple[int, Any]]]
    trees: Callable[[Any, Options], Iterable[Tree | None]]
    in_here: bool = False

    def __call__(self, path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return self.read(path, refuse, Options(**options))

    def read(self, path: AnyPath, refuse: Refuse, options: Options) -> Iterator[Tree]:
        """Yield the trees of a file."""
        return parse_all(self.items(path), lambda item: self.trees(item, options), file_name(path), refuse)

    def portable(self, path: AnyPath, options: Options) -> Iterator[tuple[int, Any]]:
        """Yield the items of a file for `carried` in another process: trees already, if `in_here`."""
        if not self.in_here:
            yield from self.items(path)
            return
        for line, item in self.items(path):
            try:
                for tree in () if isinstance(item, ValueError) else self.trees(item, options):
                    yield line, tree
            except ValueError as error:
                item = error
            if isinstance(item, ValueError):
                yield line, item

    def carried(
        self, items: Iterable[tuple[int, Any]], file: str, refuse: Refuse, options: Options
    ) -> Iterator[Tree]:
        """Yield the trees of some `portable` items. Errors count sentences from the first of these."""

        def trees(item: Any) -> Iterable[Tree | None]:
            return (item,) if self.in_here else self.trees(item, options)

        return parse_all(items, trees, file, refuse, may_be_empty=True)


def item_reader(
    items: Callable[[AnyPath], Iterable[tuple[int, Any]]],
    parse: Callable[[Any, Options], Tree | None],
    in_here: bool = False,
) -> Reader[Tree]:
    """Return a reader of items that hold one sentence each, or none."""
    return Reader(items, lambda item, options: (parse(item, options),), in_here)


@dataclass(frozen=True)
class Writer(Generic[Tree]):
    """Writes trees into a stream.

    text:          of a tree, with its number from 1. Raises ValueError for what the format cannot hold
    before, after: all trees
    """

    text: Callable[[Tree, int], str]
    before: str = ""
    after: str = ""

    def __call__(self, trees: Iterable[Tree], stream: TextIO) -> None:
        stream.write(self.before)
        for number, tree in enumerate(trees, 1):
            stream.write(self.text(tree, number))
        stream.write(self.after)

    @property
    def joinable(self) -> bool:
        """Return whether files that were written apart can be joined."""
        return not self.before and not self.after


@dataclass(frozen=True)
class Format(Generic[Tree]):
    """A file format: all that d2c knows of it.

    name:      as options say it
    suffixes:  of the names of its files, behind which .gz may stand
    read:      the trees of a path; `refuse` takes what is wrong with a sentence
    write:     trees into a stream; None where d2c only reads the format
    holds:     what files can hold
    named_as:  another format, whose suffixes such files may have, too
    looks_so:  whether the first characters of a file so named show that it is of this format
    """

    name: str
    suffixes: tuple[str, ...]
    read: Reader[Tree]
    write: Writer[Tree] | None = None
    holds: tuple[Attribute, ...] = ()
    named_as: str = ""
    looks_so: Callable[[str], bool] = lambda _: False


CFormat = Format[CTree]


def parse_all(
    items: Iterable[tuple[int, Item | ValueError]],
    parse: Callable[[Item], Iterable[Tree | None]],
    file: str,
    refuse: Refuse = stop,
    may_be_empty: bool = False,
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
    if not sentences and not may_be_empty:
        raise FormatError(file, 1, 0, "no sentence found in this file")


def check_names(ctree: CTree) -> None:
    """Raise ValueError for an empty word, tag or symbol, and for a wrapper that is not read as one.

    A root without a wrapper may lack its symbol: `( (S ...) (. .))`.
    """
    tokens, named = ctree.tokens, ctree.labels if ctree.top is not None else ctree.labels[:-1]
    if not tokens.forms:
        raise ValueError("a tree without words cannot be written")
    for what, column in (("word", tokens.forms), ("tag", tokens.tags)):
        if "" in column:
            raise ValueError(f"token {column.index('') + 1} has an empty {what}, which no format holds")
    if "" in named:
        raise ValueError("a node has an empty label, which no format holds")
    if ctree.top is not None and ctree.top not in WRAPPERS:
        raise ValueError(f"the wrapper {ctree.top!r} is none of {', '.join(filter(None, WRAPPERS))}")


def check_text(text: str) -> str:
    """Return the text. Raises ValueError where UTF-8 cannot hold it: for lone surrogates."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{text[error.start]!a} is half a character, which no file holds") from None
    return text


def whole_number(text: str) -> int:
    """Return the number that ASCII digits write. Raises ValueError for anything else, and for too many
    digits."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is no whole number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"the number {text[:20]}... is too large")
    return int(text)
