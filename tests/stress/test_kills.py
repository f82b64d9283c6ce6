"""Commands that are killed or interrupted at random moments: nothing half-written, no process left.

    D2C_STRESS=13 pytest -m stress tests/stress/test_kills.py

Each command runs to its end, on the sample. Then it is started D2C_STRESS times for each of SIGKILL, SIGTERM,
SIGINT and SIGHUP, which it gets after a random share of that time. Each time
- two seconds after it ended no process of it is left (all have a mark in their environment);
- what it makes is absent, or what the whole run made; after all signals but SIGKILL nothing else is left,
  neither beside it nor among temporary files, but what `parse --resume` goes on from;
- `parse --resume` then makes what the whole run made;
- it says no more than `interrupted`: no traceback.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from d2c.trees.formats.brackets import read_brackets, save_brackets

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "train.mrg"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MARK = "D2C_STRESS_KILL"
MOMENTS = int(os.environ.get("D2C_STRESS", "1"))  # of each command and signal

pytestmark = pytest.mark.stress
ORPHANS = 2.0  # seconds after which no process may be left
UDPIPE = ("--dparser", "udpipe", "--preset", "small", "--epochs", "2")


class Case(NamedTuple):
    """A command: its words, and what it makes in the directory `out`; resumed: `--resume` goes on."""

    words: Sequence[str]
    makes: Sequence[str]
    resumed: bool = False


CASES = {
    "train": Case(
        ("train", "train.mrg", "--dev", "dev.mrg", "--route", "labeler", *UDPIPE, "-o", "out/model"),
        ["model"],
    ),
    "parse": Case(
        ("parse", "model", "large.conllu", "-o", "out/x.mrg", "--jobs", "2", "--batch-size", "32"),
        ["x.mrg"],
        resumed=True,
    ),
    "encode": Case(("encode", "large.mrg", "-o", "out/x.conllu", "--jobs", "2"), ["x.conllu"]),
    "compare": Case(
        (
            "compare",
            "train.mrg",
            "dev.mrg",
            "--route",
            "reduction",
            "--route",
            "labeler",
            *UDPIPE,
            "-o",
            "out",
        ),
        ["reduction", "labeler"],
    ),
}


def d2c(words: Sequence[str], directory: Path) -> subprocess.Popen[bytes]:
    """Starts a command in a session of its own; its temporary files are in the directory's `tmp`."""
    environment = os.environ | {MARK: str(directory), "TMPDIR": str(directory / "tmp")}
    return subprocess.Popen(
        [sys.executable, "-m", "d2c", *words],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=open(directory / "said", "wb"),  # orphans would keep a pipe open
        start_new_session=True,
    )


def whole(words: Sequence[str], directory: Path) -> float:
    """Runs a command to its end; returns the seconds that it took."""
    start = time.monotonic()
    if status := d2c(words, directory).wait():
        pytest.fail(f"{words[0]} ends with {status}: {(directory / 'said').read_text()}")
    return time.monotonic() - start


def left_of(directory: Path) -> list[int]:
    """The processes with the mark, but those that have ended."""
    mark, found = f"{MARK}={directory}".encode(), []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and mark in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            pass
    return found


def contents(directory: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The bytes of files, and of those in directories."""
    paths = [path for name in names for path in (directory / name, *(directory / name).rglob("*"))]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths if path.is_file()}


def empty(directory: Path) -> None:
    for name in ("out", "tmp"):
        subprocess.run(["rm", "-rf", directory / name], check=True)
        (directory / name).mkdir()


def faults(case: Case, number: signal.Signals, expected: dict[str, bytes], directory: Path) -> Iterator[str]:
    """What is wrong after a command has ended."""
    time.sleep(ORPHANS)
    if processes := left_of(directory):
        yield f"{len(processes)} processes left"
        for process in processes:
            os.kill(process, signal.SIGKILL)
    said = (directory / "said").read_text(errors="replace")
    if "Traceback" in said or "Exception ignored" in said:
        yield f"says {said.strip().splitlines()[-1]!r}"
    for name in case.makes:
        made = contents(directory / "out", [name])
        if made and made != {path: data for path, data in expected.items() if path.split("/")[0] == name}:
            yield f"{name} is half-written"
    if number != signal.SIGKILL:
        known = {
            *case.makes,
            "report.html",
            *(f"{name}.part{log}" for name in case.makes for log in ("", ".log")),
        }
        beside = {path.name for path in (directory / "out").iterdir()} - known
        left = sorted(beside | {f"tmp/{path.name}" for path in (directory / "tmp").iterdir()})
        if left:
            yield f"leaves {' '.join(left)}"
    if case.resumed and not contents(directory / "out", case.makes):
        whole([*case.words, "--resume"], directory)
        if contents(directory / "out", case.makes) != expected:
            yield "is resumed to something else"


def prepare(directory: Path) -> None:
    """The treebanks, and a model."""
    ctrees = list(islice(read_brackets(SAMPLE), 400))
    for name, part in (("train", ctrees[:300]), ("dev", ctrees[300:350]), ("large", ctrees * 10)):
        save_brackets(part, directory / f"{name}.mrg")
    whole(("train", "train.mrg", "--dev", "dev.mrg", *UDPIPE, "-o", "model"), directory)
    whole(("encode", "large.mrg", "-o", "large.conllu"), directory)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Treebanks and a model, which all commands share."""
    directory = tmp_path_factory.mktemp("killed")
    empty(directory)
    prepare(directory)
    return directory


@pytest.fixture(scope="module", params=CASES)
def expected(request: pytest.FixtureRequest, directory: Path) -> tuple[Case, float, dict[str, bytes]]:
    """A command, the seconds of a whole run, and what it makes."""
    case = CASES[request.param]
    for _ in range(2):  # the first one compiles what there is to compile
        empty(directory)
        seconds = whole(case.words, directory)
    return case, seconds, contents(directory / "out", case.makes)


@pytest.mark.parametrize("number", SIGNALS)
def test_nothing_is_half_written_and_no_process_left(
    number: signal.Signals, expected: tuple[Case, float, dict[str, bytes]], directory: Path
) -> None:
    case, seconds, made = expected
    for moment in range(MOMENTS):
        empty(directory)
        wait = Random(f"{moment} {number} {case.words}").uniform(0, seconds)
        process = d2c(case.words, directory)
        time.sleep(wait)
        process.send_signal(number)
        process.wait()
        found = list(faults(case, number, made, directory))
        assert not found, f"{number.name} after {wait:.2f} of {seconds:.2f} s: {found}"
