"""`d2c view`: a page of trees for a browser."""

from __future__ import annotations

import re
import webbrowser
from dataclasses import replace
from pathlib import Path

import click

from d2c.base.counting import many
from d2c.base.files import open_output
from d2c.base.inputs import names_of
from d2c.commands.options import (
    PAGES,
    FilePath,
    check_ending,
    format_of_trees,
    heads_option,
    reading_options,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES

_RANGE = re.compile(r"([1-9][0-9]{0,11})(?:-([1-9][0-9]{0,11}))?")


def _first_and_last(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    if text is None:
        return None
    match = _RANGE.fullmatch(text)
    if match is None or int(match[1]) > int(match[2] or match[1]):
        raise click.BadParameter(f"{text!r} is not FIRST-LAST, as 1-1000, nor a number.")
    return int(match[1]), int(match[2] or match[1])


@click.command()
@trees_argument
@click.option("-o", "--output", type=FilePath, default="view.html", show_default=True, help="The page.")
@heads_option
@click.option("--dtrees", type=FilePath, help="A CoNLL-U file with the d-trees of the same sentences.")
@format_of_trees("conllu")
@click.option(
    "--sentences",
    "chosen",
    metavar="FIRST-LAST",
    callback=_first_and_last,
    help="Show only the sentences with these numbers in each file.",
)
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@reading_options
def view(
    trees: tuple[Path, ...],
    output: Path,
    head_rules: str,
    dtrees: Path | None,
    chosen: tuple[int, int] | None,
    opened: bool,
    reading: Reading,
) -> None:
    """Write one HTML page for looking through trees and searching them by words and labels. It needs no
    network.

    TREES are treebanks, CoNLL-U, or the output of `d2c parse --to json` or `d2c corpus`, whose confidences
    are shown as shades. D-trees are shown beside c-trees. They come from --dtrees, from the heads in the file
    or, if it has none, from the head rules.
    """
    from d2c.viewing.view import read_viewed, write_page

    if dtrees and reading.faults.skipped:
        raise click.UsageError("--dtrees needs all sentences of both files; leave out --skip-bad")
    check_ending(output, PAGES)
    reading = replace(reading, unparsed=True)
    files = reading.files(trees, *DTREE_SUFFIXES)
    if dtrees and len(files) > 1:
        raise click.UsageError("--dtrees goes with a single file of trees; give only one")
    if opened and str(output) == "-":
        raise click.UsageError("--open needs a file to open; say -o FILE.html")
    viewed = read_viewed(files, reading, head_rules, dtrees, chosen)
    with open_output(output) as stream:
        count = write_page(shown(viewed, "sentences", f"reading {names_of(files)}", files), files, stream)
    say(f"{output}: {many(count, 'sentence')}")
    if opened:
        webbrowser.open(output.resolve().as_uri())
