"""Morphology as a feature: what it gives where a treebank has it.

    python scripts/table_morphology.py [--treebanks alpino] [--sentences 1500] [--held-out 1000]

Trained on the first sentences of train and scored on those behind them, with the d-parser `transition` and a
closed grammar: F1 of the reduction on its d-trees; of labeler and cky on gold ones and on its. The d-parser
sees what the routes see. p: of cky's last figure against that without. Reads $D2C_TREEBANKS (default
../shared/treebanks).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.training.transition_parser import TransitionParser
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.heads import load_head_rules
from d2c.trees.route import Route
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from measuring import options
from measuring.tables import Line, print_table
from measuring.treebanks import TREEBANKS

HEADER = (
    *("treebank", "morphology", "UAS", "LAS", "reduction"),
    *("labeler, gold", "labeler", "cky, gold", "cky", "p"),
)


@click.command()
@options.names_option("--treebanks", TREEBANKS, "alpino")
@click.option("--sentences", default=1500, show_default=True)
@click.option("--held-out", default=1000, show_default=True)
@click.option("--epochs", default=5, show_default=True, help="Of the d-parser.")
def main(treebanks: list[str], sentences: int, held_out: int, epochs: int) -> None:
    """Trains with and without and prints the table."""
    rows: list[Line] = []
    for name in treebanks:
        trees = read(name, sentences + held_out)
        bare = [replace(ctree, tokens=replace(ctree.tokens, morphs=None)) for ctree in trees]
        without, before = measured(bare[:sentences], bare[sentences:], epochs)
        row, after = measured(trees[:sentences], trees[sentences:], epochs)
        rows.append([name, "without", *without, None])
        rows.append([name, "with", *row, f"{approximate_randomisation(before, after).p:.4f}"])
    print_table(HEADER, rows)


def read(name: str, count: int) -> list[CTree]:
    """The first trees of train, headed."""
    treebank = TREEBANKS[name]
    reading = Reading(treebank.format_name, treebank.marked, move_punctuation=name in ("alpino", "pcc"))
    rules = load_head_rules(treebank.head_rules)
    return [rules.headed(ctree) for ctree in islice(reading(treebank.path("train")), count)]


def measured(train: list[CTree], held_out: list[CTree], epochs: int) -> tuple[Line, list[Score]]:
    """The figures of one row, and cky's scores on the d-parser's d-trees."""
    reduction, metric = Reduction().fit(train), metric_for([*train, *held_out])
    gold_dtrees = list(map(reduction.encode, held_out))
    parsed = parse(list(map(reduction.encode, train)), gold_dtrees, epochs)
    attached = sum(map(score_attachment, gold_dtrees, parsed), Attachment())
    gold = list(map(metric.visible, held_out))

    def scores(route: Route, dtrees: list[DTree]) -> list[Score]:
        return metric.score(gold, map(metric.visible, route.decode_all(dtrees)))

    bare, guessed = ([replace(one, labels=None) for one in dtrees] for dtrees in (gold_dtrees, parsed))
    labeler, cky = TwoStage().fit(train), ConstrainedCKY(grammar="closed").fit(train)
    every = [
        *(scores(reduction, parsed), scores(labeler, bare), scores(labeler, guessed)),
        *(scores(cky, bare), scores(cky, guessed)),
    ]
    return [attached.uas, attached.las, *(metric.summary(one).f1 for one in every)], every[-1]


def parse(train: list[DTree], held_out: list[DTree], epochs: int) -> list[DTree]:
    """What the d-parser makes of the second d-trees; its state is the best one on the first 100 of them."""
    with TemporaryDirectory() as directory:
        file, few, model = (Path(directory) / name for name in ("train.conllu", "few.conllu", "model"))
        save_conllu(train, file)
        save_conllu(held_out[:100], few)
        parser = TransitionParser(epochs=epochs).train(file, few, model)
    return list(parser.parse(dtree.tokens for dtree in held_out))


if __name__ == "__main__":
    main()
