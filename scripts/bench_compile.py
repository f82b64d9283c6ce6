"""How long numba compiles: CPU seconds on an empty cache, to train with each route and to parse.

    python scripts/bench_compile.py [--kernels] [--runs 1]

Each row is a process of its own with an empty NUMBA_CACHE_DIR. `train` fits a route on thirty trees of the
bundled sample, decodes, and asks for confidences (and the chart's oracle); `parse` loads it and decodes a
sentence; `both` is what `d2c compare` compiles. To measure a version from before the packages became parts
of `d2c`, run MEASURED there with `d2c.` taken from its imports.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from measuring.tables import print_table

ROWS = [("chart", "train"), ("chart", "parse"), ("labeler", "train"), ("labeler", "parse"), ("both", "train")]
MEASURED = """
import collections, sys, time
from importlib import resources
from itertools import islice
from pathlib import Path
from numba.core import event

class Listener(event.Listener):
    def __init__(self):
        self.running, self.seconds = [], collections.Counter()
    def on_start(self, event):
        self.running.append([time.process_time(), 0.0])
    def on_end(self, event):
        start, inner = self.running.pop()
        taken = time.process_time() - start
        kernel = event.data["dispatcher"].py_func
        self.seconds[kernel.__module__ + "." + kernel.__name__] += taken - inner
        if self.running:
            self.running[-1][1] += taken

listener = Listener()
event.register("numba:compile", listener)
route, verb, directory, sample = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
from d2c.trees.formats.brackets import read_brackets
trees = list(islice(read_brackets(sample, clean=True), 30))
if route in ("chart", "both"):
    from d2c.cky.constrained_cky import ConstrainedCKY
    chart = ConstrainedCKY.load(directory / "chart") if verb == "parse" else None
    if chart is None:
        chart = ConstrainedCKY(epochs=1, table_bits=12, labels=True).fit(trees, trees[:5])
        chart.save(directory / "chart")
        chart.oracle(trees[0], chart.encode(trees[0]))
        chart.confidences(chart.encode(trees[0]))
    chart.decode(chart.encode(trees[0]))
if route in ("labeler", "both"):
    from d2c.reduction.labeler.labeler import Labeler
    from d2c.reduction.reduction import Reduction
    dtrees = list(map(Reduction("direct").encode, trees))
    labeler = Labeler.load(directory / "labeler") if verb == "parse" else None
    if labeler is None:
        labeler = Labeler("direct", epochs=1, table_bits=12).fit(dtrees)
        labeler.save(directory / "labeler")
        labeler.label_with_shares(dtrees[:2])
    list(labeler.label_all(dtrees[:3]))
print(sum(listener.seconds.values()))
for kernel, seconds in listener.seconds.most_common(12):
    print(f"    {seconds:6.2f} s  {kernel}")
"""


@click.command()
@click.option("--kernels", is_flag=True, help="The longest of each row, each without those that it calls.")
@click.option("--runs", default=1, show_default=True, help="Of each row; the median is printed.")
def main(kernels: bool, runs: int) -> None:
    """Compiles everything and prints how long it took."""
    sample = Path(__file__).resolve().parent.parent / "data" / "sample" / "train.mrg"
    rows = []
    with tempfile.TemporaryDirectory() as models:
        for route, verb in ROWS:
            said = [measured(route, verb, models, sample) for _ in range(runs)]
            rows.append([route, verb, f"{statistics.median(float(lines[0]) for lines in said):.1f}"])
            if kernels:
                print(f"{route} {verb}", *said[0][1:], sep="\n", flush=True)
    print_table(["route", "", "CPU s of compilation"], rows)


def measured(route: str, verb: str, models: str, sample: Path) -> list[str]:
    """What MEASURED prints in a process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", MEASURED, route, verb, models, str(sample)]
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return run.stdout.splitlines()


if __name__ == "__main__":
    main()
