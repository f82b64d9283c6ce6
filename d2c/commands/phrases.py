"""`d2c phrases`: the constituents with some labels, a line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from d2c.base.errors import Refusals
from d2c.base.files import file_name, open_output
from d2c.commands.options import FilePath, choice, format_option, heads_option, output_option, reading_options
from d2c.commands.terminal import say, shown
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
from d2c.trees.heads import load_head_rules
from d2c.trees.spans import labelled, spans_of

Row = dict[str, Any]  # of the columns in docs/commands.md
_ONE_LINE = str.maketrans("\t\n\r", "   ")


@click.command()
@click.argument("trees", type=FilePath)
@click.option("--label", "labels", multiple=True, required=True, help="Of the phrases; may be said again.")
@click.option("--nested", is_flag=True, help="Also those inside another one of these.")
@click.option("--head", is_flag=True, help="With the number of the head token and its word.")
@choice("--to", ["tsv", "json"], "tsv", "A table with a line of column names, or JSON lines.")
@output_option
@heads_option
@format_option
@reading_options
def phrases(
    trees: Path,
    labels: tuple[str, ...],
    nested: bool,
    head: bool,
    to: str,
    output: Path,
    head_rules: str,
    reading: Reading,
) -> None:
    """Lists the phrases of a treebank, or of what `d2c parse` wrote, from left to right, the larger of two
    that begin at the same token first."""
    rules, refusals = load_head_rules(head_rules) if head else None, Refusals(reading.faults)
    columns = ["sentence", "label", "start", "end", "text", *(["head", "head_word"] if head else [])]
    found = False
    with open_output(output) as stream:
        if to == "tsv":
            stream.write("\t".join(columns) + "\n")
        for number, ctree in enumerate(shown(reading(trees, refusals), "trees"), 1):
            ctree = rules.headed(ctree) if rules else ctree
            for row in _rows(ctree, labelled(ctree, labels, nested), head):
                found = True
                row["sentence"] = number + refusals.count
                stream.write(
                    _tsv(row, columns) if to == "tsv" else json.dumps(row, ensure_ascii=False) + "\n"
                )
    if not found:
        say(f"{file_name(trees)}: there is no {' or '.join(labels)}")


def _rows(ctree: CTree, nodes: list[int], head: bool) -> Iterator[Row]:
    for span in spans_of(ctree, nodes):
        row: Row = {"sentence": 0, "label": span.label, "start": span.start, "end": span.end}
        row["text"] = span.text
        if head and span.head is not None:
            row |= {"head": span.head, "head_word": ctree.tokens.forms[span.head]}
        if len(span.blocks) > 1:
            row["tokens"] = span.tokens
        yield row


def _tsv(row: Row, columns: list[str]) -> str:
    return "\t".join([str(row[column]).translate(_ONE_LINE) for column in columns]) + "\n"
