"""Table 1 of "Parsing as Reduction" on CRAFT: d-parsers, one-shot labels or the labeler's, encodings.

    python scripts/table_reduction.py [--dparsers stanza,spacy,udpipe:swap] [--encodings direct,delta,spine]

A d-parser is trained for each encoding (small preset, gold tags) and kept in --models. Rows: its own labels;
the labeler on its heads; the labeler without the encoding's constraints; the labeler that has also learned
from jackknifed d-trees (--jackknife K: K more trainings). UAS and LAS leave out punctuation; F1 and
exact match are EVALB's under collins.prm; tokens/s: d-parser, labeler and conversion together.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from d2c.compare.rows import Row, score
from d2c.dparsers.registry import make_dparser
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.training.jackknife import jackknife_dtrees
from d2c.trees.dtree import DTree
from scripts.craft import Craft, checked, print_table

HEADER = [
    "d-parser",
    "labels by",
    "encoding",
    "UAS",
    "LAS",
    "F1",
    "exact",
    "tokens/s",
    "labels",
    "repairs/1000",
]
ONE_SHOT, TWO_STAGE, FREE, JACKKNIFED = "d-parser", "labeler", "labeler, free", "labeler, jackknifed"


@click.command()
@click.option("--dparsers", default="stanza,spacy,udpipe:swap", show_default=True)
@click.option("--encodings", default="direct,delta,spine", show_default=True)
@click.option("--sentences", default=5000, show_default=True, help="Of CRAFT train.")
@click.option("--epochs", type=float, help="Of the d-parsers.")
@click.option("--jackknife", "folds", default=0, show_default=True)
@click.option("--models", type=click.Path(path_type=Path), default=Path("models"), show_default=True)
@click.option("--csv", "csv_file", type=click.Path(path_type=Path))
@click.option(
    "--plot", type=click.Path(path_type=Path), help="F1 of one-shot labels and labeler, as a picture."
)
def main(
    dparsers: str,
    encodings: str,
    sentences: int,
    epochs: float | None,
    folds: int,
    models: Path,
    csv_file: Path | None,
    plot: Path | None,
) -> None:
    """Trains what is not trained yet, and prints the table."""
    craft, rows = Craft.read(sentences), list[list[object]]()
    for encoding in encodings.split(","):
        route = Reduction(encoding, seed=1).fit(craft.train)
        gold = list(map(route.encode, craft.dev))
        bare = [replace(dtree, labels=None) for dtree in gold]
        start = time.perf_counter()
        labeler = Labeler(encoding, seed=1).fit(map(route.encode, craft.train))
        print(f"{encoding}: labeler trained in {time.perf_counter() - start:.0f} s", end=", ")
        speed = sum(len(dtree.heads) for dtree in bare) / min(seconds_of(labeler, bare) for _ in range(3))
        print(f"{labeler_size(labeler, models):.1f} MB, {speed:,.0f} tokens/s on one core", flush=True)
        known = len(labeler.labels_)
        free = Labeler(encoding, constrained=False, seed=1).fit(map(route.encode, craft.train))
        for by, used in ((TWO_STAGE, labeler), (FREE, free)):
            rows.append(line("gold", by, encoding, relabelled(route, used, craft, gold, bare), known))
        for name in checked(dparsers):
            parser = craft.dparser(name, encoding, epochs, models)
            start = time.perf_counter()
            predicted = list(parser.parse(ctree.tokens for ctree in craft.dev))
            seconds = time.perf_counter() - start
            used_by: list[tuple[str, Labeler | None]] = [(ONE_SHOT, None), (TWO_STAGE, labeler), (FREE, free)]
            if folds and not ENCODINGS[encoding].carries_unaries:
                fresh = make_dparser(name, preset="small", seed=1, epochs=epochs)
                dtrees = jackknife_dtrees(fresh, *craft.write(encoding, models), folds, say)
                second = TwoStage(encoding, seed=1).fit(craft.train, dtrees=dtrees)
                used_by.append((JACKKNIFED, second.labeler_))
            for by, used in used_by:
                row = relabelled(route, used, craft, gold, predicted)
                row.parsing = seconds
                rows.append(line(name, by, encoding, row, known))
            print_table(HEADER, rows[-len(used_by) :], None)
    print()
    print_table(HEADER, rows, csv_file)
    print(f"CRAFT, {len(craft.train):,} training and {len(craft.dev):,} development sentences, gold tags;")
    print("UAS and LAS leave out punctuation; F1, exact: EVALB, collins.prm.")
    if plot:
        draw(rows, plot)


def say(progress: object) -> None:
    """Shows how training goes on."""
    print(progress, file=sys.stderr, flush=True)


def relabelled(
    route: Reduction, labeler: Labeler | None, craft: Craft, gold: Sequence[DTree], dtrees: Sequence[DTree]
) -> Row:
    """The route with this labeler or none."""
    used = route
    if labeler is not None:
        used = TwoStage(route.encoding)
        vars(used).update(vars(route), labeler_=labeler)
    return score(used, craft.dev, gold, dtrees)


def seconds_of(labeler: Labeler, dtrees: Sequence[DTree]) -> float:
    """Seconds in which it labels these d-trees."""
    start = time.perf_counter()
    list(labeler.label_all(dtrees))
    return time.perf_counter() - start


def labeler_size(labeler: Labeler, models: Path) -> float:
    """Megabytes on disk."""
    labeler.save(models / "labeler")
    return sum(file.stat().st_size for file in (models / "labeler").iterdir()) / 1e6


def line(name: str, by: str, encoding: str, row: Row, labels: int) -> list[object]:
    """One line of the table."""
    brackets = row.brackets
    return [
        *(
            name,
            by,
            encoding,
            row.attachment.uas,
            row.attachment.las,
            brackets.f1,
            brackets.complete_match,
        ),
        *(round(row.tokens_per_second[1]), labels, row.repairs.per_thousand()),
    ]


def draw(rows: Sequence[Sequence[object]], file: Path) -> None:
    """F1 of each d-parser and encoding, by who labels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4))
    names = list(dict.fromkeys(f"{row[0]}\n{row[2]}" for row in rows if row[0] != "gold"))
    for shift, by in enumerate((ONE_SHOT, TWO_STAGE, JACKKNIFED)):
        f1 = {f"{row[0]}\n{row[2]}": row[5] for row in rows if row[1] == by and row[0] != "gold"}
        if f1:
            places = [names.index(name) + 0.25 * shift for name in f1]
            axes.bar(places, list(f1.values()), 0.25, label=by)
    values = [float(str(row[5])) for row in rows if row[0] != "gold"]
    axes.set(ylim=(min(values) - 2, max(values) + 1), ylabel="F1 (EVALB)", xticks=range(len(names)))
    axes.set_xticklabels(names, fontsize=8)
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
