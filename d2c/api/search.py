"""Search in the trees of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from d2c.api.tree import Tree
from d2c.base.errors import Refusals
from d2c.base.files import AnyPath
from d2c.parsing.json_lines import read_json_lines
from d2c.parsing.output import format_by_name
from d2c.treebanks.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import Match, matches


def search(
    path: AnyPath, pattern: str, *, format: str | None = None, head_rules: str = "collins"
) -> Iterator[Match]:
    """Yield the matches of a pattern in a file (`-`: standard input), one sentence after the other.

    path:       a treebank, or JSON lines that `d2c parse --to json` wrote
    pattern:    in the language of Tregex
    format:     one of those of `d2c convert`, or `json`; None: as the file's name says
    head_rules: which children are heads, in trees that say it not themselves, where the pattern asks for heads

    Raises FormatError, and ValueError for a pattern that cannot be read.
    """
    reading = Reading(format, marked=head_rules == "marked")
    for _, found in search_file(Path(path), pattern, reading, head_rules):
        yield from found


def search_file(
    path: Path, pattern: str, reading: Reading, head_rules: str, refusals: Refusals | None = None
) -> Iterator[tuple[int, list[Match]]]:
    """Yield of each sentence its number and the matches in it; arguments as of `search`."""
    refusals = refusals or Refusals(reading.faults)
    rules = load_head_rules(head_rules) if compiled(pattern).heads and head_rules != "marked" else None

    def trees() -> Iterator[tuple[int, Tree]]:
        for number, tree in enumerate(refusals.over(_trees(path, reading, refusals)), 1):
            if rules and tree.ctree.head_children is None:
                tree = replace(tree, ctree=rules.headed(tree.ctree))
            yield number + refusals.count, tree

    for (number, _), found in matches(pattern, trees(), lambda item: item[1].searched):
        yield number, [replace(match, sentence=number) for match in found]


def _trees(path: Path, reading: Reading, refusals: Refusals) -> Iterator[Tree]:
    if (reading.format_name or format_by_name(path)) != "json":
        yield from map(Tree, reading.transformed(reading.read(path, refusals), path, refusals))
        return
    for one in read_json_lines(path, refusals):
        yield Tree(one.ctree, one.confidences, one.offsets)
