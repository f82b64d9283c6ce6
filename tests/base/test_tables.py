"""Tables as other programs read them: types, empty cells, formulas, limits, whole or not at all."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from d2c.base import tables
from d2c.base.errors import FormatError, ModelError
from d2c.base.tables import TABLES, table_format

openpyxl, parquet = pytest.importorskip("openpyxl"), pytest.importorskip("pyarrow.parquet")
COLUMNS = {"text": str, "start": int, "confidence": float}
ROWS: list[dict[str, Any]] = [
    {"text": "=1+1", "start": 0, "confidence": 0.5},
    {"text": "a\tb\nc", "start": -1},
    {"text": "#N/A", "start": None, "confidence": 1.0, "more": [1]},
]


def write(output: Path, rows: list[dict[str, Any]] = ROWS, safe: bool = False) -> None:
    with TABLES[table_format(output)].opened(output, COLUMNS, safe) as put:
        for row in rows:
            put(row)


def test_separated(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", safe=True)
    assert (tmp_path / "x.csv").read_text() == "text,start,confidence\n'=1+1,0,0.5\na b c,-1,\n#N/A,,1.0\n"
    write(tmp_path / "x")
    assert (tmp_path / "x").read_text().splitlines()[1:] == ["=1+1\t0\t0.5", "a b c\t-1\t", "#N/A\t\t1.0"]


def test_json(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl")
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()] == [
        *ROWS[:2],
        {"text": "#N/A", "confidence": 1.0, "more": [1]},
    ]


@pytest.mark.parametrize("name", ["x.xlsx", "x.xlsx.gz"])
def test_excel(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, [*ROWS, {"text": "\x07x"}])
    data = (tmp_path / name).read_bytes()
    sheet = openpyxl.load_workbook(BytesIO(gzip.decompress(data) if name.endswith(".gz") else data)).active
    assert [*sheet.values] == [
        ("text", "start", "confidence"),
        *(("=1+1", 0, 0.5), ("a b c", -1, None), ("#N/A", None, 1), (" x", None, None)),
    ]
    assert {cell.data_type for cell in sheet["A"]} == {"s"}


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROW_GROUP", 2)
    write(tmp_path / "x.parquet")
    file = parquet.ParquetFile(tmp_path / "x.parquet")
    assert file.num_row_groups == 2
    assert file.read().to_pylist() == [{name: row.get(name) for name in COLUMNS} for row in ROWS]
    assert [str(kind) for kind in file.schema_arrow.types] == ["string", "int64", "double"]


def test_limits_of_excel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_SHEET_ROWS", 3)
    for rows, says in (
        (ROWS, "a sheet of Excel has 3 rows; write .csv or .parquet"),
        ([{"text": "a" * 40_000}], "a cell of Excel holds 32,767 characters; write .csv or .parquet"),
    ):
        with pytest.raises(FormatError) as caught:
            write(tmp_path / "x.xlsx", rows)
        assert str(caught.value) == f"{tmp_path / 'x.xlsx'}: {says}"
        assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["x.csv", "x.tsv.gz", "x.json", "x.xlsx", "x.parquet"])
def test_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        TABLES[table_format(Path(name))].opened(tmp_path / name, COLUMNS, False) as put,
    ):
        put(ROWS[0])
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("to", TABLES)
def test_a_full_disk_is_one_line(to: str) -> None:
    code = (
        "from pathlib import Path; from d2c.base.tables import TABLES\n"
        f"with TABLES[{to!r}].opened(Path('/dev/full'), {{'text': str}}, False) as put: put({{'text': 'a'}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last == "d2c.base.errors.FormatError: /dev/full: cannot be written: No space left on device"
    assert "Exception ignored" not in done.stderr


def test_endings() -> None:
    known = {
        "tsv": "x.tsv x /dev/full -",
        "csv": "x.csv x.csv.gz",
        "json": "x.json x.jsonl",
        "xlsx": "x.xlsx x.xlsx.gz",
    }
    for name, paths in known.items():
        assert {table_format(Path(path)) for path in paths.split()} == {name}
    for bad in ("x.xls", "x.txt", "x.png"):
        with pytest.raises(FormatError) as caught:
            table_format(Path(bad))
        endings = ".tsv .csv .jsonl .json .xlsx .parquet"
        assert str(caught.value) == f"{bad}: no table is called so; say --to, or one of {endings}"


def test_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ModelError, match=r"pip install -e '\.\[tables\]'$"):
        write(tmp_path / "x.xlsx")
    assert [*tmp_path.iterdir()] == []
