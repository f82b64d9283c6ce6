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
    "functions",  # grammatical ones, apart from labels
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
    "escapes",  # a round bracket as a tag or label, and -LRB- as a word, which are not read as each other
    "blanks",  # in words, tags and labels
]
"""What some files hold beside the words, tags and labels of continuous trees."""

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
    """A fault of an item, so many lines below its beginning."""

    def __init__(self, message: str, lines: int = 0) -> None:
        super().__init__(message)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Options:
    """How trees are read. A format ignores what it has none of.

    clean:      without empty elements, function tags and indices
    marked:     with the head children that the treebank marks
    traces:     with antecedents in the places of their traces, and cleaned
    strict:     what stands between trees is an error
    charset:    of the file; None: as the format has it
    n_best:     all parses of a sentence that has several, not the first alone
    convention: by which labels are cleaned; None: told by the first trees
    unparsed:   sentences that were not parsed, too, as the marked tree that is in their place
    wordless:   such a tree in place of those of traces alone, too
    bare:       of tables the trees alone, as their brackets say them, without heads and places in a text
    by_labels:  heads are marked by labels, if at all: a file in which none is marked is refused
    left_out:   counts what the file says and trees do not keep
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
        """Return what counts lost functions and secondary edges; None where none are asked for."""
        return None if self.clean else self.left_out

    def outside(self, line: str, number: int) -> Iterator[tuple[int, Malformed]]:
        """Count a line that belongs to no tree; yield it as wrong, after its number, where such lines are
        errors."""
        if self.strict:
            shown = shortened(line.strip(), _LONGEST_SHOWN)
            yield number, Malformed(f"{shown!r} belongs to no tree; see --strict")
        else:
            self.left_out[OUTSIDE] += 1


AS_IT_IS = Options()
Items = Iterable[tuple[int, Any]]


class _Early(NamedTuple):
    """An item that was parsed to tell the convention: its trees as they are in it, what they leave out."""

    item: Any
    trees: list[Any]
    left_out: Counter[str]


@dataclass(frozen=True)
class Reader(Generic[Tree]):
    """Yields the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    items:   of a path, each after the number of its first line; one may be what is wrong with it, a
             ValueError
    trees:   of an item, as they are in it; None for one that is no sentence. Raises ValueError
    convention: of the treebanks that are in such files, where there is one
    """

    items: Callable[[AnyPath, Options], Items]
    trees: Callable[[Any, Options], Iterable[Tree | None]]
    convention: ConventionName | None = None

    def __call__(self, path: AnyPath, refuse: Refuse = stop, **options: Any) -> Iterator[Tree]:
        return self.read(path, refuse, Options(**options))

    def read(self, path: AnyPath, refuse: Refuse, options: Options) -> Iterator[Tree]:
        """Yield the trees of a file, cleaned by the convention that the first of them tell."""
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
        """Return the items of a file, and options with the convention that the first of them tell if one is
        needed. Raises FormatError where these should mark heads, and do not."""
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
        """Return an item with its trees; alone where there is a fault in it."""
        if not isinstance(item, ValueError):
            own = replace(options, left_out=Counter())
            with suppress(ValueError):
                return _Early(item, [*self.trees(item, own)], own.left_out)
        return item

    def _found(self, item: Any, options: Options) -> Iterable[Any]:
        """Return the trees of an item, as they are in it."""
        if not isinstance(item, _Early):
            return self.trees(item, options)
        options.left_out.update(item.left_out)
        return item.trees

    def portable(self, path: AnyPath, options: Options) -> tuple[Items, Options]:
        """Return the items of a file for `parse` in another process, and the options with the convention that
        they tell."""
        items, told = self.told(path, options)
        return ((line, item.item if isinstance(item, _Early) else item) for line, item in items), told


def _tidy(options: Options) -> Callable[[Any], Any] | None:
    """Return what makes a raw tree one as the options say, or a text: why there is none; None for nothing."""
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
    """Return the first items of a file, and the others; these raise the fault of the file that ends the first
    too early: what stands before it is not lost."""
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
    """Return a reader as `item_reader` does, whose items are trees already: for what is slower to hand to
    another process than to parse."""

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

    def save(self, trees: Iterable[Tree], path: AnyPath) -> None:
        """Write a file. Raises OSError, and what `text` raises."""
        with open(path, "w", encoding="utf-8") as stream:
            self(trees, stream)

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
    parse: Callable[[Item], Iterable[Tree | str | None]],
    file: str,
    refuse: Refuse = stop,
    may_be_empty: bool = False,
) -> Iterator[Tree]:
    """Yield the trees of items; refuse, with line and sentence, an item where `parse` raises ValueError, and
    a sentence for which it has a text: why it has no tree.

    Raises FormatError where there is no sentence at all, unless the items are part of a file.
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
