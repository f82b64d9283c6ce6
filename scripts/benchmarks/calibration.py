"""How far confidences can be trusted: trained on CRAFT, judged on CRAFT and on MASC.

    python scripts/benchmarks/calibration.py [--sentences 2000] [--routes labeler,cky,cky:packed] -o DIRECTORY
    python scripts/benchmarks/calibration.py --models en,en-small

Models that are named are judged on the dev parts of four English treebanks, words given, tags predicted.
Without --models, models are trained: every seventh document of CRAFT is held out. Sentences drawn evenly from
these documents choose among states, and confidences are calibrated on them. `cky:packed` has learned over
packed arcs, jackknifed in two folds. Trees are in the Penn Treebank's convention, with gold tags. ECE:
expected calibration error over classes of a tenth; then the share of right constituents among the surest.
Models that are in DIRECTORY already are not trained again.

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import FilePath, names_option, print_table, say
from d2c.experiments.reliability import COVERAGES, reliability
from d2c.models.calibration import Judged
from d2c.models.model import Model
from d2c.models.names import find
from d2c.routes.dparsers import DPARSERS
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import save_brackets
from models.scores import untagged
from treebanks.files import folder
from treebanks.penn import penn_trees

HEADER = (
    "model",
    "judged on",
    "constituents",
    "confidence",
    "ECE",
    *(f"surest {100 * one:.0f} %" for one in COVERAGES),
)
HELD_OUT = 7  # one document of so many
DOCUMENT = "( (TITLE"  # with which each document of CRAFT begins
PACKED = "packed"


def drawn(treebank: str, count: int) -> list[CTree]:
    """Return so many trees of a file, or all, evenly spread."""
    return evenly([*penn_trees(folder() / f"{treebank}.mrg.gz")], count)


def evenly(trees: Sequence[CTree], count: int) -> list[CTree]:
    """Return so many of the trees, or all, evenly spread."""
    count = min(count, len(trees))
    return [trees[i * len(trees) // count] for i in range(count)]


def by_document() -> tuple[list[CTree], list[CTree]]:
    """Return the trees of CRAFT's train without the held-out documents, and the trees of these."""
    parts: tuple[list[CTree], list[CTree]] = ([], [])
    file, document = folder() / "craft-train.mrg.gz", -1
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line, tree in zip(lines, penn_trees(file), strict=True):
            document += line.startswith(DOCUMENT)
            parts[document % HELD_OUT == HELD_OUT // 2].append(tree)
    return parts


def judged_by(model: Model, gold: Sequence[CTree]) -> list[Judged]:
    """Return a model's trees of sentences and the route's own confidences, beside gold trees. Tags are gold,
    unless the model has a tagger."""
    dtrees = model.parse_dependencies(untagged(one) if model.tagger else one.tokens for one in gold)
    pairs = zip(gold, model.route.confidences_all(dtrees), strict=True)
    return [Judged(one, ctree, shares or ()) for one, (ctree, shares) in pairs]


@click.command()
@click.option("--sentences", default=2000, show_default=True)
@click.option("--held-out", default=750, show_default=True, help="Sentences to calibrate on.")
@click.option("--dev-sentences", default=600, show_default=True)
@click.option("--dparser", default="transition", show_default=True)
@names_option("--routes", ROUTES, "reduction,labeler,cky,cky:packed")
@click.option("--models", metavar="NAME,...", help="Use these models, and train none.")
@click.option("-o", "--output", "directory", type=FilePath, default="calibration", show_default=True)
def main(models: str | None, dev_sentences: int, directory: Path, **settings: Any) -> None:
    """Print the table."""
    if models:
        named = {name: Model.load(find(name)) for name in models.split(",")}
        print_rows(named, ("craft-dev", "genia-dev", "masc-dev", "gum-dev"), dev_sentences)
    else:
        print_rows(trained(directory, **settings), ("craft-dev", "masc-dev"), dev_sentences)


def trained(
    directory: Path, sentences: int, held_out: int, dparser: str, routes: Sequence[str]
) -> dict[str, Model]:
    """Return models of routes, trained unless they are in the directory already."""
    assert dparser.partition(":")[0] in DPARSERS
    parts = directory / "train.mrg", directory / "held-out.mrg"
    if not all((directory / route).is_dir() for route in routes):
        directory.mkdir(parents=True, exist_ok=True)
        for part, trees, count in zip(parts, by_document(), (sentences, held_out), strict=True):
            save_brackets(evenly(trees, count), part)
    single = TrainingSpec.of(*parts, (), dparser=dparser, preset="small", overwrite=True)
    for arcs in ("", PACKED):
        own = [route for route in routes if route.partition(":")[2] == arcs]
        if all((directory / route).is_dir() for route in own):
            continue
        spec = replace(single, routes=tuple([route.partition(":")[0] for route in own]))
        spec = spec.changed(arcs=PACKED, jackknife=2) if arcs else spec
        train_models(spec, [directory / route for route in own], say)
    return {route: Model.load(directory / route) for route in routes}


def print_rows(models: Mapping[str, Model], treebanks: Sequence[str], dev_sentences: int) -> None:
    """Print how far confidences of models can be trusted on treebanks."""
    rows = []
    for treebank in treebanks:
        gold = drawn(treebank, dev_sentences)
        for route, model in models.items():
            judged = judged_by(model, gold)
            right = [good for one in judged for good in one.right()]
            shares = [share for one in judged for share in one.shares]
            found = {"raw": shares}
            if model.calibration is not None:
                fitted = (model.calibration(one.ctree, one.shares) for one in judged)
                found["calibrated"] = [share for one in fitted for share in one]
            for name, sure in found.items():
                trust = reliability(sure, right)
                cells = [f"{100 * share:.1f}" for share in trust.precisions]
                rows.append([route, treebank, f"{len(right):,}", name, f"{trust.error:.4f}", *cells])
    print_table(HEADER, rows)


if __name__ == "__main__":
    main()
