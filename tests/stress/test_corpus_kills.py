"""`d2c corpus`, disturbed at random: the command, a worker, Ray's raylet is killed, memory is short, the disk
is full. Nothing is lost, and nothing twice.

    D2C_STRESS=10 pytest -m stress tests/stress/test_corpus_kills.py

The corpus is parsed once. Then again, while something happens after a random share of that time: SIGKILL,
a limit of memory for a worker, of the sizes of files for the command. Where it ends, it is started again
with --resume --retry-failed, until it ends well and all has happened: D2C_STRESS kills, and a third as often
each of the others. The output must be that of the first run, byte by byte.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from d2c.trees.formats.brackets import read_brackets

pytestmark = pytest.mark.stress

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "dev.mrg"
KILLS, SENTENCES = int(os.environ.get("D2C_STRESS", "3")), 2_000
VICTIMS = {"worker": (b"ray::", b"spawn_main"), "raylet": (b"raylet/raylet",)}
ENDS = (0, 1, 2, 3, -signal.SIGKILL)  # 1: Ray itself ends it, where its raylet is not ready


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a sentence on each line."""
    path = tmp_path_factory.mktemp("text") / "s.txt"
    sentences = [" ".join(ctree.tokens.forms) for ctree in read_brackets(SAMPLE)]
    path.write_text("".join(f"{line}\n" for line in islice(cycle(sentences), SENTENCES)), encoding="utf-8")
    return path


def corpus(backend: str, source: Path, output: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the command."""
    words = ["corpus", str(source), "--tokenized", "--backend", backend, "--workers", "2", "-o", str(output)]
    words += ["--shard-size", "200", "--batch-size", "50", *options]
    return subprocess.Popen(
        [sys.executable, "-m", "d2c", *words], stdout=subprocess.DEVNULL, start_new_session=True
    )


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """What an undisturbed run makes, and its seconds."""
    output, start = tmp_path_factory.mktemp("whole") / "out", time.monotonic()
    assert corpus("processes", source, output).wait() == 0
    return output, time.monotonic() - start


@pytest.mark.parametrize("trouble", ["kills", "short memory", "full disks"])
@pytest.mark.parametrize("backend", ["processes", "ray"])
def test_what_is_disturbed_goes_on_to_the_same_end(
    backend: str, trouble: str, source: Path, whole: tuple[Path, float], tmp_path: Path
) -> None:
    rng, output, done, status = Random(1), tmp_path / "out", 0, -1
    kinds, times = {
        "kills": (["command", "worker", *(["raylet"] if backend == "ray" else [])], KILLS),
        "short memory": (["memory"], -(-KILLS // 3)),
        "full disks": (["disk"], -(-KILLS // 3)),
    }[trouble]
    while status != 0:
        with corpus(backend, source, output, "--resume", "--retry-failed") as process:
            while done < times and process.poll() is None:
                time.sleep(rng.uniform(0.1, whole[1]))
                done += disturb(process, kinds[done % len(kinds)], rng)
            status = process.wait()
        assert status in ENDS
    assert files(output) == files(whole[0])
    assert [row["sentence_id"] for row in rows(output)] == [
        f"{source}:{k}.1" for k in range(1, SENTENCES + 1)
    ]


def disturb(command: subprocess.Popen[bytes], kind: str, rng: Random) -> bool:
    """Kill a process of the command, or let it run out of memory or room on its disk; tell whether it ran."""
    number = (
        command.pid if kind == "disk" else victim(command.pid, "worker" if kind == "memory" else kind, rng)
    )
    if command.poll() is not None or not number:
        return False
    with suppress(OSError):
        if kind == "disk":
            resource.prlimit(number, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        elif kind == "memory":
            pages = int(Path(f"/proc/{number}/statm").read_text().split()[0])
            resource.prlimit(number, resource.RLIMIT_AS, (pages * resource.getpagesize(),) * 2)
        else:
            os.kill(number, signal.SIGKILL)
        return True
    return False


def files(output: Path) -> dict[str, bytes]:
    """Return the bytes of all parts."""
    return {path.name: path.read_bytes() for path in output.glob("*.parquet")}


def rows(output: Path) -> list[dict[str, object]]:
    """Return all rows of a corpus."""
    return [row for file in sorted(output.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def victim(process: int, kind: str, rng: Random) -> int | None:
    """Return one of the processes of this kind below the command."""
    if kind == "command":
        return process
    found = []
    for below in descendants(process):
        with suppress(OSError):
            if any(mark in Path(f"/proc/{below}/cmdline").read_bytes() for mark in VICTIMS[kind]):
                found.append(below)
    return rng.choice(found) if found else None


def descendants(process: int) -> Iterator[int]:
    """Yield the processes that a process has started, and those that they have started, which still run."""
    with suppress(OSError):
        for child in map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()):
            yield child
            yield from descendants(child)
