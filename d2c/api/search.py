"""Search in the trees of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from d2c.api.tree import Tree
from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name
from d2c.base.inputs import names_of
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import PARSED, numbered_sentences
from d2c.trees.ctree import CTree
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.marks import NOTHING_MARKED
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import Match, matches
from d2c.trees.spans import Constituents


def search(
    path: AnyPath, pattern: str, *, format: str | None = None, head_rules: str = "collins"
) -> Iterator[Match]:
    """Yield the matches of a pattern in a file (`-`: standard input), one sentence after the other.

    path:       a treebank, JSON lines of `d2c parse`, or Parquet of `d2c corpus`; or a directory or pattern
                of some
    pattern:    in the language of Tregex
    format:     one of those of `d2c convert`, or `json`; None: as the file's name says
    head_rules: which children are heads, where a pattern asks for heads and trees have none

    Raises FormatError, and ValueError for a pattern that cannot be read.
    """
    reading = Reading(format, marked=head_rules == "marked")
    files = reading.files([Path(path)], *PARSED)
    for file in files:
        for *_, found in search_file(file, pattern, reading, head_rules):
            yield from found
    if reading.nothing_marked and compiled(pattern).heads:
        raise FormatError(names_of(files), 0, 0, NOTHING_MARKED)


def search_file(
    file: Path, pattern: str, reading: Reading, head_rules: str
) -> Iterator[tuple[str, int, list[Match]]]:
    """Yield of each sentence its file, its number there, and the matches in it; arguments as of `search`."""
    headed = heads_for(pattern, head_rules, reading, file_name(file))

    def constituents(numbered: tuple[int, Sentence]) -> Constituents:
        one = numbered[1]
        return Tree(headed(one.tree), one.confidences, one.offsets, one.text).constituents

    for (number, one), found in matches(pattern, numbered_sentences(file, reading), constituents):
        yield one.file or file_name(file), number, [replace(match, sentence=number) for match in found]


def heads_for(pattern: str, head_rules: str, reading: Reading, file: str) -> Callable[[CTree], CTree]:
    """Return a function that gives trees of a file heads that they lack, if the pattern asks for heads.

    It raises FormatError where JSON lines should have some, and do not.
    """
    if not compiled(pattern).heads:
        return lambda ctree: ctree
    headed = load_head_rules(head_rules).headed
    if head_rules != "marked":
        return headed

    def checked(ctree: CTree) -> CTree:
        if ctree.head_children is None and not reading.marks:
            message = "a tree in it has no heads; --head-rules names rules that find them"
            raise FormatError(file, 0, 0, message)
        return headed(ctree)

    return checked
