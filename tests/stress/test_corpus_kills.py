"""`d2c corpus`, killed at random: the command, a worker, Ray's raylet. Nothing is lost, and nothing twice.

    D2C_STRESS=10 pytest -m stress tests/stress/test_corpus_kills.py

The corpus is parsed once. Then again, while something is killed (SIGKILL) after a random share of that time;
where the command ends, it is started again with --resume, until it ends well and all D2C_STRESS kills are
done. The output must be that of the first run, each sentence once and in order.
"""

from __future__ import annotations

import os
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
ENDS = (0, 1, 2, -signal.SIGKILL)  # 1: Ray itself ends it, where its raylet is not ready


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


@pytest.mark.parametrize("backend", ["processes", "ray"])
def test_what_is_killed_goes_on_to_the_same_end(backend: str, source: Path, tmp_path: Path) -> None:
    rng, whole, output, start = Random(1), tmp_path / "whole", tmp_path / "killed", time.monotonic()
    assert corpus("processes", source, whole).wait() == 0
    seconds, killed, status = time.monotonic() - start, 0, -1
    kinds = ["command", "worker", *(["raylet"] if backend == "ray" else [])]
    while status != 0:
        with corpus(backend, source, output, "--resume") as process:
            while killed < KILLS and process.poll() is None:
                time.sleep(rng.uniform(0.1, seconds))
                number = victim(process.pid, kinds[killed % len(kinds)], rng)
                if process.poll() is None and number:
                    os.kill(number, signal.SIGKILL)
                    killed += 1
            status = process.wait()
        assert status in ENDS
    assert rows(output) == rows(whole)
    assert [row["sentence_id"] for row in rows(output)] == [
        f"{source}:{k}.1" for k in range(1, SENTENCES + 1)
    ]


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
