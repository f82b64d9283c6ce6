"""`d2c parse --jobs`: the same bytes, how much faster, and how much memory, for few lines and for many.

    python scripts/bench_parse_jobs.py MODEL [TREES] [--lines 20000,200000] [--jobs 1,2] [--keep DIRECTORY]

The lines are the sentences of a treebank again and again: words with blanks between them for a model with a
tagger, otherwise CoNLL-U with the treebank's tags. Memory is the most that the first process has had, and the
most that one of its workers has had. Tokens/s count from the beginning of the command to its end.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import click

from d2c.models.model import read_settings
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.treebanks import read_treebank
from measuring.options import FilePath
from measuring.tables import print_table, say

SAMPLE = Path(__file__).parents[1] / "data" / "sample" / "dev.mrg"
HEADER = ["lines", "jobs", "tokens", "s", "tokens/s", "first MB", "worker MB", "sha256"]
EVERY = 0.2  # seconds between looks at the memory


class Run(NamedTuple):
    """Seconds of a command, and megabytes of it and of the largest process that it started."""

    seconds: float
    first: float
    worker: float


@click.command()
@click.argument("model", type=FilePath)
@click.argument("trees", type=FilePath, default=SAMPLE)
@click.option("--lines", default="20000,200000", show_default=True)
@click.option("--jobs", default="1,2", show_default=True)
@click.option("--keep", type=FilePath, help="Leaves input and output there.")
def main(model: Path, trees: Path, lines: str, jobs: str, keep: Path | None) -> None:
    """Parses each number of lines with each number of jobs, and prints the table."""
    rows, same = [], True
    with tempfile.TemporaryDirectory() as scratch:
        directory = keep or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        for count in map(int, lines.split(",")):
            source, digests = directory / f"{count}.txt", set()
            options, tokens = write(model, trees, count, source)
            for number in map(int, jobs.split(",")):
                output = directory / f"{count}.{number}.mrg"
                say(f"{count:,} lines, {number} jobs")
                words = ["parse", str(model), str(source), *options, "--jobs", str(number), "-o", str(output)]
                run = measured(words)
                with open(output, "rb") as stream:
                    digests.add(digest := hashlib.file_digest(stream, "sha256").hexdigest())
                speed = round(tokens / run.seconds)
                rows.append([count, number, tokens, run.seconds, speed, run.first, run.worker, digest[:12]])
            same = same and len(digests) == 1
    print_table(HEADER, rows)
    if not same:
        sys.exit("The bytes are not the same.")


def write(model: Path, trees: Path, count: int, file: Path) -> tuple[list[str], int]:
    """Writes so many sentences; the options of `parse` that they need, and how many tokens they have."""
    tagged = "tagger" not in read_settings(model)
    known = [ctree.tokens for ctree in read_treebank(trees, clean=True)]
    tokens = 0
    with open(file, "w", encoding="utf-8") as stream:
        for sentence in islice(cycle(known), count):
            stream.write(as_conllu(sentence) if tagged else " ".join(sentence.forms) + "\n")
            tokens += len(sentence)
    return [] if tagged else ["--tokenized"], tokens


def as_conllu(tokens: Tokens) -> str:
    """A sentence without heads."""
    return format_conllu(DTree(tokens, (0,) * len(tokens)))


def measured(arguments: list[str]) -> Run:
    """Runs a command of d2c's and watches its memory."""
    start, first, worker = time.perf_counter(), 0.0, 0.0
    with subprocess.Popen([sys.executable, "-m", "d2c", *arguments]) as process:
        while process.poll() is None:
            first = max(first, peak(process.pid))
            worker = max([worker, *map(peak, descendants(process.pid))])
            time.sleep(EVERY)
    if process.returncode:
        sys.exit(f"d2c {arguments[0]}: exit status {process.returncode}")
    return Run(time.perf_counter() - start, first, worker)


def descendants(process: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have started, which still run."""
    with suppress(OSError):
        for child in map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()):
            yield child
            yield from descendants(child)


def peak(process: int) -> float:
    """The most memory that a process has had until now, in megabytes; 0 where it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    return 0.0


if __name__ == "__main__":
    main()
