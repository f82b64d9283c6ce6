"""Constrained CKY on CRAFT: compilation, training, accuracy, speed, memory.

    python scripts/bench_cky.py [--sentences N] [--epochs 5] [--labels] [--no-context] [--stanford]

Trained on CRAFT train (or N sentences, drawn evenly; 1243 are 5 %), gold tags, traces and function tags
removed; d-trees by the Collins table, or (--stanford) CRAFT's own, in the Stanford convention, whose heads
the c-trees then have. Scored on the gold d-trees of CRAFT dev with EVALB, collins.prm. Everything runs on one
core, after a warm-up that compiles; decoding is timed from DTree to CTree. What PAD's own C++ took is in
docs/lab/chart.md. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import click

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.decoding import GLUE_USED
from d2c.learning.learner import Epoch
from d2c.reduction.reduction import Reduction
from d2c.training.conventions import with_induced_heads
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from experiments.experiment import Treebank
from experiments.timing import timed
from treebanks.files import folder, known


@click.command()
@click.option("--sentences", type=int, help="Train on this many sentences, drawn evenly.  [default: all]")
@click.option("--epochs", default=5, show_default=True)
@click.option("--binarization", type=click.Choice(list(BINARIZATIONS)), default="simple", show_default=True)
@click.option("--labels", is_flag=True, help="Use the d-trees' head-ordered labels (direct) as features.")
@click.option("--no-context", is_flag=True, help="Use only the features of Figure 4.")
@click.option("--stanford", is_flag=True, help="Use CRAFT's own d-trees and their labels.")
def main(
    sentences: int | None, epochs: int, binarization: str, labels: bool, no_context: bool, stanford: bool
) -> None:
    """Train, decode and print the figures."""
    craft = known("craft", sentences)
    train, dev = (list(craft.trees(part)) for part in ("train", "dev"))
    ConstrainedCKY(epochs=1, table_bits=10, labels=labels).fit(dev[:2])
    route = ConstrainedCKY(binarization=binarization, epochs=epochs, labels=labels, context=not no_context)
    encode = Reduction("direct").encode if labels else route.encode
    if stanford:
        given, dtrees = own_dtrees(craft, "train", train), own_dtrees(craft, "dev", dev)
        train = with_induced_heads(train, given)
    else:
        given, dtrees = list(map(encode, train)), list(map(encode, dev))
    fit(route, Trees(train, given), Trees(dev, dtrees))
    guess, seconds = timed(route.decode_all, dtrees, "decoding", repairs := Repairs())
    print(f"decoding: {len(dev) / seconds:.0f} sentences/s on one core")
    print(f"{shown(dev, guess)}; glue rule used {repairs.counts[GLUE_USED]} times")
    if stanford:
        nearest = map(route.oracle, with_induced_heads(dev, dtrees), dtrees)
        print(f"oracle: {shown(dev, list(nearest))}")


class Trees(NamedTuple):
    """C-trees, and a d-tree for each."""

    ctrees: list[CTree]
    dtrees: list[DTree]


def own_dtrees(craft: Treebank, part: str, ctrees: list[CTree]) -> list[DTree]:
    """Return CRAFT's own d-trees of the sentences of a part, over the tokens of the c-trees."""
    own = craft.own(part, read_conllu(folder() / f"craft-{part}.sd.conllu.gz"))
    return [replace(dtree, tokens=ctree.tokens) for ctree, dtree in zip(ctrees, own, strict=True)]


def fit(route: ConstrainedCKY, train: Trees, dev: Trees) -> None:
    """Fit the route, and print what it took."""
    epochs: list[Epoch] = []

    def report(epoch: Epoch) -> None:
        epochs.append(epoch)
        print(epoch, flush=True)

    begin = time.perf_counter()
    route.fit(train.ctrees, dev.ctrees, dtrees=train.dtrees, dev_dtrees=dev.dtrees, progress=report)
    seconds, mean = time.perf_counter() - begin, fmean(epoch.seconds for epoch in epochs)
    print(f"grammar: {len(route.grammar_.rules)} rules, {len(route.grammar_.symbols)} symbols")
    print(f"training: {mean:.1f} s per epoch")
    print(f"training with scoring: {seconds:.0f} s in all")
    print(f"non-zero weights: {(route.weights_ != 0).sum():,} of 2^{route.settings.table_bits}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory until here: {peak:.2f} GB")


def shown(gold: list[CTree], guess: list[CTree]) -> str:
    """Return the scores of c-trees."""
    scores = bracket_scores(gold, guess)
    both = f"R {scores.recall:.2f}, P {scores.precision:.2f}"
    return f"EVALB collins.prm: F1 {scores.f1:.2f} ({both}), exact {scores.complete_match:.2f} %"


if __name__ == "__main__":
    main()
