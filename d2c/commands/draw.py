"""`d2c draw`: pictures of trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from d2c.base.errors import FormatError, located
from d2c.base.files import file_name, open_binary_output
from d2c.base.inputs import ending_of
from d2c.commands.options import (
    FilePath,
    check_ending,
    choice,
    format_of_trees,
    heads_option,
    output_option,
    reading_options,
)
from d2c.parsing.sentences import numbered_sentences
from d2c.reduction.reduction import Reduction
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import treebank_in


@click.command()
@click.argument("trees", type=FilePath)
@output_option
@heads_option
@format_of_trees("conllu")
@reading_options
@choice("--what", ["ctree", "dtree", "both"], "ctree", "The trees to draw.")
@click.option("--svg", is_flag=True, help="Draw one sentence as a picture (as for *.svg), not all as text.")
@click.option(
    "--sentence",
    type=click.IntRange(1),
    help="Draw only the sentence with this number.  [default for --svg: 1]",
)
def draw(
    trees: Path,
    output: Path,
    head_rules: str,
    reading: Reading,
    what: str,
    svg: bool,
    sentence: int | None,
) -> None:
    """Draw c-trees, crossing branches included, d-trees with their event indices, or both.

    OUTPUT is called *.txt (all sentences), or *.svg, *.pdf, *.png or *.tex (LaTeX, package forest), with one.
    TREES is a treebank, the output of `d2c parse --to json` or `d2c corpus`, or CoNLL-U, which has d-trees.
    """
    from d2c.trees.pictures import ENDINGS, drawing

    check_ending(output, ENDINGS)
    ending = ending_of(output) or (".svg" if svg else ".txt")
    route, last = Reduction("direct", head_rules), 1 if ending != ".txt" and not sentence else sentence
    # One sentence is drawn as soon as it is read, so that errors cannot wait for the end of the file.
    faults = replace(reading.faults, limit=1) if last else reading.faults
    with open_binary_output(output) as stream:
        reading, dtrees = replace(reading, faults=faults), not treebank_in(trees)
        for number, read in numbered_sentences(trees, reading, dtrees):
            if not last or number == last:
                with located(file_name(trees), number):
                    dtree = route.encode(read.ctree) if read.ctree else read.dtree
                    stream.write(drawing(read.ctree, dtree, what if read.ctree else "dtree", ending))
            if number == last:
                return
        if last:
            raise FormatError(file_name(trees), 0, last, "there is no such sentence")
