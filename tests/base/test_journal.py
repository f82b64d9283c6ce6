"""The journal: whole lines only, one writer at a time, headers that tell one run from another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.base.journal import Journal

HEADER = {"model": "a", "sizes": (1, 2)}


def rows(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("durable", [False, True])
def test_cut_after_any_byte(durable: bool, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Journal(path, durable=durable) as journal:
        journal.begin(HEADER)
        for number in range(3):
            journal.append([number, "é"])
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path, durable=durable) as journal:
            left = [json.loads(line) for line in journal.lines]
            assert left == [json.loads(line) for line in whole[:cut].split(b"\n")[:-1]]
            assert path.read_bytes() == whole[:cut]  # opening changes nothing
            journal.append("more")
        assert rows(path) == [*left, "more"]


def test_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Journal(path) as journal:
        with pytest.raises(FormatError, match="^out: is being written by another process$"):
            Journal(path, "out")
        journal.append(1)
    code = f"import os; from d2c.base.journal import *; Journal(Path({str(path)!r})).append(2); os._exit(1)"
    subprocess.run([sys.executable, "-c", code], check=False)
    with Journal(path) as journal:  # the lock has ended with the process
        assert journal.lines == [b"1\n", b"2\n"]


def test_headers(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Journal(path) as journal:
        assert journal.changes(HEADER) is None
        journal.begin(HEADER)
    with Journal(path) as journal:
        assert journal.changes(HEADER) == []
        assert journal.changes({"model": "b", "sizes": (1, 2), "new": None}) == ["model", "new"]
        assert journal.changes({"model": "a"}) == ["sizes"]
        journal.begin({})
        assert path.read_bytes() == b"{}\n"
        journal.remove()
    assert not path.exists()
    path.write_bytes(b"[]\n")
    with Journal(path) as journal:
        assert journal.changes(HEADER) is None


def test_a_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"dear diary")
    with Journal(path, begins=b'{"trial"') as journal:
        assert journal.lines == [b"dear diary"]
    path.write_bytes(b'{"trial": 5')
    with Journal(path, begins=b'{"trial"') as journal:
        assert journal.lines == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "log").touch(mode=0o444)
    with pytest.raises(FormatError, match="^out: cannot be written: Permission denied$"):
        Journal(tmp_path / "log", "out")


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="/no/log: cannot be written: No such file or directory$"):
        Journal(tmp_path / "no" / "log")
