"""All tables by name, and on one page: for each the command, ours beside the paper's figures, the minutes.

Another table is a function in a module and a row of published/tables.csv.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module, resources
from pathlib import Path
from typing import NamedTuple

from papers.experiment import PaperExperiment
from papers.table import Cell, Table, write_text

OF_MANY = ("reduction-3", "reduction-4", "reduction-unaries")  # tables of many treebanks; others are of one
PAGE = "tables.md"
_HEAD = "head.md"  # in the package, beside the papers' figures
_PICTURES = "tables"  # a folder beside the page
_FIGURES = (
    "Under each table stands of which data its figures are. Those with gold tags have [a page of their "
    "own](tables_gold.md).\n"
)
_HEAD_GOLD = """\
# The papers' tables, with gold tags

For the same readers as [the tables with predicted tags](tables.md), which say how tables are made.
"""


class Row(NamedTuple):
    """A table.

    path:     `module:function`; the function takes one experiment, or all, and returns the table
    paper:    the paper that the table, or its question, is from
    title:    in one line
    figures:  the data of the paper's own figures (`published/NAME.csv`); None where it has none
    """

    path: str
    paper: str
    title: str
    figures: str | None = None


def published(name: str) -> str | None:
    """Return the paper's own figures as CSV; None where it has none."""
    file = resources.files("papers") / "published" / f"{name}.csv"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _rows() -> dict[str, Row]:
    _, *rows = csv.reader((published("tables") or "").splitlines())
    return {name: Row(path, paper, title, figures or None) for name, path, paper, title, figures in rows}


TABLES = _rows()


def make_table(name: str, one: PaperExperiment, many: Sequence[PaperExperiment] = ()) -> Table:
    """Return one of TABLES, made on one treebank, or on many if it is one of OF_MANY."""
    module, function = TABLES[name].path.split(":")
    make = getattr(import_module(module), function)
    table: Table = make(many or [one]) if name in OF_MANY else make(one)
    return table


class Section(NamedTuple):
    """A table of the page, the command that made it, and the minutes of its steps."""

    name: str
    table: Table
    command: str
    minutes: float


def write_section(section: Section, directory: Path, minutes: float, tags: str) -> None:
    """Write a table's section, and the page anew from all sections in the directory. Raises OSError.

    minutes: of all steps of the run so far; tags: of all tables on the page, `gold` or `predicted`
    """
    directory.mkdir(parents=True, exist_ok=True)
    picture = f"{_PICTURES}/{tags}-{section.name}.png"
    section.table.write(directory / section.name, directory / picture)
    text = "\n\n".join(_section(section, picture))
    write_text(directory / f"{section.name}.section.md", text + "\n")
    sections = [directory / f"{name}.section.md" for name in TABLES]
    texts = [section.read_text(encoding="utf-8") for section in sections if section.is_file()]
    took = f"All steps of the run took {minutes:.0f} minutes on {os.cpu_count()} cores.\n"
    write_text(directory / PAGE, "\n".join([head(tags), took, *texts]))


def head(tags: str = "predicted") -> str:
    """Return what the page says before its sections: how to make tables, and which there are. The page of
    gold tags refers to the other page for this."""
    if tags == "gold":
        return _HEAD_GOLD
    text = (resources.files("papers") / "published" / _HEAD).read_text(encoding="utf-8")
    rows = [[f"`{name}`", row.paper, row.title, row.figures] for name, row in TABLES.items()]
    return (
        f"{text}\n{Table(('name', 'paper', 'table', 'figures of the paper'), rows).markdown()}\n\n{_FIGURES}"
    )


def _section(section: Section, picture: str) -> Iterator[str]:
    name, table, command, minutes = section
    row, figures = TABLES[name], published(name)
    yield f"## {name}: {row.title}"
    yield f"{row.paper}. `{command}`; {minutes:.1f} minutes, those of shared steps included."
    theirs = [*csv.reader((figures or "").splitlines())]
    joined = beside(table, theirs[0], theirs[1:]) if theirs else None
    yield (joined or table).markdown()
    if table.draw:
        yield f"![{name}]({picture})"
    if theirs:
        where = "in the columns `(paper)`" if joined else "below"
        yield f"The paper's figures ({row.figures}) are {where}; with that treebank the command makes them."
    if theirs and not joined:
        yield Table(theirs[0], theirs[1:]).markdown()


def beside(table: Table, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | None:
    """Return a table with the paper's figures as columns of their own, beside the rows of the same names.

    header, rows: of the paper's table; columns with anything else than numbers name its rows. The result is
    None unless our table has these columns, too, and at least half of the paper's rows.
    """
    names = [title for i, title in enumerate(header) if not all(_is_number(row[i]) for row in rows)]
    figures = [title for title in header if title not in names]
    if not names or not {*names} <= {*table.header}:
        return None
    places = [header.index(title) for title in names]
    theirs = {tuple([row[i] for i in places]): row for row in rows}
    places = [table.header.index(title) for title in names]
    keys = [tuple([str(row[i]) for i in places]) for row in table.rows]
    if len(theirs) != len(rows) or 2 * len({*keys} & {*theirs}) < len(rows):
        return None

    def paper(key: tuple[str, ...]) -> list[Cell]:
        row = theirs.get(key)
        return [row[header.index(title)] if row else None for title in figures]

    joined = [[*row, *paper(key)] for key, row in zip(keys, table.rows, strict=True)]
    for key in theirs:
        if key not in keys:
            named = dict(zip(names, key, strict=True))
            joined.append([*(named.get(title) for title in table.header), *paper(key)])
    return replace(table, header=[*table.header, *(f"{title} (paper)" for title in figures)], rows=joined)


def _is_number(cell: str) -> bool:
    """Say whether a cell is a number or empty."""
    try:
        return not cell or float(cell.replace(",", "")) is not None
    except ValueError:
        return False
