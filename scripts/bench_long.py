"""What long sentences cost: CPU seconds and peak memory of `d2c parse` by the words of a sentence.

    python scripts/bench_long.py [MODEL...] [--against DIRECTORY] [--sizes 10,25,...] [--words N] [--lines N]

Each row is a run over as many lines as have about --words words in all (at least one line). Lines are words
of TREES one after the other, without marks (--marks: with them), as speech recognition writes them. CPU
seconds are those of the process less those of a run over one word. With --against, each run is repeated with
the d2c of that directory (a checkout of an earlier commit), in turn, and the ratio of both is shown; a run
that takes more than --limit CPU seconds is ended. With --lines, one row: so many lines of --sizes words each,
for the memory of long files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import cycle, islice
from math import inf
from pathlib import Path

import click

from benchmarks.shared import FilePath, Used, print_table, run, say
from d2c.trees.formats.brackets import read_brackets
from papers.table import Cell

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample" / "dev.mrg"
HERE = Path(__file__).resolve().parents[1]
SIZES = "10,25,50,100,200,500,2000,10000"


def cost(package: Path, model: str, text: Path, limit: int) -> Used | None:
    """Run `d2c parse` of a checkout; None: it took more than so many CPU seconds, and was ended."""
    where = ["env", f"PYTHONPATH={package}", "OMP_NUM_THREADS=1", "prlimit", f"--cpu={limit}"]
    command = [sys.executable, "-m", "d2c", "parse", model, str(text), "--tokenized", "--to", "json"]
    try:
        return run([*where, *command])
    except subprocess.CalledProcessError as error:
        if error.returncode < 0:
            return None
        raise


@click.command()
@click.argument("models", nargs=-1)
@click.option("--trees", type=FilePath, default=SAMPLE)
@click.option("--marks", is_flag=True)
@click.option("--against", type=FilePath)
@click.option("--sizes", default=SIZES)
@click.option("--words", type=int, default=10_000)
@click.option("--lines", type=int, default=0)
@click.option("--limit", type=int, default=600)
def main(
    models: tuple[str, ...],
    trees: Path,
    marks: bool,
    against: Path | None,
    sizes: str,
    words: int,
    lines: int,
    limit: int,
) -> None:
    packages = [HERE, *filter(None, [against])]
    every = [form for tree in read_brackets(trees) for form in tree.tokens.forms if marks or form.isalnum()]
    rows = list[list[Cell]]()
    with tempfile.TemporaryDirectory() as directory:
        text = Path(directory, "words.txt")
        for model in models or ("en", "en-small"):
            text.write_text("word\n")
            for package in packages:  # whatever is compiled only once is compiled now
                cost(package, model, text, limit)
            starts = [run_ for package in packages if (run_ := cost(package, model, text, limit))]
            for size in map(int, sizes.split(",")):
                count, stream = lines or max(1, words // size), cycle(every)
                with open(text, "w") as file:
                    file.writelines(" ".join(islice(stream, size)) + "\n" for _ in range(count))
                rows.append([model, size, count])
                speeds = []
                for package, start in zip(packages, starts, strict=True):
                    found = cost(package, model, text, limit)
                    seconds = max(0.01, found.cpu - start.cpu) if found else inf
                    speeds.append(size * count / seconds)
                    memory = found.kilobytes / 1024 if found else inf
                    rows[-1] += [f"{seconds:.2f}", f"{speeds[-1]:,.0f}", f"{memory:,.0f}"]
                rows[-1].append(f"{speeds[0] / speeds[1]:.2f}" if len(speeds) > 1 and speeds[1] else "")
                say(rows[-1])
    before = ["before: s", "words/s", "MB"] if against else []
    print_table(["model", "words", "lines", "CPU s", "words/s", "MB", *before, "ratio"], rows)


if __name__ == "__main__":
    main()
