"""The page of all tables: ours beside the paper's figures where rows have the same names."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers import page
from papers.page import beside, head, write_section
from papers.registry import TABLES
from papers.table import Table

REPOSITORY = Path(__file__).parents[3]
OURS = Table(("model", "complexity", "F1", "speed"), [["A", None, 90.0, 5], ["B", "n", 91.0, 6]], ["Note."])


def test_rows_of_the_same_names_are_joined() -> None:
    joined = beside(OURS, ["model", "F1"], [["B", "91.5"], ["A", "90.5"], ["C", ""]])
    assert joined is not None and joined.notes == ["Note."]
    assert joined.header == ["model", "complexity", "F1", "speed", "F1 (paper)"]
    assert joined.rows == [
        ["A", None, 90.0, 5, "90.5"],
        ["B", "n", 91.0, 6, "91.5"],
        ["C", None, None, None, ""],
    ]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (["model", "F1"], [["X", "1"], ["Y", "2"], ["A", "3"]]),  # a third of its rows
        (["system", "F1"], [["A", "1"]]),
        (["model", "F1"], [["A", "1"], ["A", "2"]]),  # which of the two?
        (["F1"], [["1"]]),
    ],
)
def test_others_are_not(header: list[str], rows: list[list[str]]) -> None:
    assert beside(OURS, header, rows) is None


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = [*TABLES][:2]
    papers = {first: "model,F1\nB,91.5\n", second: "system,F1\nX,1\n"}
    monkeypatch.setattr(page, "published", papers.get)
    write_section(second, OURS, 7200.0, f"python scripts/table.py {second}", tmp_path)
    write_section(first, OURS, 30.0, f"python scripts/table.py {first} --tags gold", tmp_path)
    text = (tmp_path / "tables.md").read_text()
    assert text.startswith("# The papers' tables\n") and "\n\n\n" not in text
    assert all(f"| `{name}` | {row.paper} | {row.title} | " in text for name, row in TABLES.items())
    assert text.index(f"## {first}: {TABLES[first].title}\n") < text.index(f"## {second}: ")
    assert f"`python scripts/table.py {first} --tags gold`; 0.5 minutes" in text and "; 120.0 minutes" in text
    assert (
        "| model | complexity | F1 | speed | F1 (paper) |\n" in text
        and "| B | n | 91.00 | 6 | 91.5 |" in text
    )
    assert f"figures ({TABLES[first].figures}) are in the columns `(paper)`; " in text
    assert "| system | F1 |\n| --- | --- |\n| X | 1 |\n" in text
    write_section(second, OURS, 0.0, "again", tmp_path)
    assert "`again`; 0.0 minutes" in (tmp_path / "tables.md").read_text()


def test_the_page_of_the_repository_is_made_so() -> None:
    assert (REPOSITORY / "docs" / "tables.md").read_text().startswith(head())


def test_the_documents_name_each_table() -> None:
    readme, page = ((REPOSITORY / name).read_text() for name in ("README.md", "docs/tables.md"))
    assert "](docs/tables.md)" in readme and "`python scripts/table.py`" in readme
    assert not [name for name, row in TABLES.items() if f"\n## {name}: {row.title}\n" not in page]
