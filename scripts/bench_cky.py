"""Constrained CKY on CRAFT: training, accuracy, speed, Table 1 of PAD, run time against sentence length.

    python scripts/bench_cky.py [--sentences N] [--epochs 5] [--labels] [--predicted X.conllu] [--plot X.png]

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
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from d2c.cky.constrained_cky import GLUED, PRUNING_UNDONE, ConstrainedCKY
from d2c.cky.learning.training import Epoch
from d2c.cky.lexicalised_cky import LONGEST, lexicalised_oracle, parse_lexicalised
from d2c.reduction.reduction import Reduction
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import write_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.scores.matches import Summary
from measuring import options
from measuring.craft import Craft
from measuring.tables import Line, picture, print_table
from measuring.timing import fastest, peak_gigabytes, timed

HEADER = ("", "sentences/s", "oracle F1", "F1", "pruning undone")
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
LEXICALISED = 100  # sentences of the lexicalised row


@click.command()
@click.option("--sentences", type=int, help="Of the training data.  [default: all]")
@click.option("--epochs", default=5, show_default=True)
@click.option("--binarization", type=click.Choice(list(BINARIZATIONS)), default="simple", show_default=True)
@click.option("--labels", is_flag=True, help="Head-ordered labels (direct) of the gold d-trees as features.")
@click.option("--no-context", is_flag=True, help="The features of Figure 4 only.")
@click.option("--table", is_flag=True, help="Table 1 as well, with a second training for its first row.")
@click.option("--predicted", type=options.FilePath, help="D-trees of dev, for the oracle in the table.")
@options.plot_option("Run time against length")
def main(
    sentences: int | None,
    epochs: int,
    binarization: str,
    labels: bool,
    no_context: bool,
    table: bool,
    predicted: Path | None,
    plot: Path | None,
) -> None:
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
    if plot:
        run_time(route, dtrees, plot)
    if table:
        others = dtrees if predicted is None else list(read_conllu(predicted))
        rows = pruning_rows(route, craft.dev, dtrees, others)
        figure_4 = ConstrainedCKY(binarization=binarization, epochs=epochs, labels=labels, context=False)
        trained(figure_4, craft)
        print_table(HEADER, [lexicalised_row(figure_4, craft.dev), *rows])


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


def pruning_rows(
    route: ConstrainedCKY, gold: list[CTree], dtrees: list[DTree], others: list[DTree]
) -> list[Line]:
    """Table 1 but its first row: the oracles are on `others`."""
    rows: list[Line] = []
    for name, pruning in (("DEP CKY", "none"), ("PRUNE1", "1"), ("PRUNE2", "2"), ("PRUNE1+2", "1+2")):
        route.settings = replace(route.settings, pruning=pruning)
        speed, scores, repairs = decoded(route, gold, dtrees)
        oracle = bracket_scores(gold, list(map(route.oracle, gold, others)))
        undone = repairs.counts[PRUNING_UNDONE]
        rows.append([name, speed, oracle.f1, scores.f1, undone])
    return rows


def lexicalised_row(route: ConstrainedCKY, gold: list[CTree]) -> Line:
    """LEX CKY on the first short sentences: no d-trees, features of Figure 4."""
    warm, *short = [ctree for ctree in gold if len(ctree.tokens) <= LONGEST][: LEXICALISED + 1]
    parse_lexicalised(route, warm.tokens)
    parsed, seconds = timed(lambda: [parse_lexicalised(route, ctree.tokens) for ctree in short])

    def f1(guesses: Sequence[CTree | None]) -> float:
        found = [(ctree, guess) for ctree, guess in zip(short, guesses, strict=True) if guess]
        return bracket_scores([a for a, _ in found], [b for _, b in found]).f1

    print(f"LEX CKY has no parse for {parsed.count(None)} sentences")
    oracle = f1([lexicalised_oracle(route, ctree) for ctree in short])
    return [f"LEX CKY, {LEXICALISED} sentences <= {LONGEST}", len(short) / seconds, oracle, f1(parsed), None]


def run_time(route: ConstrainedCKY, dtrees: Sequence[DTree], plot: Path) -> None:
    """Figure 5: milliseconds of each sentence, unpruned and pruned, and the exponents."""
    lengths = np.array([len(dtree.tokens) for dtree in dtrees])
    with picture(plot) as axes:
        for pruning in ("none", "1+2"):
            route.settings = replace(route.settings, pruning=pruning)
            times = np.array([1000 * fastest(3, route.decode, dtree).seconds for dtree in dtrees])
            exponent = fitted_exponent(lengths, times)
            axes.plot(lengths, times, ".", markersize=2, label=f"pruning {pruning}: n^{exponent:.2f}")
            print(f"run time, pruning {pruning}: grows as length^{exponent:.2f}")
        axes.set(xlabel="words", ylabel="milliseconds", title="Constrained CKY on gold d-trees of CRAFT dev")
    route.settings = replace(route.settings, pruning="none")


def fitted_exponent(lengths: NDArray[Any], milliseconds: NDArray[Any]) -> float:
    """The slope on a log-log scale through the median times of lengths from 10 words on, five words a bin."""
    bins = [(lengths >= begin) & (lengths < begin + 5) for begin in range(10, 80, 5)]
    points = [(lengths[bin].mean(), np.median(milliseconds[bin])) for bin in bins if bin.sum() >= 5]
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


if __name__ == "__main__":
    main()
