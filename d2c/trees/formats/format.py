"""What a file format of trees is: a reader, a writer, the names of its files, and what they can hold.

A reader takes items, each of which holds one sentence, several or none, from a file, and trees from each
item; a writer makes a text of each tree. Errors say the file, the line and the sentence. Text that no file
can hold is refused before it is written. The digits of numbers in files are counted before they are read, so
that a few bytes never ask for much time or memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Generic, Literal, NamedTuple, TextIO, TypeVar

from d2c.base.errors import FormatError, NoTree, Refuse, shortened, stop
from d2c.base.files import AnyPath, file_name
from d2c.trees.conventions import CONVENTIONS, SAMPLE, ConventionName, cleaned, convention_of
from d2c.trees.ctree import NO_CTREE, CTree, is_failed, why_failed
from d2c.trees.marks import NOTHING_MARKED, count_marked, with_marked_heads
from d2c.trees.traces import resolve_traces

Tree = TypeVar("Tree")  # of a sentence: a c-tree, a d-tree
Item = TypeVar("Item")

Attribute = Literal[
    "gaps",
    "heads",
    "functions",  # grammatical functions that are no part of labels
    "secondary edges",
    "traces",
    "indices",
    "lemmas",
    "morphology",
    "universal tags",  # beside the treebank's own, or the other way round
    "dependencies",  # heads of words, where no head children say the same
    "enhanced dependencies",
    "multi-word ranges",
    "empty nodes",
    "MISC",  # the column of CoNLL-U
    "comments",
    "escapes",  # a round bracket as a tag or label, and -LRB- as a word: each is read back as it was
    "blanks",  # in words, tags and labels
]
"""What some files hold besides the words, tags and labels of continuous trees."""

OF_GRAPHS: tuple[Attribute, ...] = (
    "gaps",
    "heads",
    "functions",
    "secondary edges",
    "traces",
    "indices",
    "lemmas",
    "morphology",
    "escapes",
)
"""What the formats of graphs hold."""

OUTSIDE = "lines outside trees"


_ONLY_TRACES = "has no words, only traces"
_NO_WORDS = replace(NO_CTREE, tokens=replace(NO_CTREE.tokens, comments=(f"error = {_ONLY_TRACES}",)))
MOST_DIGITS = 18  # of a number in a file; nothing has as many words, nodes or lines
_DIGITS = re.compile("[0-9]+")
_LONGEST_SHOWN = 40  # characters of a line


class Malformed(ValueError):
    """A fault in an item; lines: how many lines below the first line of the item it is."""

    def __init__(self, message: str, lines: int = 0) -> None:
        super().__init__(message)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Options:
    """How trees are read. A format ignores the options that do not apply to it.

    clean:      without empty elements, function tags and indices
    marked:     with the head children that the treebank marks
    traces:     with antecedents in the places of their traces, and cleaned
    strict:     text between trees is an error
    charset:    of the file; None: the one usual in the format
    n_best:     all parses of a sentence that has several, not only the first
    convention: by which labels are cleaned; None: told by the first trees
    unparsed:   keep the trees that stand for sentences that were not parsed; see `is_failed`
    wordless:   put such a tree in place of each tree of traces alone
    bare:       from tables only the trees, as their brackets say them, without heads and places in a text
    by_labels:  heads are marked by labels, if at all: a file in which none is marked is refused
    left_out:   counts what the file says and the trees do not keep
    marks:      counts the first trees of files, and those in which a head child is marked
    """

    clean: bool = False
    marked: bool = False
    traces: bool = False
    strict: bool = False
    charset: str | None = None
    n_best: bool = False
    convention: ConventionName | None = None
    unparsed: bool = True
    wordless: bool = False
    bare: bool = False
    by_labels: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)

    @property
    def beside(self) -> Counter[str] | None:
        """Return the counter of lost functions and secondary edges; None where trees are cleaned of both."""
        return None if self.clean else self.left_out

    def outside(self, line: str, number: int) -> Iterator[tuple[int, Malformed]]:
        """Count a line that belongs to no tree; if `strict`, yield an error instead, after the number of the
        line."""
        if self.strict:
            shown = shortened(line.strip(), _LONGEST_SHOWN)
            yield number, Malformed(f"{shown!r} belongs to no tree; see --strict")
        else:
            self.left_out[OUTSIDE] += 1


AS_IT_IS = Options()
Items = Iterable[tuple[int, Any]]


class _Early(NamedTuple):
    """An item that was parsed early, to tell the convention: its raw trees, and counts of what they lack."""

    item: Any
    trees: list[Any]
    left_out: Counter[str]


@dataclass(frozen=True)
class Reader(Generic[Tree]):
    """Yields the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    items:   of a path, each after the number of its first line; in place of a malformed item stands a
             ValueError
    trees:   the raw trees of an item; None stands for one that is no sentence. Raises ValueError
    convention: of the treebanks in such files, where all have the same
    """

    items: Callable[[AnyPath, Options], Items]
    trees: Callable[[Any, Options], Iterable[Tree | None]]
    convention: ConventionName | None = None

    def __call__(self, path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return self.read(path, refuse, Options(**options))

    def read(self, path: AnyPath, refuse: Refuse, options: Options) -> Iterator[Tree]:
        """Yield the trees of a file, read as the options say; for the convention see `told`."""
        items, options = self.told(path, options)
        yield from self.parse(items, file_name(path), refuse, options)

    def parse(
        self, items: Items, file: str, refuse: Refuse, options: Options, may_be_empty: bool = False
    ) -> Iterator[Tree]:
        """Yield the trees of items; see `read`."""
        tidy = _tidy(options)

        def trees(item: Any) -> Iterable[Any]:
            found = self._found(item, options)
            return map(tidy, found) if tidy else found

        yield from parse_all(items, trees, file, refuse, may_be_empty)

    def told(self, path: AnyPath, options: Options) -> tuple[Items, Options]:
        """Return the items of a file, and the options with the convention; where it is needed and not known,
        the first trees tell it. Raises FormatError where these should mark heads `by_labels`, and do not."""
        items, known = self.items(path, options), options.convention or self.convention
        if not options.marked and (known or not (options.clean or options.traces)):
            return items, replace(options, convention=known)
        first, rest = sampled(items)
        early = [(line, self._early(item, options)) for line, item in first]
        sample = [tree for _, one in early if isinstance(one, _Early) for tree in one.trees if tree]
        if options.marked:
            marks = count_marked(sample)
            if options.by_labels and marks["trees"] and not marks["marked"]:
                raise FormatError(file_name(path), 0, 0, NOTHING_MARKED)
            options.marks.update(marks)
        return chain(early, rest), replace(options, convention=known or convention_of(sample).name)

    def _early(self, item: Any, options: Options) -> Any:
        """Return an item with its trees, or the item alone where it has a fault."""
        if not isinstance(item, ValueError):
            own = replace(options, left_out=Counter())
            with suppress(ValueError):
                return _Early(item, [*self.trees(item, own)], own.left_out)
        return item

    def _found(self, item: Any, options: Options) -> Iterable[Any]:
        """Return the raw trees of an item."""
        if not isinstance(item, _Early):
            return self.trees(item, options)
        options.left_out.update(item.left_out)
        return item.trees

    def portable(self, path: AnyPath, options: Options) -> tuple[Items, Options]:
        """Return the items of a file, for `parse` in another process, and the options with the convention, as
        `told` does."""
        items, told = self.told(path, options)
        return ((line, item.item if isinstance(item, _Early) else item) for line, item in items), told


def _tidy(options: Options) -> Callable[[Any], Any] | None:
    """Return a function that makes of a raw tree the tree that the options ask for, or a text that says why
    there is none; None where raw trees are what they ask for."""
    work = _cleaning(options)
    if work is None and options.unparsed:
        return None

    def tidied(ctree: CTree | None) -> CTree | str | None:
        if ctree is None:
            return None
        if is_failed(ctree.tokens) and not options.unparsed:
            return why_failed(ctree.tokens)
        return (work(ctree) if work else ctree) or (_NO_WORDS if options.wordless else _ONLY_TRACES)

    return tidied


def _cleaning(options: Options) -> Callable[[CTree], CTree | None] | None:
    convention = CONVENTIONS[options.convention or "penn"]
    work = resolve_traces if options.traces else cleaned if options.clean else None
    if options.marked:
        if work is None:
            return with_marked_heads
        return lambda ctree: work(with_marked_heads(ctree), convention)
    return work and (lambda ctree: work(ctree, convention))


def sampled(items: Items) -> tuple[list[tuple[int, Any]], Iterator[tuple[int, Any]]]:
    """Return the first items of a file, and an iterator over the others. A fault of the file among the first
    is raised by that iterator, so that the items before the fault are not lost."""
    rest, first = iter(items), list[tuple[int, Any]]()
    try:
        first += islice(rest, SAMPLE)
    except FormatError as error:
        rest = _raising(error)
    return first, rest


def _raising(error: FormatError) -> Iterator[Any]:
    raise error
    yield


def item_reader(
    items: Callable[[AnyPath, Options], Items], parse: Callable[[Any, Options], Tree | None]
) -> Reader[Tree]:
    """Return a reader of items that hold one sentence each, or none."""
    return Reader(items, lambda item, options: (parse(item, options),))


def tree_reader(
    items: Callable[[AnyPath, Options], Items], parse: Callable[[Any, Options], Tree | None]
) -> Reader[Tree]:
    """Return a reader as `item_reader` does, but one whose items are trees already: for items that are slower
    to hand to another process than to parse."""

    def trees(path: AnyPath, options: Options) -> Iterator[tuple[int, Any]]:
        for line, item in items(path, options):
            try:
                found = item if isinstance(item, ValueError) else parse(item, options)
            except ValueError as error:
                found = error
            yield line, found

    return Reader(trees, lambda tree, _: (tree,))


@dataclass(frozen=True)
class Writer(Generic[Tree]):
    """Writes trees into a stream.

    text:          of a tree and its number from 1. Raises ValueError for what the format cannot hold
    before, after: the text before and after all trees
    """

    text: Callable[[Tree, int], str]
    before: str = ""
    after: str = ""

    def __call__(self, trees: Iterable[Tree], stream: TextIO) -> None:
        stream.write(self.before)
        for number, tree in enumerate(trees, 1):
            stream.write(self.text(tree, number))
        stream.write(self.after)

    def save(self, trees: Iterable[Tree], path: AnyPath) -> None:
        """Write a file. Raises OSError, and what `text` raises."""
        with open(path, "w", encoding="utf-8") as stream:
            self(trees, stream)

    @property
    def joinable(self) -> bool:
        """Return whether files that were written separately can be joined."""
        return not self.before and not self.after


@dataclass(frozen=True)
class Format(Generic[Tree]):
    """A file format: all that d2c knows of it.

    name:      as it is given in options
    suffixes:  of the names of its files, which .gz may follow
    read:      yields the trees of a path; `refuse` is given what is wrong with a sentence
    write:     writes trees into a stream; None where d2c only reads the format
    holds:     what its files can hold
    named_as:  another format, whose suffixes files of this one may have, too
    looks_so:  whether the first characters of a file with such a suffix show that it is of this format
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
    parse: Callable[[Item], Iterable[Tree | str | None]],
    file: str,
    refuse: Refuse = stop,
    may_be_empty: bool = False,
) -> Iterator[Tree]:
    """Yield the trees of items. Refuse, with line and sentence, an item for which `parse` raises ValueError,
    and a sentence for which it returns a text, which says why there is no tree.

    Raises FormatError where there is no sentence at all, unless `may_be_empty`, as a part of a file may be.
    """
    sentences = 0
    for line, item in items:
        try:
            if isinstance(item, ValueError):
                raise item
            for tree in parse(item):
                sentences += tree is not None
                if isinstance(tree, str):
                    refuse(NoTree(file, line, sentences, tree))
                elif tree is not None:
                    yield tree
        except ValueError as error:
            sentences += 1
            refuse(FormatError(file, line + getattr(error, "lines", 0), sentences, str(error)))
    if not sentences and not may_be_empty:
        raise FormatError(file, 1, 0, "no sentence found in this file")


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
