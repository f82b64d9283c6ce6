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
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

import click
import numpy as np

from d2c.cky.constrained_cky import GLUED, PRUNING_UNDONE, ConstrainedCKY
from d2c.cky.learning.training import Epoch
from d2c.cky.lexicalised_cky import LONGEST, lexicalised_oracle, parse_lexicalised
from d2c.reduction.reduction import Reduction
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets, write_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.scores.matches import Summary

REPOSITORY = Path(__file__).resolve().parent.parent
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
@click.option("--sentences", type=int, default=None, help="Of the training data.  [default: all]")
@click.option("--epochs", default=5, show_default=True)
@click.option("--binarization", type=click.Choice(list(BINARIZATIONS)), default="simple", show_default=True)
@click.option("--labels", is_flag=True, help="Head-ordered labels (direct) of the gold d-trees as features.")
@click.option("--no-context", is_flag=True, help="The features of Figure 4 only.")
@click.option("--table", is_flag=True, help="Table 1 as well, with a second training for its first row.")
@click.option(
    "--predicted", type=click.Path(path_type=Path), help="D-trees of dev, for the oracle in the table."
)
@click.option("--plot", type=click.Path(path_type=Path), help="Run time against length, a picture.")
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
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    dev = list(read_brackets(treebanks / "craft-dev.mrg.gz", clean=True))
    warm_up(dev[:2], labels)

    def train(context: bool) -> ConstrainedCKY:
        trees = islice(read_brackets(treebanks / "craft-train.mrg.gz", clean=True), sentences)
        route = ConstrainedCKY(binarization=binarization, epochs=epochs, labels=labels, context=context)
        return trained(route, trees, dev)

    route = train(not no_context)
    dtrees = gold_dtrees(route, dev)
    speed, scores, repairs = timed(route, dev, dtrees)
    print(f"decoding: {speed:.0f} sentences/s on one core ({speed / PAD['sentences/s']:.1f} x PAD's speed)")
    print(f"EVALB collins.prm: {shown(scores)}; glue rule used {repairs.counts[GLUED]} times")
    if plot:
        run_time(route, dtrees, plot)
    if table:
        others = dtrees if predicted is None else list(read_conllu(predicted))
        print_table(route, dev, dtrees, others)
        lexicalised_row(train(False), dev)


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


def gold_dtrees(route: ConstrainedCKY, ctrees: Iterable[CTree]) -> list[DTree]:
    """The d-trees, with head-ordered labels where labels are features."""
    return list(map(Reduction("direct").encode if route.labels else route.encode, ctrees))


def trained(route: ConstrainedCKY, trees: Iterable[CTree], dev: list[CTree]) -> ConstrainedCKY:
    """Fits the route and prints what it took."""
    epochs: list[Epoch] = []

    def report(epoch: Epoch) -> None:
        epochs.append(epoch)
        print(epoch, flush=True)

    ctrees = list(trees)
    start = time.perf_counter()
    given = gold_dtrees(route, ctrees) if route.labels else None
    route.fit(ctrees, dev, dtrees=given, dev_dtrees=gold_dtrees(route, dev), progress=report)
    seconds = sum(epoch.seconds for epoch in epochs) / len(epochs)
    ratio = PAD["s per epoch"] / seconds
    print(f"grammar: {len(route.grammar_.rules)} rules, {len(route.grammar_.symbols)} symbols")
    print(f"training: {seconds:.1f} s per epoch ({ratio:.1f} x PAD's speed on all of CRAFT train)")
    print(f"training with reading and scoring: {time.perf_counter() - start:.0f} s in all")
    print(f"non-zero weights: {(route.weights_ != 0).sum():,} of 2^{route.table_bits}")
    print(f"peak memory until here: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    return route


def timed(
    route: ConstrainedCKY, gold: Sequence[CTree], dtrees: Sequence[DTree]
) -> tuple[float, Summary, Repairs]:
    """Sentences a second, scores, repairs."""
    repairs = Repairs()
    start = time.perf_counter()
    decoded = list(route.decode_all(dtrees, repairs))
    speed = len(gold) / (time.perf_counter() - start)
    return speed, bracket_scores(gold, decoded), repairs


def shown(scores: Summary) -> str:
    """F1, recall, precision, exact match."""
    return (
        f"F1 {scores.f1:.2f} (R {scores.recall:.2f}, P {scores.precision:.2f}), "
        f"exact {scores.complete_match:.2f} %"
    )


def print_table(route: ConstrainedCKY, gold: list[CTree], dtrees: list[DTree], others: list[DTree]) -> None:
    """Table 1: the oracles are on `others`."""
    print(f"\n{'':<28}{'sentences/s':>12}{'oracle F1':>11}{'F1':>8}{'pruning undone':>16}")
    for name, pruning in (("DEP CKY", "none"), ("PRUNE1", "1"), ("PRUNE2", "2"), ("PRUNE1+2", "1+2")):
        route.pruning = pruning
        speed, scores, repairs = timed(route, gold, dtrees)
        oracle = bracket_scores(gold, list(map(route.oracle, gold, others)))
        undone = repairs.counts[PRUNING_UNDONE]
        print(f"{name:<28}{speed:>12.0f}{oracle.f1:>11.2f}{scores.f1:>8.2f}{undone:>16}", flush=True)


def lexicalised_row(route: ConstrainedCKY, gold: list[CTree]) -> None:
    """LEX CKY on the first short sentences: no d-trees, features of Figure 4."""
    short = [ctree for ctree in gold if len(ctree.tokens) <= LONGEST][: LEXICALISED + 1]
    parse_lexicalised(route, short[0].tokens)
    start = time.perf_counter()
    parsed = [parse_lexicalised(route, ctree.tokens) for ctree in short[1:]]
    speed = LEXICALISED / (time.perf_counter() - start)

    def f1(guess: Callable[[CTree], CTree | None]) -> float:
        pairs = [(ctree, guess(ctree)) for ctree in short[1:]]
        found = [(ctree, best) for ctree, best in pairs if best]
        return bracket_scores([a for a, _ in found], [b for _, b in found]).f1

    of_parser = iter(parsed)
    oracle, best = f1(lambda ctree: lexicalised_oracle(route, ctree)), f1(lambda _: next(of_parser))
    name = f"LEX CKY, {LEXICALISED} sentences <= {LONGEST}"
    print(f"{name:<28}{speed:>12.2f}{oracle:>11.2f}{best:>8.2f}{'':>16}")
    print(f"(LEX CKY has no parse for {parsed.count(None)} of them)")


def run_time(route: ConstrainedCKY, dtrees: Sequence[DTree], plot: Path) -> None:
    """Figure 5: milliseconds of each sentence, unpruned and pruned, and the exponents."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lengths = np.array([len(dtree.tokens) for dtree in dtrees])
    figure, axes = pyplot.subplots()
    for pruning, colour in (("none", "tab:blue"), ("1+2", "tab:orange")):
        route.pruning = pruning
        best = np.full(len(dtrees), np.inf)
        for _ in range(3):
            for at, dtree in enumerate(dtrees):
                start = time.perf_counter()
                route.decode(dtree)
                best[at] = min(best[at], 1000 * (time.perf_counter() - start))
        exponent = fitted_exponent(lengths, best)
        axes.plot(
            lengths, best, ".", markersize=2, color=colour, label=f"pruning {pruning}: n^{exponent:.2f}"
        )
        print(f"run time, pruning {pruning}: grows as length^{exponent:.2f}")
    route.pruning = "none"
    axes.set(xlabel="words", ylabel="milliseconds", title="Constrained CKY on gold d-trees of CRAFT dev")
    axes.legend()
    figure.savefig(plot)


def fitted_exponent(lengths: np.ndarray, milliseconds: np.ndarray) -> float:
    """The slope on a log-log scale through the median times of lengths from 10 words on, five words a bin."""
    bins = [(lengths >= begin) & (lengths < begin + 5) for begin in range(10, 80, 5)]
    points = [(lengths[bin].mean(), np.median(milliseconds[bin])) for bin in bins if bin.sum() >= 5]
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


if __name__ == "__main__":
    main()
