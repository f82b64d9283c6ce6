"""Speed and memory of this d2c against another one: two checkouts, each installed in its own environment.

    python scripts/bench_house.py OTHER_PYTHON [--runs 5] [--rows cky,labeler] [--train X.mrg] [--dev Y.mrg]

OTHER_PYTHON is the Python of the other environment. For each row both have a process of their own, which
trains what it needs on the first sentences of CRAFT and works once unmeasured, with compiled kernels; then
they work in turn, so that other load on the machine meets both. Figures are medians: tokens/s by the clock
and of CPU time, the peak of memory while they work; ratios are here / other. `same`: equal results.
Reads $D2C_TREEBANKS (default ../shared/treebanks), unless --train and --dev name files in brackets.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import click

from benchmarks import house
from benchmarks.shared import FilePath, Line, names_option, print_table, say
from treebanks.files import known

HEADER = ["", "tok/s", "other", "ratio", "tok/s CPU", "other", "ratio", "MB", "other", "ratio", "same"]
FEW = 40  # sentences, where kernels are compiled


@click.command()
@click.argument("other_python", type=click.Path(exists=True, dir_okay=False))
@click.option("--runs", default=5, show_default=True)
@click.option("--sentences", default=1000, show_default=True, help="From which models learn.")
@names_option("--rows", house.ROWS, ",".join(house.ROWS))
@click.option("--train", type=FilePath, help="[default: CRAFT's]")
@click.option("--dev", type=FilePath, help="[default: CRAFT's]")
def main(
    other_python: str, runs: int, sentences: int, rows: list[str], train: Path | None, dev: Path | None
) -> None:
    """Time both and print the table."""
    files = [str(file or known("craft").files[part]) for file, part in ((train, "train"), (dev, "dev"))]
    pythons = (sys.executable, other_python)
    for python in pythons:
        for row in rows:
            say(f"{python}: kernels of {row}")
            Process(python, row, *files, str(FEW)).end()
    lines: list[Line] = []
    for row in rows:
        say(row)
        lines.append(line(row, [Process(python, row, *files, str(sentences)) for python in pythons], runs))
    print_table(HEADER, lines)


class Process:
    """One environment at the work of one row."""

    def __init__(self, python: str, *arguments: str) -> None:
        # -P: of what lies beside the program nothing is imported.
        started = [python, "-P", house.__file__, *arguments]
        self.process = subprocess.Popen(started, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.tokens = self.answer()["tokens"]
        self.times: list[dict[str, float]] = []

    def answer(self) -> dict[str, float]:
        """Return what the process says next."""
        assert self.process.stdout
        said = self.process.stdout.readline()
        if not said:
            raise click.ClickException("a measured process ended with an error")
        answer: dict[str, float] = json.loads(said)
        return answer

    def work(self) -> None:
        """Have it work once."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times.append(self.answer())

    def end(self) -> float:
        """End it; return the checksum of its results."""
        assert self.process.stdin
        self.process.stdin.close()
        checksum = self.answer()["checksum"]
        self.process.wait()
        return checksum

    def median(self, what: str) -> float:
        """Return the median of all runs."""
        return median(time[what] for time in self.times)


def line(row: str, processes: list[Process], runs: int) -> Line:
    """Let both work in turn; return a line of the table."""
    for number in range(runs):
        for process in processes[:: -1 if number % 2 else 1]:
            process.work()
    cells: list[float] = []
    for what in ("wall", "cpu", "memory"):
        here, other = (process.median(what) for process in processes)
        if what != "memory":
            here, other = (process.tokens / process.median(what) for process in processes)
        cells += [round(here), round(other), here / other]
    same = len({process.end() for process in processes}) == 1
    return [row, *cells, "yes" if same else "no"]


if __name__ == "__main__":
    main()
