"""The pages with results say what their manifest says, and where each figure is from."""

from __future__ import annotations

import re
from datetime import date

import pytest

import results


def test_the_pages_are_those_of_the_manifest() -> None:
    tables = results.read_manifest()
    assert results.PAGE.read_text(encoding="utf-8") == results.results_page(tables)
    readme = results.README.read_text(encoding="utf-8")
    assert readme == results.with_table(readme, results.readme_table(tables))


def test_every_row_has_command_commit_and_date() -> None:
    for table in results.read_manifest():
        for row in table["rows"]:
            assert row["command"].startswith(("d2c ", "python scripts/"))
            assert re.fullmatch("[0-9a-f]{7}", row["commit"]) and isinstance(row["date"], date)
            assert set(row) <= {*table["columns"], "readme", "command", "commit", "date"}


def test_the_readme_has_one_short_table() -> None:
    tables = results.read_manifest()
    assert results.readme_table(tables).count("\n") <= 2 + 8
    assert len(results.README.read_text(encoding="utf-8").splitlines()) <= 150


FIGURE = re.compile(r"(?<![\d.,])\d\d\.\d\d(?![\d.])")  # as F1 and UAS are written
PAGES = ("README.md", "docs/index.md", "docs/comparison.md", "docs/results.md")


def unknown(page: str) -> set[str]:
    """The figures of a page that neither the manifest nor a model's card has."""
    manifests = [results.MANIFEST, *(results.ROOT / "data" / "models").glob("*/card.json")]
    known = " ".join(path.read_text(encoding="utf-8") for path in manifests)
    numbers = {f"{float(number):.2f}" for number in re.findall(r"\d+\.\d+", known)}
    return set(FIGURE.findall(page)) - numbers


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_in_a_manifest(name: str) -> None:
    assert unknown((results.ROOT / name).read_text(encoding="utf-8")) == set()


def test_a_figure_from_elsewhere_is_found() -> None:
    assert unknown("F1 is 84.55 on one, 84.56 on another, in 1.25 s, 2026.11.23.") == {"84.56"}
