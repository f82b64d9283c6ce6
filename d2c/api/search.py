"""Search in the trees of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from d2c.api.tree import Tree
from d2c.base.errors import Refusals
from d2c.base.files import AnyPath
from d2c.parsing.json_lines import read_json_lines
from d2c.parsing.output import format_by_name
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
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
    head_rules: which children are heads, where a pattern asks for heads and trees have none

    Raises FormatError, and ValueError for a pattern that cannot be read.
    """
    reading = Reading(format, marked=head_rules == "marked")
    for _, found in search_file(Path(path), pattern, reading, head_rules):
        yield from found


def search_file(
    path: Path, pattern: str, reading: Reading, head_rules: str, refusals: Refusals | None = None
) -> Iterator[tuple[int, list[Match]]]:
    """Yield of each sentence its number and the matches in it; arguments as of `search`."""
    refusals, headed = refusals or Refusals(reading.faults), heads_for(pattern, head_rules)
    trees = enumerate(refusals.over(_trees(path, reading, refusals)), 1)
    numbered = ((number + refusals.count, replace(tree, ctree=headed(tree.ctree))) for number, tree in trees)
    for (number, _), found in matches(pattern, numbered, lambda item: item[1].searched):
        yield number, [replace(match, sentence=number) for match in found]


def heads_for(pattern: str, head_rules: str) -> Callable[[CTree], CTree]:
    """Return a function that gives heads to trees without any, if the pattern asks for heads."""
    if not compiled(pattern).heads or head_rules == "marked":
        return lambda ctree: ctree
    rules = load_head_rules(head_rules)
    return lambda ctree: rules.headed(ctree) if ctree.head_children is None else ctree


def _trees(path: Path, reading: Reading, refusals: Refusals) -> Iterator[Tree]:
    if (reading.format_name or format_by_name(path)) != "json":
        yield from map(Tree, reading.transformed(reading.read(path, refusals), path, refusals))
        return
    for one in read_json_lines(path, refusals):
        yield Tree(one.ctree, one.confidences, one.offsets)
