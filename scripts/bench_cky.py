"""Constrained CKY on gold d-trees of CRAFT: training time, memory, accuracy and speed of decoding.

    python scripts/bench_cky.py [--sentences N] [--epochs 3] [--binarization simple]

Trained on CRAFT train (or its first N sentences), gold tags, traces and function tags removed, d-trees by
the Collins table; scored on CRAFT dev with EVALB, collins.prm. Decoding is timed on one core after a warm-up,
with everything from DTree to CTree in it. PAD's own C++ on the same data: 257 s per epoch, 2.47 GB, 97
sentences/s, F1 97.49 (R 96.82, P 98.16), exact 55.5 %. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import os
import resource
import sys
import time
from itertools import islice
from pathlib import Path

import click

from cky.binarization import BINARIZATIONS
from cky.constrained_cky import GLUED, ConstrainedCKY
from cky.training import Epoch
from trees.formats.brackets import read_brackets
from trees.repair import Repairs
from trees.scores.evalb import bracket_scores

REPOSITORY = Path(__file__).resolve().parent.parent
PAD = {"s per epoch": 257.0, "sentences/s": 97.0}


@click.command()
@click.option("--sentences", type=int, default=None, help="Of the training data.  [default: all]")
@click.option("--epochs", default=3, show_default=True)
@click.option("--binarization", type=click.Choice(list(BINARIZATIONS)), default="simple", show_default=True)
def main(sentences: int | None, epochs: int, binarization: str) -> None:
    """Trains, decodes and prints the figures."""
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    dev = list(read_brackets(treebanks / "craft-dev.mrg.gz", clean=True))
    route = ConstrainedCKY(binarization=binarization, epochs=1)
    start = time.perf_counter()
    route.fit(dev[:2])
    route.decode(route.encode(dev[0]))
    print(f"warm-up: {time.perf_counter() - start:.1f} s (compiling, or loading what was compiled before)")

    ends: list[float] = []

    def report(epoch: Epoch) -> None:
        ends.append(time.perf_counter())
        print(epoch, flush=True)

    route = ConstrainedCKY(binarization=binarization, epochs=epochs)
    start = time.perf_counter()
    route.fit(islice(read_brackets(treebanks / "craft-train.mrg.gz", clean=True), sentences), progress=report)
    grammar = route.grammar_
    print(f"grammar: {len(grammar.rules)} rules, {len(grammar.symbols)} symbols")
    if len(ends) > 1:
        seconds = (ends[-1] - ends[0]) / (len(ends) - 1)
        print(f"training: {seconds:.1f} s per epoch ({PAD['s per epoch'] / seconds:.1f} x PAD's speed)")
    print(f"training with reading: {time.perf_counter() - start:.0f} s in all")
    print(f"non-zero weights: {(route.weights_ != 0).sum():,} of 2^{route.table_bits}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    dtrees = [route.encode(ctree) for ctree in dev]
    repairs = Repairs()
    start = time.perf_counter()
    decoded = list(route.decode_all(dtrees, repairs))
    speed = len(dev) / (time.perf_counter() - start)
    scores = bracket_scores(dev, decoded)
    print(f"peak memory until here: {peak:.2f} GB")
    print(f"decoding: {speed:.0f} sentences/s on one core ({speed / PAD['sentences/s']:.1f} x PAD's speed)")
    print(
        f"EVALB collins.prm: F1 {scores.fmeasure:.2f} (R {scores.recall:.2f}, P {scores.precision:.2f}), "
        f"exact {scores.complete_match:.2f} %; glue rule used {repairs.counts[GLUED]} times"
    )


if __name__ == "__main__":
    main()
