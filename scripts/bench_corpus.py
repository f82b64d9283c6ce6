"""`d2c corpus`: how fast, with how much memory, and whether the output is always the same.

    python scripts/bench_corpus.py MODEL [TREES] [--sentences 200000] [--workers 1,2] [--backends ray]

The corpus is the words of a treebank's sentences again and again, for a model with a tagger. Beside it runs
`d2c parse --jobs`. Sentences/s leave out how long the start takes: a tenth of the corpus is parsed, too, and
what counts is the difference. Memory is the most that the first process has had, and the most that one of
those below it has had. Exit status 1 where digests differ.

Then: how many sentences per second the first process can read, hand out and write, with workers that take no
time; and a table of what 10^9 sentences take at the measured speed of one worker.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq

from bench_parse_jobs import SAMPLE, measured, write
from d2c.base.workers import Pool
from d2c.corpora.inputs import Inputs
from d2c.corpora.job import Plan, run
from d2c.corpora.manifest import NAME, Manifest, opened
from d2c.corpora.work import Task
from measuring.options import FilePath
from measuring.tables import print_table, say

HEADER = ["command", "workers", "sentences", "s", "sentences/s", "first MB", "worker MB", "digest"]
LARGE = 10**9  # sentences
CORES = (100, 1_000, 10_000)


@click.command()
@click.argument("model", type=FilePath)
@click.argument("trees", type=FilePath, default=SAMPLE)
@click.option("--sentences", type=click.IntRange(20), default=200_000, show_default=True)
@click.option("--workers", default="1,2", show_default=True)
@click.option("--backends", default="ray,processes", show_default=True)
@click.option("--parse/--no-parse", default=True, show_default=True, help="Also `d2c parse --jobs`.")
def main(model: Path, trees: Path, sentences: int, workers: str, backends: str, parse: bool) -> None:
    """Runs it all, and prints the tables."""
    rows, digests, speeds = list[list[object]](), set[str](), dict[tuple[str, int], float]()
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        files = {count: directory / f"{count}.txt" for count in (sentences // 10, sentences)}
        for count, file in files.items():
            if not write(model, trees, count, file)[0]:
                sys.exit("a model with a tagger is needed")
        for number in map(int, workers.split(",")):
            for name in [*backends.split(","), *(["parse"] if parse else [])]:
                say(f"{name}, {number}")
                output, seconds = directory / f"{name}.{number}", dict[int, float]()
                for count, file in files.items():
                    shutil.rmtree(output, ignore_errors=True)
                    taken = measured(words(name, model, file, output, number))
                    seconds[count] = taken.seconds
                short, long = seconds
                speeds[name, number] = (long - short) / (seconds[long] - seconds[short])
                digest = "" if name == "parse" else digest_of(output)
                digests |= {digest} - {""}
                row = [name, number, sentences, seconds[long], round(speeds[name, number])]
                rows.append([*row, taken.first, taken.worker, digest[:12]])
        print_table(HEADER, rows)
        made = next(path for path in directory.glob("*.?") if path.is_dir())
        print_scale(speeds[made.name.split(".")[0], int(made.suffix[1:])], made, files[sentences], sentences)
    if len(digests) != 1:
        sys.exit("The digests differ.")


def words(name: str, model: Path, source: Path, output: Path, workers: int) -> list[str]:
    """The command, its first word left out."""
    if name == "parse":
        options = ["--tokenized", "--to", "json", "--jobs", str(workers), "-o", f"{output}.jsonl"]
        return ["parse", str(model), str(source), *options]
    options = ["--tokenized", "--backend", name, "--workers", str(workers), "-o", str(output)]
    return ["corpus", str(source), "--model", str(model), *options]


def manifest_of(output: Path) -> Manifest:
    """Of a job that is finished."""
    settings = json.loads((output / NAME).read_text(encoding="utf-8").splitlines()[0])
    with opened(output, settings, resume=True) as manifest:
        return manifest


def digest_of(output: Path) -> str:
    """Of what a job has made."""
    return manifest_of(output).digest()


def print_scale(speed: float, made: Path, source: Path, sentences: int) -> None:
    """What the first process can do, and what 10^9 sentences take, by what a smaller corpus took."""
    entries = manifest_of(made).entries.values()
    stored = sum(entry.length for entry in entries) / sentences
    read = source.stat().st_size / sentences
    first = speed_of_first(made, source, sentences)
    say(f"{first:,.0f} sentences/s by the first process: as much as {first / speed:,.0f} workers do")
    hours = LARGE / speed / 3600
    rows = [[f"{cores:,}", f"{hours / min(cores, first / speed):,.1f}"] for cores in CORES]
    print_table(["cores", "hours"], [[1, f"{hours:,.0f}"], *rows])
    say(f"10^9 sentences: input {read:.0f} GB, output {stored:.0f} GB in {LARGE // 20_000:,} files")


def speed_of_first(made: Path, source: Path, sentences: int) -> float:
    """Sentences/s that are read, handed out, taken back and written where the work itself takes no time."""
    with tempfile.TemporaryDirectory() as scratch:
        job: Any = Canned(made / "part-000000.parquet")
        plan = Plan(
            Inputs([source], kind="tokenized"), 20_000, 256, 600, lambda: Pool(job.worker, 2, fresh=True)
        )
        start = time.process_time()  # of this process only
        with opened(Path(scratch) / "out", {}, False) as manifest:
            for _ in run(plan, manifest):
                pass
        return sentences / (time.process_time() - start)


@dataclass(frozen=True)
class Canned:
    """A job whose workers take no time: they answer with rows of a table that is there."""

    table: Path

    def worker(self) -> Callable[[Task], Any]:
        """As `Job` says."""
        table = pq.read_table(self.table).combine_chunks()
        return lambda task: table.slice(0, len(task.records))


if __name__ == "__main__":
    main()
