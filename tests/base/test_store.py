"""What is gone on from: checkpoints whole or not at all; journals with whole lines, one writer, headers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from d2c.base.errors import FormatError, ModelError
from d2c.base.store import Journal, reading_checkpoint, write_checkpoint
from tests.errors import faulty

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
        with faulty("out", about="another process"):
            Journal(path, "out")
        journal.append(1)
    code = f"import os; from d2c.base.store import *; Journal(Path({str(path)!r})).append(2); os._exit(1)"
    subprocess.run([sys.executable, "-c", code], check=False)
    with Journal(path) as journal:  # the lock has ended with the process
        assert journal.lines == [b"1\n", b"2\n"]


def test_headers(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Journal(path) as journal:
        assert journal.changes(HEADER) is None
        journal.begin(HEADER)
    with Journal(path) as journal:
        assert journal.changes(HEADER) == {}
        changed = {"model": "b", "sizes": (1, 2), "new": 3}
        assert journal.changes(changed) == {"model": ("a", "b"), "new": (None, 3)}
        assert journal.changes({"model": "a"}) == {"sizes": ([1, 2], None)}
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


def test_rows_become_what_their_shape_says(tmp_path: Path) -> None:
    with Journal(tmp_path / "log") as journal:
        journal.begin(HEADER)
        journal.append([1, 0.5])
        journal.append([2, 3])
    with Journal(tmp_path / "log") as journal:
        assert journal.rows(tuple[int, float]) == [(1, 0.5), (2, 3.0)]
        for shape, first, line in ((tuple[int, int], 1, 2), (tuple[int, float], 0, 1)):
            with pytest.raises(FormatError) as found:
                journal.rows(shape, first)
            assert (found.value.file, found.value.line) == (str(tmp_path / "log"), line)


@pytest.mark.parametrize("mode", ["whole", "broken"])
def test_checkpoints(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x"
    write_checkpoint(path, lambda staged: staged.write_text(mode))
    with (
        pytest.raises(ModelError, match="x: is broken; remove it") if mode == "broken" else nullcontext(),
        reading_checkpoint(path),
    ):
        assert path.read_text() == "whole"
    with pytest.raises(ModelError, match="cannot be written"):
        write_checkpoint(path / "y", lambda staged: staged.touch())


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "log").touch(mode=0o444)
    with faulty("out", about="Permission denied"):
        Journal(tmp_path / "log", "out")


def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    """Closing, which writes what could not be written once more, does not hide which file it is."""
    with faulty("log", about="No space left"), Journal(tmp_path / "log") as journal:
        with open("/dev/full", "wb") as full:
            os.dup2(full.fileno(), journal._stream.fileno())
        journal.append(1)


def test_no_such_directory(tmp_path: Path) -> None:
    with faulty("log", about="No such file or directory"):
        Journal(tmp_path / "no" / "log")
