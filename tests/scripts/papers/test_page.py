"""The page of all tables: ours beside the paper's figures where rows have the same names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from papers import page
from papers.page import TABLES, Section, beside, head, write_section
from papers.table import Table, bars

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
    later = Section(second, OURS, f"python scripts/table.py {second}", 120.0)
    write_section(later, tmp_path, 120.0, "predicted")
    drawn = replace(OURS, draw=bars({"A": {"x": 1.0}}, "F1"))
    earlier = Section(first, drawn, f"python scripts/table.py {first} --tags gold", 0.5)
    write_section(earlier, tmp_path, 120.5, "predicted")
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
    assert "\nAll steps of the run took 120 minutes on " in text
    assert f"\n![{first}](tables/predicted-{first}.png)\n" in text
    assert (tmp_path / "tables" / f"predicted-{first}.png").is_file()
    write_section(later._replace(command="again", minutes=0.0), tmp_path, 0.0, "gold")
    text = (tmp_path / "tables.md").read_text()
    assert text.startswith("# The papers' tables, with gold tags\n") and "`again`; 0.0 minutes" in text


def test_the_page_of_the_repository_is_made_so() -> None:
    for name, tags in (("tables.md", "predicted"), ("tables_gold.md", "gold")):
        assert (REPOSITORY / "docs" / name).read_text().startswith(head(tags))


def test_the_documents_name_each_table() -> None:
    readme, page = ((REPOSITORY / name).read_text() for name in ("README.md", "docs/tables.md"))
    assert "](docs/tables.md)" in readme and "`python scripts/table.py`" in readme
    assert not [name for name, row in TABLES.items() if f"\n## {name}: {row.title}\n" not in page]
