"""Table 4 of PAD on CRAFT: d-parsers, F1 of both routes on their d-trees, and the best that could be had.

    python scripts/table_pad.py [--dparsers stanza,spacy,udpipe,udpipe:swap] [--plot uas_f1.png]

The d-parsers are those of table_reduction.py: trained on the direct encoding (small preset, gold tags), kept
in --models. UAS leaves out punctuation; F1 is EVALB's under collins.prm; oracle: the c-trees of constrained
CKY's chart that are nearest to gold; sentences/s: d-parser and constrained CKY together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.compare.report import write_report
from d2c.compare.rows import score
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.scores.brackets import bracket_scores
from scripts.craft import Craft, checked, print_table

HEADER = ["d-parser", "UAS", "reduction", "labeler", "cky", "oracle", "sentences/s", "tokens/s"]


@click.command()
@click.option("--dparsers", default="stanza,spacy,udpipe,udpipe:swap", show_default=True)
@click.option("--sentences", default=5000, show_default=True, help="Of CRAFT train.")
@click.option("--epochs", type=float, help="Of the d-parsers.")
@click.option("--models", type=click.Path(path_type=Path), default=Path("models"), show_default=True)
@click.option("--csv", "csv_file", type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path), help="F1 against UAS, as a picture.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Of the routes on the first d-parser's d-trees."
)
def main(
    dparsers: str,
    sentences: int,
    epochs: float | None,
    models: Path,
    csv_file: Path | None,
    plot: Path | None,
    report: Path | None,
) -> None:
    """Trains what is not trained yet, and prints the table."""
    craft = Craft.read(sentences)
    two_stage = TwoStage("direct", seed=1).fit(craft.train)
    one_shot = Reduction("direct", seed=1).fit(craft.train)
    chart = ConstrainedCKY(seed=1).fit(craft.train, craft.dev)
    gold = list(map(one_shot.encode, craft.dev))
    rows: list[list[object]] = []
    for name in [*checked(dparsers), "gold"]:
        start = time.perf_counter()
        if name == "gold":
            predicted, seconds = gold, 0.0
        else:
            parser = craft.dparser(name, "direct", epochs, models)
            start = time.perf_counter()
            predicted = list(parser.parse(ctree.tokens for ctree in craft.dev))
            seconds = time.perf_counter() - start
        bare = [replace(dtree, labels=None) for dtree in predicted]
        tried = ((one_shot, predicted), (two_stage, bare), (chart, predicted))
        scored = [score(route, craft.dev, gold, dtrees) for route, dtrees in tried]
        oracle = bracket_scores(craft.dev, list(map(chart.oracle, craft.dev, predicted)))
        for route_name, row in zip(HEADER[2:5], scored, strict=True):
            row.route, row.d_trees, row.parsing = route_name, name, seconds
        if report and not rows:
            write_report(scored, report)
            print(f"{report}: {report.stat().st_size / 1e6:.2f} MB")
        rows.append(
            [
                *(
                    name,
                    scored[0].attachment.uas,
                    *(row.brackets.f1 for row in scored),
                    oracle.f1,
                ),
                *(round(speed[1]) for speed in (scored[2].sentences_per_second, scored[2].tokens_per_second)),
            ]
        )
    print_table(HEADER, rows, csv_file)
    print(f"CRAFT, {len(craft.train):,} training and {len(craft.dev):,} development sentences, gold tags;")
    print("UAS leaves out punctuation; F1: EVALB, collins.prm.")
    if plot:
        draw(rows, plot)


def draw(rows: Sequence[Sequence[object]], file: Path) -> None:
    """F1 of the routes against UAS, one mark for each d-parser."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    predicted = sorted((row for row in rows if row[0] != "gold"), key=lambda row: float(str(row[1])))
    for at in range(2, 6):
        axes.plot([row[1] for row in predicted], [row[at] for row in predicted], marker="o", label=HEADER[at])
    for row in predicted:
        axes.annotate(
            str(row[0]), (float(str(row[1])), float(str(row[5]))), xytext=(0, 5), textcoords="offset points"
        )
    axes.set(xlabel="UAS", ylabel="F1 (EVALB)")
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
