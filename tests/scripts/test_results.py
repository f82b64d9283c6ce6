"""The pages with results say what their manifest says, and where each figure is from."""

from __future__ import annotations

import re
from datetime import date

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
