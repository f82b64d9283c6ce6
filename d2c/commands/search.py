"""`d2c search`: where a pattern matches in trees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from d2c.api.search import heads_for, search_file, searched
from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import file_name, open_output
from d2c.base.inputs import is_called, names_of
from d2c.base.tables import TABLES, Before, table_format
from d2c.commands.counts import CountTable
from d2c.commands.options import (
    PAGES,
    finite,
    format_option,
    heads_option,
    output_option,
    reading_options,
    table_option,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.parsing.sentences import is_parsed
from d2c.trees.formats.reading import Reading
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.limits import SECONDS
from d2c.trees.patterns.matches import Match, matches
from d2c.trees.spans import Constituents

Row = dict[str, Any]
_OF_SPANS = {"label": str, "start": int, "end": int, "start_char": int, "end_char": int}


def _readable(_context: click.Context, option: click.Parameter, given: Any) -> Any:
    try:
        for pattern in given if option.multiple else (given,):
            compiled(pattern)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    return given


@click.command()
@click.argument("pattern", callback=_readable)
@trees_argument
@click.option(
    "--count",
    "counted",
    is_flag=True,
    help="Count for each file and pattern: matches, sentences with a match, sentences, words, and matches "
    "per 1,000 words.",
)
@click.option("--also", multiple=True, callback=_readable, help="Another pattern to count; may be repeated.")
@click.option("--brackets", is_flag=True, help="Add each match as a tree in brackets.")
@click.option(
    "--context", type=click.IntRange(0), metavar="N", help="Add N words before each match and N after it."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=SECONDS,
    show_default=True,
    callback=finite,
    help="The most CPU time for a tree, in seconds; a tree that takes longer is named and left out.",
)
@table_option
@output_option
@heads_option
@format_option
@reading_options
def search(
    pattern: str,
    trees: tuple[Path, ...],
    counted: bool,
    also: tuple[str, ...],
    output: Path,
    head_rules: str,
    reading: Reading,
    **options: Any,
) -> None:
    """Find a pattern such as `NP < (PP $ NP)`, in Tregex's language, in trees.

    TREES are treebanks, such as the output of `d2c parse --to json` or `d2c corpus`. Each match is a line,
    with the nodes that the pattern names, as in `NP < PP=part`. -o FILE.html writes the sentences that have
    matches as a page like that of `d2c view`.
    """
    if also and not counted:
        raise click.UsageError("--also goes with --count")
    page = is_called(output, PAGES)
    for name in ("context", "brackets"):
        if options[name] not in (None, False) and (counted or page):
            raise click.UsageError(f"--{name} is for rows of matches, not for --count or pages")
    files = reading.files(trees)
    if page:
        if counted or options["to"]:
            raise click.UsageError("-o FILE.html shows matches, and goes without --count and --to")
        return _write_page(pattern, files, output, head_rules, reading, options["timeout"])
    counts, to = CountTable("pattern", "matches"), options["to"] or table_format(output)
    columns, safe = _columns(pattern, to, files, reading, options), to == "csv"
    patterns, none = (*dict.fromkeys((pattern, *also)),), True
    if counted and not any(compiled(one).heads for one in patterns):
        reading = replace(reading, bare=True)
    table = counts.opened(output, to, safe) if counted else TABLES[to].opened(output, columns, safe)
    with table as put:
        for file in files:
            sentences = search_file(file, patterns, reading, head_rules, options["timeout"])
            for one, found in shown(sentences, "trees", f"searching {file_name(file)}", [file]):
                none = none and not any(found)
                if counted:
                    named = (name for name, some in zip(patterns, found, strict=True) for _ in some)
                    counts.add(one.file or file_name(file), one.tree, named)
                    continue
                for match in found[0]:
                    row = _row(match, options)
                    put(row if to == "json" else _flat(row))
        for row in counts.rows(map(file_name, files), patterns) if counted else ():
            put(row)
    if none:
        say(f"there is no match in {names_of(files)}{_hint(pattern, reading)}")


def _columns(
    pattern: str, to: str, files: Sequence[Path], reading: Reading, options: dict[str, Any]
) -> dict[str, type]:
    """Return the columns of matches; on a terminal, only those that are useful to read."""
    parsed, screen = any(is_parsed(file, reading) for file in files), to == "columns"
    columns: dict[str, type] = {} if screen and len(files) == 1 else {"file": str}
    columns |= {"sentence": int} | ({"source": str} if parsed else {})
    found: dict[str, type] = {"text": str}
    if options["context"] is not None:
        found = {"left": Before, "text": str, "right": str}
        if screen:
            return columns | found
    of_span = {"label": str} if screen else _OF_SPANS
    columns |= of_span | found | ({"brackets": str} if options["brackets"] else {})
    of_name = {"text": str} if screen else _OF_SPANS | {"text": str}
    return columns | {
        f"{name}.{column}": kind for name in compiled(pattern).names for column, kind in of_name.items()
    }


def _row(match: Match, options: dict[str, Any]) -> Row:
    row = match.to_dict() | ({"brackets": str(match.tree)} if options["brackets"] else {})
    if options["context"] is not None:
        row["left"], row["right"] = match.span.around(options["context"])
    return row


def _hint(pattern: str, reading: Reading) -> str:
    """Return a hint for a pattern with TOP, the wrapper's name in brackets, or a function; "" for others."""
    if re.search(r"\bTOP\b", pattern):
        return "; in patterns the node above a sentence is called ROOT"
    function = None if reading.raw else re.search(r"\b[A-Z]+-[A-Z]+\b", pattern)
    return f"; labels have functions, as in {function[0]}, with --raw alone" if function else ""


def _flat(row: Row) -> Row:
    captures = row.get("captures", {}).items()
    return row | {f"{name}.{column}": value for name, span in captures for column, value in span.items()}


def _write_page(
    pattern: str, files: Sequence[Path], output: Path, head_rules: str, reading: Reading, timeout: float
) -> None:
    from d2c.viewing.view import Viewed, read_viewed, write_page

    def constituents(item: Viewed) -> Constituents:
        ctree = item.sentence.ctree
        if ctree is None:
            message = "there are no c-trees in it; `d2c view` searches d-trees"
            raise FormatError(item.file, 0, 0, message)
        return Constituents(headed(ctree))

    names = names_of(tuple(files))
    headed = heads_for(pattern, head_rules, reading, names)
    viewed = read_viewed(files, reading, head_rules)
    hits = (
        item
        for item, found in matches(pattern, viewed, constituents, timeout)
        if searched(found, reading, item.file, item.number) and found
    )
    first = [*islice(hits, 1)]
    if not first:
        old = f"; {output} stays as it was" if output.exists() else ""
        return say(f"there is no match in {names}{_hint(pattern, reading)}{old}")
    with open_output(output) as stream:
        count = write_page(chain(first, hits), tuple(files), stream, pattern)
    say(f"{output}: {many(count, 'sentence')}")
