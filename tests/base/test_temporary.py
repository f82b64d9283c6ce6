"""What is left by killed processes is removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2c.base.temporary import scratch, staged_file

KILLED = """
import os, signal, sys
from pathlib import Path
from d2c.base.temporary import scratch, staged_file
with scratch(Path(sys.argv[1]), "x-") as directory, staged_file(Path(sys.argv[1], "y.gz")):
    (directory / "file").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def make_old(directory: Path) -> None:
    for path in directory.iterdir():
        os.utime(path, (0, 0))


SCRATCH = "with scratch(Path('.')): pass"


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path]).returncode == -9
    (tmp_path / "x").touch()
    (tmp_path / ".y.gz.swp").touch()
    kept = {"x", ".y.gz.swp", "y.gz"}
    with scratch(tmp_path, "x-"), staged_file(tmp_path / "y.gz"):
        assert len(list(tmp_path.iterdir())) == 6  # so young that others may be making it
    make_old(tmp_path)
    with scratch(tmp_path, "x-"), staged_file(tmp_path / "y.gz"):
        assert len(list(tmp_path.iterdir())) == 5
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_what_is_held_stays(tmp_path: Path) -> None:
    with scratch(tmp_path) as first, staged_file(tmp_path / "x") as file:
        make_old(tmp_path)
        with scratch(tmp_path) as second, staged_file(tmp_path / "x"):
            assert first.is_dir() and second.is_dir() and file.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_only_what_is_whole_takes_the_place(tmp_path: Path) -> None:
    with staged_file(tmp_path / "x") as file:
        file.write_text("old")
    with pytest.raises(KeyboardInterrupt), staged_file(tmp_path / "x") as file:
        file.write_text("new")
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_a_pipe_that_somebody_left_is_no_reason_to_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "d2c-scratch-x")
    os.symlink("d2c-scratch-x", tmp_path / "d2c-scratch-y")
    make_old(tmp_path)
    program = f"from pathlib import Path\nfrom d2c.base.temporary import scratch\n{SCRATCH}"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["d2c-scratch-y"]  # what a link names is not ours
