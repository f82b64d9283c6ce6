"""`d2c phrases`: the constituents with some labels, a line each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from d2c.base.errors import Refusals
from d2c.base.files import file_name, open_output
from d2c.commands.options import FilePath, format_option, heads_option, output_option, reading_options
from d2c.commands.terminal import say, shown
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
from d2c.trees.heads import load_head_rules
from d2c.trees.spans import labelled, spans_of

Row = dict[str, Any]  # of the columns in docs/commands.md
_ONE_LINE = str.maketrans("\t\n\r", "   ")
_FORMULAS = ("=", "+", "-", "@")
_WRITERS = {"tsv": "excel-tab", "csv": "excel"}  # of Python's csv


@click.command()
@click.argument("trees", type=FilePath)
@click.option("--label", "labels", multiple=True, required=True, help="Of the phrases; may be said again.")
@click.option("--nested", is_flag=True, help="Also those inside another one of these.")
@click.option("--head", is_flag=True, help="With the number of the head token and its word.")
@click.option(
    "--to",
    type=click.Choice([*_WRITERS, "json"]),
    help="A table with a line of column names, or JSON lines.  [default: as the output's name says; or tsv]",
)
@click.option(
    "--safe-cells/--plain-cells",
    default=None,
    help="Put ' before cells that a spreadsheet would take for a formula: = + - @.  [default: in csv]",
)
@output_option
@heads_option
@format_option
@reading_options
def phrases(
    trees: Path,
    labels: tuple[str, ...],
    nested: bool,
    head: bool,
    output: Path,
    head_rules: str,
    reading: Reading,
    **cells: Any,
) -> None:
    """Lists the phrases of a treebank, or of what `d2c parse` wrote, from left to right, the larger of two
    that begin at the same token first."""
    to, safe = cells["to"] or _format_of(output), cells["safe_cells"]
    rules, refusals = load_head_rules(head_rules) if head else None, Refusals(reading.faults)
    columns = ["sentence", "label", "start", "end", "text", *(["head", "head_word"] if head else [])]
    safe, found = to == "csv" if safe is None else safe, False
    with open_output(output) as stream:
        table = csv.writer(stream, _WRITERS.get(to, "excel"), lineterminator="\n")
        if to != "json":
            table.writerow(columns)
        for number, ctree in enumerate(shown(reading(trees, refusals), "trees"), 1):
            ctree = rules.headed(ctree) if rules else ctree
            for row in _rows(ctree, labelled(ctree, labels, nested), head):
                found = True
                row["sentence"] = number + refusals.count
                if to == "json":
                    stream.write(json.dumps(row, ensure_ascii=False) + "\n")
                else:
                    table.writerow([_cell(row[column], safe) for column in columns])
    if not found:
        say(f"{file_name(trees)}: there is no {' or '.join(labels)}")


def _format_of(output: Path) -> str:
    """Return the format that a name says."""
    suffix = Path(output.name.removesuffix(".gz")).suffix
    return {".csv": "csv", ".json": "json", ".jsonl": "json"}.get(suffix, "tsv")


def _cell(value: Any, safe: bool) -> str:
    """Return a cell on one line; `safe`: one that no spreadsheet computes."""
    text = str(value).translate(_ONE_LINE)
    return f"'{text}" if safe and text.startswith(_FORMULAS) else text


def _rows(ctree: CTree, nodes: list[int], head: bool) -> Iterator[Row]:
    for span in spans_of(ctree, nodes):
        row: Row = {"sentence": 0, "label": span.label, "start": span.start, "end": span.end}
        row["text"] = span.text
        if head and span.head is not None:
            row |= {"head": span.head, "head_word": ctree.tokens.forms[span.head]}
        if len(span.blocks) > 1:
            row["tokens"] = span.tokens
        yield row
