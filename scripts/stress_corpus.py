"""`d2c corpus`, killed at random: the command, a worker, Ray's raylet. Nothing is lost, and nothing twice.

    python scripts/stress_corpus.py MODEL [TREES] [--sentences 2000] [--kills 10] [--backend ray] [--seed 1]

The corpus is parsed once, in processes. Then again, while something is killed (SIGKILL) after a random share
of that time; where the command ends, it is started again with --resume, until it ends well and all kills are
done. Exit status 1 unless the digest is that of the first run, and each sentence is there once, in order.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import click
import pyarrow.parquet as pq

from bench_corpus import digest_of, words
from bench_parse_jobs import SAMPLE, descendants, write
from measuring.options import FilePath
from measuring.tables import say

SIZES = ("--shard-size", "200", "--batch-size", "50")
VICTIMS = {"worker": (b"ray::Actor", b"spawn_main"), "raylet": (b"raylet/raylet",)}


def victim(process: int, kind: str, random: Random) -> int | None:
    """One of the processes of this kind below the command."""
    if kind == "command":
        return process
    found = []
    for below in descendants(process):
        try:
            said = Path(f"/proc/{below}/cmdline").read_bytes()
        except OSError:
            continue
        if any(mark in said for mark in VICTIMS[kind]):
            found.append(below)
    return random.choice(found) if found else None


def parse_once(model: Path, source: Path, output: Path) -> float:
    """Seconds of a whole run."""
    start = time.monotonic()
    command = [sys.executable, "-m", "d2c", *words("processes", model, source, output, 2), *SIZES]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


@click.command()
@click.argument("model", type=FilePath)
@click.argument("trees", type=FilePath, default=SAMPLE)
@click.option("--sentences", type=click.IntRange(1), default=2_000, show_default=True)
@click.option("--kills", type=click.IntRange(1), default=10, show_default=True)
@click.option("--backend", type=click.Choice(["ray", "processes"]), default="ray", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(model: Path, trees: Path, sentences: int, kills: int, backend: str, seed: int) -> None:
    """Kills, resumes, compares."""
    random, killed, started = Random(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        source, whole, output = directory / "s.txt", directory / "whole", directory / "killed"
        write(model, trees, sentences, source)
        seconds = parse_once(model, source, whole)
        say(f"a whole run takes {seconds:.1f} s")
        command = [sys.executable, "-m", "d2c", *words(backend, model, source, output, 2), *SIZES, "--resume"]
        kinds = ["command", "worker", *(["raylet"] if backend == "ray" else [])]
        status = -1
        while status != 0 or killed.total() < kills:
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
                started += 1
                while killed.total() < kills and process.poll() is None:
                    time.sleep(random.uniform(0.1, seconds))
                    kind = kinds[killed.total() % len(kinds)]
                    if process.poll() is None and (number := victim(process.pid, kind, random)):
                        os.kill(number, signal.SIGKILL)
                        killed[kind] += 1
                        say(f"killed: {kind}")
                status = process.wait()
                say(f"run {started}: exit status {status}")
            if status not in (
                0,
                1,
                2,
                -signal.SIGKILL,
            ):  # 1: Ray itself ends it, where its raylet is not ready
                sys.exit("It should not end so.")
            if status == 0 and killed.total() < kills:
                say("finished before all kills; the rest is of a new run")
                (output / ".manifest.jsonl").unlink()
                for file in output.glob("*.parquet"):
                    file.unlink()
        ids = [
            one
            for file in sorted(output.glob("*.parquet"))
            for one in pq.read_table(file)["sentence_id"].to_pylist()
        ]
        same = digest_of(output) == digest_of(whole) and ids == [
            f"{source}:{k}.1" for k in range(1, sentences + 1)
        ]
        say(f"{dict(killed)}, {started} runs: the output is {'the same' if same else 'another one'}")
        sys.exit(not same)


if __name__ == "__main__":
    main()
