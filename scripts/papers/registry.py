"""The tables and figures by name. Another one is a function in a module and a row of published/tables.csv."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import import_module, resources
from typing import NamedTuple

from papers.experiment import PaperExperiment
from papers.table import Table

OF_MANY = ("reduction-3", "reduction-4", "reduction-unaries")  # of many treebanks; others: of one


class Row(NamedTuple):
    """A table.

    path:     `module:function`; the function takes one experiment, or all, and returns the table
    paper:    that it is from, or that its question is from
    title:    in one line
    figures:  the paper's own, `published/NAME.csv`, and of which data they are; None where it has none
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
    """Return one of TABLES, of one treebank or of many, as it is about one or many."""
    module, function = TABLES[name].path.split(":")
    make = getattr(import_module(module), function)
    table: Table = make(many or [one]) if name in OF_MANY else make(one)
    return table
