"""docs/definitions.md: what it lists is there, under these names in these files, and nothing that has a
number in a paper is missing."""

from __future__ import annotations

import re
from importlib import import_module
from operator import attrgetter

import pytest

from papers.page import TABLES
from tests.blocks import REPOSITORY

PAGE = (REPOSITORY / "docs" / "definitions.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+?) \| (.*?) \| (`.+`) \| \[(.+)\]\(\.\./(.+)\) \|$", re.MULTILINE)
ROWS = [row.groups() for row in ROW.finditer(PAGE)]
NUMBERED = {
    "Parsing as Reduction": "Algorithm 1-2, Proposition 1-3, Figure 1-4, Table 1-4",
    "Transforming Dependencies into Phrase Structures (PAD)": "Figure 1-5, Table 1-5",
    "Transition-based dependency parsing as latent-variable constituent parsing": "Theorem 1-1",
}


def module_of(file: str) -> str:
    name = ".".join((REPOSITORY / file).relative_to(REPOSITORY).with_suffix("").parts)
    return f"d2c.{name}" if file.startswith(("reduction/", "cky/")) else name.removeprefix("scripts.")


def test_all_rows_are_read() -> None:
    titles = PAGE.count("| where | what | names | file |")
    assert titles == len(NUMBERED) and PAGE.count("\n|") == len(ROWS) + 2 * titles


@pytest.mark.parametrize("file", sorted({row[4] for row in ROWS}))
def test_every_name_is_in_its_file(file: str) -> None:
    module = import_module(module_of(file))
    for _, what, names, shown, path in ROWS:
        if path == file:
            assert shown == path
            for name in re.findall(r"`(.+?)`", names):
                found = attrgetter(name)(module)
                assert getattr(found, "__module__", None) in (None, module.__name__), (what, name)


def test_names_beside_the_tables_are_there() -> None:
    beside = re.findall(r"\(\[`(\w+)`\]\(\.\./(.+?)\)", PAGE)
    assert len(beside) > 8
    assert all(hasattr(import_module(module_of(file)), name) for name, file in beside)


@pytest.mark.parametrize("paper", NUMBERED)
def test_everything_that_has_a_number_is_listed(paper: str) -> None:
    section = PAGE.partition(f"## {paper}\n")[2].partition("\n## ")[0]
    listed = " ".join(row[0] for row in ROW.findall(section))
    for kind, first, last in re.findall(r"(\w+) (\d)-(\d)", NUMBERED[paper]):
        for number in range(int(first), int(last) + 1):
            assert re.search(rf"{kind} {number}\b", listed), (kind, number)


def test_every_table_of_the_papers_is_listed() -> None:
    listed = {
        what.split()[-1].strip("`"): f"{module_of(file)}:{name}"
        for _, what, names, _, file in ROWS
        for name in re.findall(r"`(.+?)`", names)
        if what.startswith("`python scripts/table.py ")
    }
    assert listed == {name: row.path for name, row in TABLES.items()}
