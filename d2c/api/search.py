"""Search in the trees of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from pathlib import Path
from typing import TypeGuard

from d2c.api.read import warned
from d2c.api.tree import Tree
from d2c.base.errors import Faults, FormatError, NoTree
from d2c.base.files import AnyPath, file_name
from d2c.base.inputs import names_of
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import numbered_sentences
from d2c.trees.ctree import CTree
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.marks import NOTHING_MARKED
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.limits import SECONDS, RanOver
from d2c.trees.patterns.matches import Match, matches
from d2c.trees.spans import Constituents

Numbered = tuple[int, Sentence]  # a sentence and its number in its file


def search(
    path: AnyPath,
    pattern: str,
    *,
    format: str | None = None,
    head_rules: str = "collins",
    timeout: float = SECONDS,
) -> Iterator[Match]:
    """Yield the matches of a pattern in a file (`-`: standard input), one sentence after the other.

    path:       a treebank, such as JSON lines of `d2c parse` or Parquet of `d2c corpus`, or a directory or
                pattern (`*`) of such files
    pattern:    a pattern in the language of Tregex
    format:     a format of `d2c convert`; None: shown by name and content
    head_rules: the table that finds heads if a pattern asks for them and trees have none
    timeout:    seconds of CPU time for each tree; one whose search takes longer, or finds more than 100,000
                matches, is left out with a warning

    Raises FormatError, and ValueError for a pattern that cannot be read, or a timeout that is not above 0.
    """
    reading = Reading(format, marked=head_rules == "marked", faults=Faults(no_tree=warned))
    files = reading.files([Path(path)])
    for file in files:
        for _, [found] in search_file(file, [pattern], reading, head_rules, timeout):
            yield from found
    if reading.nothing_marked and compiled(pattern).heads:
        raise FormatError(names_of(files), 0, 0, NOTHING_MARKED)


def search_file(
    file: Path, patterns: Sequence[str], reading: Reading, head_rules: str, timeout: float
) -> Iterator[tuple[Sentence, list[list[Match]]]]:
    """Yield each sentence with the matches of each pattern in it; arguments as of `search`.

    The file is read once. Sentences whose search ran over a limit are left out and reported.
    """
    name = file_name(file)

    def found_by(
        pattern: str, sentences: Iterable[Numbered]
    ) -> Iterator[tuple[Numbered, list[Match] | RanOver]]:
        headed = heads_for(pattern, head_rules, reading, name)

        def constituents(numbered: Numbered) -> Constituents:
            one = numbered[1]
            return Tree(headed(one.tree), one.confidences, one.offsets, one.text).constituents

        return matches(pattern, sentences, constituents, timeout)

    streams = tee(numbered_sentences(file, reading), len(patterns))
    for every in zip(*map(found_by, patterns, streams), strict=True):
        number, one = every[0][0]
        found = [
            [replace(match, file=name, sentence=number, source=one.file) for match in of_pattern]
            for _, of_pattern in every
            if searched(of_pattern, reading, name, number)
        ]
        if len(found) == len(patterns):
            yield one, found


def searched(
    found: list[Match] | RanOver, reading: Reading, file: str, number: int
) -> TypeGuard[list[Match]]:
    """Return whether the search of a sentence kept its limits; if not, report the sentence as left out."""
    if isinstance(found, RanOver):
        (reading.faults.skipped or reading.faults.no_tree)(NoTree(file, 0, number, str(found)))
        return False
    return True


def heads_for(pattern: str, head_rules: str, reading: Reading, file: str) -> Callable[[CTree], CTree]:
    """Return a function that gives trees of a file the heads that they lack, if the pattern asks for heads.

    With `marked`, it raises FormatError for a tree without heads in a format such as JSON lines.
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
