"""Seconds until d2c is there: `d2c --help`, `d2c.load()`, the first tree; each a whole process.

    python scripts/benchmarks/startup.py [OTHER_PYTHON] [--runs 5]

OTHER_PYTHON is the Python of an environment with another version, an earlier commit for example. They take
turns, so that other load meets both; the first run of each, which compiles, is not counted. Figures are
medians, by the clock and of CPU time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import print_table, run

WORK = {
    "d2c --help": ["-m", "d2c", "--help"],
    "d2c.load()": ["-c", "import d2c; d2c.load()"],
    "first tree": ["-m", "d2c", "parse", "--text"],
}
TEXT = b"They saw the cat with glasses.\n"
HEADER = ["", "seconds", "CPU seconds", "other", "other, CPU"]


@click.command()
@click.argument("other", required=False)
@click.option("--runs", default=5, show_default=True, help="Of each, after the one that compiles.")
def main(other: str | None, runs: int) -> None:
    """Time this d2c, and another one."""
    pythons = [sys.executable, *([other] if other else [])]
    rows = []
    for name, arguments in WORK.items():
        found: list[list[tuple[float, float]]] = [[] for _ in pythons]
        for _ in range(1 + runs):
            for python, of_python in zip(pythons, found, strict=True):
                of_python.append(run([python, *arguments], TEXT)[:2])
        medians = [median(values) for of_python in found for values in zip(*of_python[1:], strict=True)]
        rows.append([name, *(f"{value:.2f}" for value in medians)])
    print_table(HEADER[: 1 + 2 * len(pythons)], rows)


if __name__ == "__main__":
    main()
