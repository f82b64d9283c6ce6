"""Every treebank against its conversions: the scores of `d2c evaluate`, and what `d2c convert` leaves out.

    python scripts/conversions.py [--treebanks alpino,pcc] [--part dev]

Gold is a part of a treebank as it is, the guess is what `convert` makes of it. Metrics: disco and, for trees
without gaps, evalb and spmrl; F1 has to be 100.00 for all. Trees with gaps are not converted to formats that
cannot hold gaps. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import click

from benchmarks.shared import Line, names_option, print_table, say
from d2c.base.inputs import files_of
from d2c.trees.formats.registry import FORMATS, WRITABLE
from experiments.experiment import Treebank
from treebanks.files import known, known_treebanks

METRICS = {
    "disco": r"labeled f-measure: +(\S+)",
    "evalb": r"FMeasure += +(\S+)",
    "spmrl": r"FMeasure += +(\S+)",
}
HEADER = ("treebank", "format", *METRICS, "left out")


@click.command()
@click.option("--part", type=click.Choice(("train", "dev")), default="dev", show_default=True)
@names_option("--treebanks", known_treebanks(), ",".join(known_treebanks()))
def main(part: str, treebanks: list[str]) -> None:
    """Print a line for each treebank and format; exit with status 1 where a score is not 100."""
    rows: list[Line] = []
    for treebank, form in product(map(known, treebanks), WRITABLE):
        rows.append(line(treebank, part, form))
        say(rows[-1])
    print_table(HEADER, rows)
    sys.exit(any(score not in ("100.00", "-") for row in rows for score in row[2:5]))


def line(treebank: Treebank, part: str, form: str) -> Line:
    """Return the scores of one treebank in one format."""
    with tempfile.TemporaryDirectory() as directory:
        (gold,), guess = files_of(treebank.files[part]), Path(directory) / f"guess{FORMATS[form].suffixes[0]}"
        if treebank.reading.format_name:  # so that the name says it
            suffix = FORMATS[treebank.reading.format_name].suffixes[0]
            link = Path(directory) / f"gold{suffix}{gold.suffix}"
            link.symlink_to(gold.resolve())
            gold = link
        done = d2c("convert", gold, guess)
        if done.returncode:
            why = done.stderr.partition("\n")[0].rpartition(": ")[2]
            return (treebank.name, form, *["-"] * len(METRICS), f"refused: {why}")
        scores = [f1(metric, gold, guess) for metric in METRICS]
    return (treebank.name, form, *scores, done.stderr.partition(": left out: ")[2].strip() or "nothing")


def f1(metric: str, gold: Path, guess: Path) -> str:
    """Return the F1 of a conversion; `-` where trees have gaps, which the metric does not know."""
    found = re.findall(METRICS[metric], d2c("evaluate", "--metric", metric, gold, guess).stdout)
    return found[0] if found else "-"


def d2c(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    line = [sys.executable, "-m", "d2c", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
