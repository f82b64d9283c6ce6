"""Write docs/results.md and the README's table of results from their manifest, docs/results.toml.

    python scripts/results.py

Run it after a change of the manifest; a test compares both pages with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from papers.table import Table

ROOT = Path(__file__).resolve().parent.parent
MANIFEST, PAGE, README = ROOT / "docs" / "results.toml", ROOT / "docs" / "results.md", ROOT / "README.md"
BEGIN, END = "<!-- results: readme -->\n", "<!-- end -->\n"
IN_README = ("d-trees", "UAS", "reduction", "labeler", "cky", "combined", "packed")
HEAD = """\
# Results

For readers who want to know how good the trees are, and how each figure was made. All figures are F1 on the
dev part of a treebank, in percent, unless a column says otherwise (EVALB with `collins.prm`; for trees with
gaps disco-dop with `proper.prm`). UAS leaves out punctuation. *Packed* is the best route over packed arcs on
these sentences (mostly `cky`), *voted* the vote of all routes on this d-parser and on those above it.

The commands are below each table, where `$D2C_TREEBANKS` is the folder of the treebanks. Each row has the
commit that was measured and the day. Run a command at its commit: some trainings have changed since ([hidden
pieces](lab/accuracy.md#hidden-pieces)).

The lab book has more, including what did not help: [accuracy](lab/accuracy.md), [the chart](lab/chart.md),
[packed arcs](lab/arcs.md), [languages](lab/languages.md), [speed and text](lab/speed.md), [the included
models](lab/english.md). The papers' own tables are in [tables](tables.md) and [tables with gold
tags](tables_gold.md).
"""

Row = Mapping[str, Any]


@click.command()
def main() -> None:
    """Write both pages."""
    tables = read_manifest()
    PAGE.write_text(results_page(tables), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), readme_table(tables)), encoding="utf-8")


def read_manifest() -> list[dict[str, Any]]:
    """Return the tables of the manifest; each row has a command, a commit and a date, its own or its table's.

    Raises KeyError where one of these is missing.
    """
    tables: list[dict[str, Any]] = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["table"]
    for table in tables:
        shared = {name: table[name] for name in ("command", "commit", "date")}
        table["rows"] = [shared | row for row in table["rows"]]
    return tables


def results_page(tables: Iterable[Row]) -> str:
    """Return docs/results.md."""
    return HEAD + "".join("\n" + section(table) for table in tables)


def section(table: Row) -> str:
    """Return a table with its heading, text and commands."""
    header = [*table["columns"], "commit", "date"]
    rows = [
        [*(row.get(column) for column in table["columns"]), f"`{row['commit']}`", str(row["date"])]
        for row in table["rows"]
    ]
    commands = "\n".join(dict.fromkeys(row["command"] for row in table["rows"]))
    block = f"<!-- not run: needs the treebanks -->\n```sh\n{commands}\n```\n"
    return f"## {table['name']}\n\n{table['text'].strip()}\n\n{Table(header, rows).markdown()}\n\n{block}"


def readme_table(tables: Iterable[Row]) -> str:
    """Return the README's table: the rows with a name for it, `readme`."""
    rows = [
        [row["readme"], *map(row.get, IN_README), f"[command](docs/results.md#{anchor(table['name'])})"]
        for table in tables
        for row in table["rows"]
        if "readme" in row
    ]
    return Table(["training treebank", *IN_README, "made by"], rows).markdown() + "\n"


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def with_table(readme: str, table: str) -> str:
    """Return the README with this table."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    main()
