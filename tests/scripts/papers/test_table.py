"""Tables as CSV, Markdown and picture."""

from __future__ import annotations

from pathlib import Path

from papers.table import Table, shown

TABLE = Table(
    ("route", "trained on", "F1", "sentences", "sent./s"),
    [["cky", "a tenth, of train", 97.6666, 2872, 1234.5], ["a|b", None, 5.0, 0, None]],
    ["CRAFT: 5,000 sentences.", "Gold tags."],
)
CSV = """\
route,trained on,F1,sentences,sent./s
cky,"a tenth, of train",97.6666,2872,1234.5
a|b,,5.0,0,
"""
MARKDOWN = """\
| route | trained on | F1 | sentences | sent./s |
| --- | --- | --- | --- | --- |
| cky | a tenth, of train | 97.67 | 2,872 | 1,234 |
| a\\|b |  | 5.00 | 0 |  |

CRAFT: 5,000 sentences.

Gold tags."""


def test_csv_has_all_digits() -> None:
    assert TABLE.csv() == CSV


def test_markdown_is_for_people() -> None:
    assert TABLE.markdown() == MARKDOWN
    assert Table(("a",), []).markdown() == "| a |\n| --- |"


def test_cells() -> None:
    cells = [None, "", 0, -1, 1234567, 0.0, 0.006, 99.994, -3.14159, 999.994, 1000.0, 65432.1]
    assert [shown(cell) for cell in cells] == [
        *("", "", "0", "-1", "1,234,567", "0.00", "0.01", "99.99", "-3.14", "999.99", "1,000", "65,432")
    ]


def test_files(tmp_path: Path) -> None:
    TABLE.write(tmp_path / "pad-2", tmp_path / "none.png")
    assert (tmp_path / "pad-2.csv").read_text() == CSV
    assert (tmp_path / "pad-2.md").read_text() == MARKDOWN + "\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pad-2.csv", "pad-2.md"]
    drawn = Table(("x", "y"), [[1, 2]], draw=lambda axes: axes.plot([1, 2], [3, 4], label="line"))
    drawn.write(tmp_path / "figure-5", tmp_path / "tables" / "figure-5.png")
    assert (tmp_path / "tables" / "figure-5.png").read_bytes().startswith(b"\x89PNG")
    TABLE.write(tmp_path / "pad-2", tmp_path / "none.png")  # again
