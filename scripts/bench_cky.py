"""Constrained CKY on CRAFT: compilation, training, accuracy, speed, memory.

    python scripts/bench_cky.py [--sentences N] [--epochs 5] [--labels] [--no-context]

Trained on CRAFT train (or its first N sentences; 1243 are 5 %), gold tags, traces and function tags removed,
d-trees by the Collins table. Scored on the gold d-trees of CRAFT dev with EVALB, collins.prm. Everything runs
on one core; decoding is timed after a warm-up, with all from DTree to CTree in it. PAD's own C++ on the same
data: 257 s per epoch, 2.47 GB, 97 sentences/s, F1 97.49 (R 96.82, P 98.16), exact 55.5 %.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from d2c.cky.constrained_cky import GLUED, ConstrainedCKY
from d2c.linear.learner import Epoch
from d2c.reduction.reduction import Reduction
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import write_brackets
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.scores.matches import Summary
from measuring.craft import Craft
from measuring.timing import peak_gigabytes, timed

PAD = {"s per epoch": 257.0, "sentences/s": 97.0}
FIRST_DECODING = """
import sys, time
from pathlib import Path
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.formats.brackets import read_brackets, write_brackets

route = ConstrainedCKY.load(Path(sys.argv[1]))
dtree = route.encode(next(read_brackets(Path(sys.argv[2]))))
start = time.perf_counter()
route.decode(dtree)
print(time.perf_counter() - start)
"""


@click.command()
@click.option("--sentences", type=int, help="Of the training data.  [default: all]")
@click.option("--epochs", default=5, show_default=True)
@click.option("--binarization", type=click.Choice(list(BINARIZATIONS)), default="simple", show_default=True)
@click.option("--labels", is_flag=True, help="Head-ordered labels (direct) of the gold d-trees as features.")
@click.option("--no-context", is_flag=True, help="The features of Figure 4 only.")
def main(sentences: int | None, epochs: int, binarization: str, labels: bool, no_context: bool) -> None:
    """Trains, decodes and prints the figures."""
    craft = Craft.read(sentences)
    warm_up(craft.dev[:2], labels)
    route = ConstrainedCKY(binarization=binarization, epochs=epochs, labels=labels, context=not no_context)
    dtrees = trained(route, craft)
    speed, scores, repairs = decoded(route, craft.dev, dtrees)
    print(f"decoding: {speed:.0f} sentences/s on one core ({speed / PAD['sentences/s']:.1f} x PAD's speed)")
    print(
        f"EVALB collins.prm: F1 {scores.f1:.2f} (R {scores.recall:.2f}, P {scores.precision:.2f}), "
        f"exact {scores.complete_match:.2f} %; glue rule used {repairs.counts[GLUED]} times"
    )


def warm_up(ctrees: list[CTree], labels: bool) -> None:
    """Compiles the kernels, or loads what was compiled before; how long that takes for decoding alone."""
    route = ConstrainedCKY(epochs=1, table_bits=10, labels=labels).fit(ctrees)
    with tempfile.TemporaryDirectory() as directory:
        files = Path(directory) / "model", Path(directory) / "dev.mrg"
        route.save(files[0])
        with open(files[1], "w", encoding="utf-8") as stream:
            write_brackets(ctrees, stream)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(directory) / "cache")}
        for said in ("compiling", "again, from the cache"):
            command = [sys.executable, "-c", FIRST_DECODING, *map(str, files)]
            run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            print(f"first sentence of a process with a loaded model, {said}: {float(run.stdout):.1f} s")


def trained(route: ConstrainedCKY, craft: Craft) -> list[DTree]:
    """Fits the route, prints what it took; the d-trees of dev, labelled where labels are features."""
    epochs: list[Epoch] = []

    def report(epoch: Epoch) -> None:
        epochs.append(epoch)
        print(epoch, flush=True)

    encode = Reduction("direct").encode if route.settings.labels else route.encode
    given = list(map(encode, craft.train)) if route.settings.labels else None
    dtrees = list(map(encode, craft.dev))
    fit = timed(route.fit, craft.train, craft.dev, dtrees=given, dev_dtrees=dtrees, progress=report)
    seconds = sum(epoch.seconds for epoch in epochs) / len(epochs)
    ratio = PAD["s per epoch"] / seconds
    print(f"grammar: {len(route.grammar_.rules)} rules, {len(route.grammar_.symbols)} symbols")
    print(f"training: {seconds:.1f} s per epoch ({ratio:.1f} x PAD's speed on all of CRAFT train)")
    print(f"training with scoring: {fit.seconds:.0f} s in all")
    print(f"non-zero weights: {(route.weights_ != 0).sum():,} of 2^{route.settings.table_bits}")
    print(f"peak memory until here: {peak_gigabytes():.2f} GB")
    return dtrees


def decoded(
    route: ConstrainedCKY, gold: Sequence[CTree], dtrees: Sequence[DTree]
) -> tuple[float, Summary, Repairs]:
    """Sentences a second, scores, repairs."""
    repairs = Repairs()
    guess, seconds = timed(list, route.decode_all(dtrees, repairs))
    return len(gold) / seconds, bracket_scores(gold, guess), repairs


if __name__ == "__main__":
    main()
