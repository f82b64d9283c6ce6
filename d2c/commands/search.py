"""`d2c search`: where a pattern matches in trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from d2c.api.search import heads_for, search_file
from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import file_name, open_output
from d2c.base.inputs import is_called, names_of
from d2c.base.tables import TABLES, table_format
from d2c.commands.options import (
    PAGES,
    format_of_trees,
    heads_option,
    output_option,
    reading_options,
    table_option,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.parsing.sentences import PARSED
from d2c.trees.formats.reading import Reading
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import matches
from d2c.trees.spans import Constituents

if TYPE_CHECKING:
    from d2c.parsing.sentence import Sentence

Row = dict[str, Any]
_OF_SPANS = {"label": str, "start": int, "end": int, "start_char": int, "end_char": int, "text": str}
_COUNTS = {"file": str, "matches": int, "sentences_with": int, "sentences": int}


def _readable(_context: click.Context, _option: click.Parameter, pattern: str) -> str:
    try:
        compiled(pattern)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    return pattern


@click.command()
@click.argument("pattern", callback=_readable)
@trees_argument
@click.option(
    "--count", "counted", is_flag=True, help="Only count: matches, sentences with a match, sentences."
)
@table_option
@output_option
@heads_option
@format_of_trees("json")
@reading_options
def search(
    pattern: str,
    trees: tuple[Path, ...],
    counted: bool,
    to: str | None,
    output: Path,
    head_rules: str,
    reading: Reading,
) -> None:
    """Find a pattern such as `NP < (PP $ NP)`, in Tregex's language, in trees.

    TREES are treebanks, or the output of `d2c parse --to json` or `d2c corpus`. Each match is a line, with
    the nodes that the pattern names (`NP < PP=part`). -o FILE.html writes the sentences with matches as a
    page like that of `d2c view`.
    """
    files = reading.files(trees, *PARSED)
    if is_called(output, PAGES):
        if counted:
            raise click.UsageError("-o FILE.html shows matches, and goes without --count")
        return _write_page(pattern, files, output, head_rules, reading)
    names, none = compiled(pattern).names, True
    of_names = {f"{name}.{column}": kind for name in names for column, kind in _OF_SPANS.items()}
    columns = _COUNTS if counted else {"file": str, "sentence": int, **_OF_SPANS, **of_names}
    to = to or table_format(output)
    with TABLES[to].opened(output, columns, to == "csv") as put:
        for file in files:
            for row in _rows(file, pattern, counted, head_rules, reading):
                none = none and not row.get("matches", 1)
                put(row if to == "json" else _flat(row))
    if none:
        say(f"there is no match in {names_of(files)}{_hint(pattern)}")


def _rows(file: Path, pattern: str, counted: bool, head_rules: str, reading: Reading) -> Iterator[Row]:
    """Yield a row for each match, or one that counts."""
    counts = dict.fromkeys([*_COUNTS][1:], 0)
    searched = search_file(file, pattern, reading, head_rules)
    for source, _, found in shown(searched, "trees", f"searching {file_name(file)}"):
        counts["matches"] += len(found)
        counts["sentences_with"] += bool(found)
        counts["sentences"] += 1
        if not counted:
            yield from ({"file": source, **match.to_dict()} for match in found)
    if counted:
        yield {"file": file_name(file), **counts}


def _hint(pattern: str) -> str:
    """Return what to try instead of a pattern with the name of the wrapper in brackets."""
    return "; in patterns the node above a sentence is called ROOT" if re.search(r"\bTOP\b", pattern) else ""


def _flat(row: Row) -> Row:
    captures = row.get("captures", {}).items()
    return row | {f"{name}.{column}": value for name, span in captures for column, value in span.items()}


def _write_page(pattern: str, files: Sequence[Path], output: Path, head_rules: str, reading: Reading) -> None:
    from d2c.viewing.view import read_viewed, write_page

    def searched(item: tuple[int, Sentence]) -> Constituents:
        ctree = item[1].ctree
        if ctree is None:
            message = "there are no c-trees in it; `d2c view` searches d-trees"
            raise FormatError(names_of(tuple(files)), 0, 0, message)
        return Constituents(headed(ctree))

    headed = heads_for(pattern, head_rules, reading, names_of(tuple(files)))
    viewed = read_viewed(files, reading, head_rules)
    hits = (item for item, found in matches(pattern, viewed, searched) if found)
    first = [*islice(hits, 1)]
    if not first:
        old = f"; {output} stays as it was" if output.exists() else ""
        return say(f"there is no match in {names_of(tuple(files))}{_hint(pattern)}{old}")
    with open_output(output) as stream:
        count = write_page(chain(first, hits), tuple(files), stream, pattern)
    say(f"{output}: {many(count, 'sentence')}")
