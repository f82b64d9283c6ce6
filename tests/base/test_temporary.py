"""What is left by killed processes is removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from d2c.base.errors import ModelError
from d2c.base.temporary import claimed, scratch, staged_file, whole_directory

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
        assert len(list(tmp_path.iterdir())) == 7  # so young that others may be making it
    make_old(tmp_path)
    with scratch(tmp_path, "x-"), staged_file(tmp_path / "y.gz"):
        assert len(list(tmp_path.iterdir())) == 6
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_what_is_held_stays(tmp_path: Path) -> None:
    with scratch(tmp_path) as first, staged_file(tmp_path / "x") as file:
        make_old(tmp_path)
        with scratch(tmp_path) as second, pytest.raises(BlockingIOError), staged_file(tmp_path / "x"):
            raise AssertionError
        assert first.is_dir() and not second.exists() and file.exists()
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


def test_one_at_a_time_makes_a_file_or_directory(tmp_path: Path) -> None:
    busy = "out: cannot be written: another process is writing it"
    with whole_directory(tmp_path / "out", "model.json") as new:
        with pytest.raises(ModelError, match=f"{busy}$"), whole_directory(tmp_path / "out", "model.json"):
            raise AssertionError
        (new / "model.json").write_text("first")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with whole_directory(tmp_path / "out", "model.json") as new:
        (new / "model.json").write_text("second")
    assert (tmp_path / "out" / "model.json").read_text() == "second"


def test_claims_follow_one_another(tmp_path: Path) -> None:
    """What ends removes its file, which those who try at that moment may have open."""
    inside, most, refused = [0], [0], [0]

    def claim() -> None:
        for _ in range(200):
            try:
                with claimed(tmp_path / "x"):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1
            except BlockingIOError:
                refused[0] += 1

    threads = [Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] and refused[0] < 1600 and not [*tmp_path.iterdir()]


def test_a_pipe_in_the_place_of_a_claim(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".x.d2c-lock")
    with staged_file(tmp_path / "x"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("was_there", [False, True])
def test_a_directory_through_a_link(was_there: bool, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("out")
    if was_there:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "model.json").write_text("old")
    with whole_directory(tmp_path / "link", "model.json") as new:
        (new / "model.json").write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]
    assert (tmp_path / "link").is_symlink() and (tmp_path / "out" / "model.json").read_text() == "new"


APPEARED = ("file", "model", "file in the model", "nothing")


@pytest.mark.parametrize("was_there", [False, True])
@pytest.mark.parametrize("appeared", APPEARED)
def test_what_appears_while_a_directory_is_made_stays(was_there: bool, appeared: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if was_there:
        out.mkdir()
        (out / "model.json").write_text("old")

    def make() -> None:
        with whole_directory(out, "model.json") as new:
            (new / "model.json").write_text("new")
            if appeared == "file":
                for path in out.glob("*"):
                    path.unlink()
                out.rmdir() if was_there else None
                out.write_text("mine")
            elif appeared != "nothing":
                out.mkdir(exist_ok=True)
                name = "model.json" if appeared == "model" else "letter.txt"
                (out / name).write_text("mine")

    if appeared == "nothing":
        make()
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        return
    with pytest.raises(ModelError, match="out: was not replaced: it has changed since this one was begun"):
        make()
    mine = {path.name: path.read_text() for path in (out.iterdir() if out.is_dir() else [out])}
    assert "mine" in mine.values() and "new" not in mine.values()
    [kept] = [path for path in tmp_path.iterdir() if path != out]
    (tmp_path / "like it").mkdir()
    assert (kept / "model.json").read_text() == "new" and kept.stat().st_mode == (
        tmp_path / "like it"
    ).stat().st_mode
