"""`d2c heads`: what a head table covers, or which one d-trees induce."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from d2c.base.files import open_output
from d2c.base.inputs import names_of
from d2c.commands.options import (
    FilePath,
    format_option,
    heads_option,
    output_option,
    reading_options,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.trees.formats.conversion import with_heads
from d2c.trees.formats.reading import Reading
from d2c.trees.head_coverage import HeadCoverage, MarkCoverage
from d2c.trees.heads import estimate_rules, format_head_rules, load_head_rules


@click.command()
@trees_argument
@heads_option
@format_option
@click.option(
    "--induce", type=FilePath, help="Print the table that these d-trees induce (CoNLL-U, same tokens)."
)
@output_option
@reading_options
def heads(
    trees: tuple[Path, ...], head_rules: str, reading: Reading, induce: Path | None, output: Path
) -> None:
    """Show how well head rules fit a treebank. For each label, count the nodes whose head child is found by
    its label, only by its place, or by the default, because no rule for the node's label finds one. Only
    nodes with several children count.

    `--head-rules marked` counts the nodes in which a child is marked as the head. --induce makes a table of
    head rules instead.
    """
    if head_rules == "marked":
        reading = replace(reading, raw=True)  # with functions
    files = reading.files(trees)
    treebank = shown(reading(files), "trees", f"reading {names_of(files)}", files)
    if induce:
        treebank = with_heads(treebank, files, induce, reading.charset)
        with open_output(output) as stream:
            stream.write(f"# Estimated by `d2c heads {' '.join(map(str, trees))} --induce {induce}`\n")
            stream.write(format_head_rules(estimate_rules(treebank)))
        return
    if head_rules == "marked":
        lines = MarkCoverage(treebank).lines()
    else:
        lines = HeadCoverage(treebank, load_head_rules(head_rules)).lines()
    with open_output(output) as stream:
        stream.writelines(line + "\n" for line in lines)
