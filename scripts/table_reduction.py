"""Table 1 of "Parsing as Reduction" on CRAFT: d-parsers, one-shot labels or the labeler's, encodings.

    python scripts/table_reduction.py [--dparsers stanza,spacy,udpipe:swap] [--encodings direct,delta,spine]

A d-parser is trained for each encoding (small preset, gold tags) and kept in --models. Rows: its own labels;
the labeler on its heads; the labeler without the encoding's constraints; the labeler that has also learned
from jackknifed d-trees (--jackknife K: K more trainings). UAS and LAS leave out punctuation; F1 and
exact match are EVALB's under collins.prm; tokens/s: d-parser, labeler and conversion together.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from d2c.compare.rows import GoldStandard, Parses, score
from d2c.dparsers.registry import make_dparser
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.training.jackknife import jackknife_dtrees
from d2c.trees.dtree import DTree
from measuring import options
from measuring.craft import Craft
from measuring.tables import Line, picture, print_table, say
from measuring.timing import fastest, megabytes, timed

HEADER = ["d-parser", "labels by", "encoding", "UAS", "LAS", "F1", "exact"]
HEADER += ["tokens/s", "labels", "repairs/1000"]
ONE_SHOT, TWO_STAGE, FREE, JACKKNIFED = "d-parser", "labeler", "labeler, free", "labeler, jackknifed"


@click.command()
@options.dparsers_option("stanza,spacy,udpipe:swap")
@options.encodings_option
@options.sentences_option
@options.epochs_option
@click.option("--jackknife", "folds", default=0, show_default=True)
@options.models_option
@options.csv_option
@options.plot_option("F1 of one-shot labels and labeler")
def main(
    dparsers: list[str],
    encodings: list[str],
    sentences: int,
    epochs: float | None,
    folds: int,
    models: Path,
    csv_file: Path | None,
    plot: Path | None,
) -> None:
    """Trains what is not trained yet, and prints the table."""
    craft, rows = Craft.read(sentences), list[Line]()
    for encoding in encodings:
        trial = Trial.of(craft, encoding)
        bare = [replace(dtree, labels=None) for dtree in trial.gold]
        labelers = {TWO_STAGE: trained(trial, bare), FREE: trial.labeler(constrained=False)}
        rows += [trial.line("gold", by, labeler, bare) for by, labeler in labelers.items()]
        for name in dparsers:
            parser = craft.dparser(name, encoding, epochs, models)
            predicted, seconds = timed(list, parser.parse(ctree.tokens for ctree in craft.dev))
            used: dict[str, Labeler | None] = {ONE_SHOT: None, **labelers}
            if folds and not ENCODINGS[encoding].carries_unaries:
                fresh = make_dparser(name, preset="small", seed=1, epochs=epochs)
                _, dev = craft.write(encoding, models)
                dtrees = jackknife_dtrees(fresh, trial.train, dev, folds, say)
                second = TwoStage(encoding, seed=1).fit(craft.train, dtrees=dtrees)
                used[JACKKNIFED] = second.labeler_
            added = [trial.line(name, by, labeler, predicted, seconds) for by, labeler in used.items()]
            print_table(HEADER, added)
            rows += added
    print()
    print_table(HEADER, rows, csv_file)
    print(craft.described)
    print("UAS and LAS leave out punctuation; F1, exact: EVALB, collins.prm.")
    if plot:
        draw(rows, plot)


class Trial(NamedTuple):
    """A fitted route of an encoding, the gold d-trees of train and of dev."""

    craft: Craft
    route: Reduction
    train: list[DTree]
    gold: list[DTree]

    @classmethod
    def of(cls, craft: Craft, encoding: str) -> Trial:
        """Fits the route."""
        route = Reduction(encoding, seed=1).fit(craft.train)
        return cls(craft, route, list(map(route.encode, craft.train)), list(map(route.encode, craft.dev)))

    def labeler(self, constrained: bool = True) -> Labeler:
        """Trains one on gold d-trees."""
        return Labeler(self.route.encoding, constrained=constrained, seed=1).fit(self.train)

    def line(
        self, name: str, by: str, labeler: Labeler | None, dtrees: Sequence[DTree], seconds: float = 0.0
    ) -> Line:
        """A line of the table: the route with this labeler or none, on d-trees that took some seconds."""
        used = self.route
        if labeler is not None:
            used = TwoStage(self.route.encoding)
            vars(used).update(vars(self.route), labeler_=labeler)
        gold = GoldStandard.of(self.craft.dev, self.gold, [used])
        row = score(by, used, gold, Parses(name, dtrees, seconds))
        scores = (row.attachment.uas, row.attachment.las, row.brackets.f1, row.brackets.complete_match)
        labels = len({label for dtree in self.train for label in dtree.labels or ()})
        speed, repairs = round(row.tokens_per_second[1]), row.repairs.per_thousand()
        return [name, by, self.route.encoding, *scores, speed, labels, repairs]


def trained(trial: Trial, bare: Sequence[DTree]) -> Labeler:
    """The labeler; prints what its training took, its size and speed."""
    labeler, seconds = timed(trial.labeler)
    labelling = fastest(3, lambda: list(labeler.label_all(bare))).seconds
    speed = sum(len(dtree.heads) for dtree in bare) / labelling
    with tempfile.TemporaryDirectory() as directory:
        labeler.save(Path(directory))
        size = megabytes(Path(directory))
    done = f"labeler trained in {seconds:.0f} s, {size:.1f} MB, {speed:,.0f} tokens/s on one core"
    print(f"{trial.route.encoding}: {done}", flush=True)
    return labeler


def draw(rows: Sequence[Line], file: Path) -> None:
    """F1 of each d-parser and encoding, by who labels."""
    predicted = [row for row in rows if row[0] != "gold"]
    names = list(dict.fromkeys(f"{row[0]}\n{row[2]}" for row in predicted))
    with picture(file, 8, 4) as axes:
        for shift, by in enumerate((ONE_SHOT, TWO_STAGE, JACKKNIFED)):
            f1 = {f"{row[0]}\n{row[2]}": row[5] for row in predicted if row[1] == by}
            if f1:
                axes.bar([names.index(name) + 0.25 * shift for name in f1], list(f1.values()), 0.25, label=by)
        lowest, *_, highest = sorted(row[5] for row in predicted)
        axes.set(ylim=(lowest - 2, highest + 1), ylabel="F1 (EVALB)", xticks=range(len(names)))
        axes.set_xticklabels(names, fontsize=8)


if __name__ == "__main__":
    main()
