"""Table 4 of PAD on CRAFT: d-parsers, F1 of both routes on their d-trees, and the best that could be had.

    python scripts/table_pad.py [--dparsers stanza,spacy,udpipe,udpipe:swap] [--plot uas_f1.png]

The d-parsers are those of table_reduction.py: trained on the direct encoding (small preset, gold tags), kept
in --models. UAS leaves out punctuation; F1 is EVALB's under collins.prm; oracle: the c-trees of constrained
CKY's chart that are nearest to gold; sentences/s: d-parser and constrained CKY together.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.compare.report import write_report
from d2c.compare.rows import Comparison, GoldStandard, Parses, score
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.scores.brackets import bracket_scores
from measuring import options
from measuring.craft import Craft
from measuring.tables import Line, picture, print_table
from measuring.timing import timed

HEADER = ["d-parser", "UAS", "reduction", "labeler", "cky", "oracle", "sentences/s", "tokens/s"]


@click.command()
@options.dparsers_option("stanza,spacy,udpipe,udpipe:swap")
@options.sentences_option
@options.epochs_option
@options.models_option
@options.csv_option
@options.plot_option("F1 against UAS")
@click.option("--report", type=options.FilePath, help="Of the routes on the first d-parser's d-trees.")
def main(
    dparsers: list[str],
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
    gold_dtrees = list(map(one_shot.encode, craft.dev))
    gold = GoldStandard.of(craft.dev, gold_dtrees, (one_shot, two_stage, chart))
    rows: list[Line] = []
    for name in [*dparsers, "gold"]:
        predicted, seconds = gold_dtrees, 0.0
        if name != "gold":
            parser = craft.dparser(name, "direct", epochs, models)
            predicted, seconds = timed(list, parser.parse(ctree.tokens for ctree in craft.dev))
        bare = [replace(dtree, labels=None) for dtree in predicted]
        given, given_bare = Parses(name, predicted, seconds), Parses(name, bare, seconds)
        scored = [
            score("reduction", one_shot, gold, given),
            score("labeler", two_stage, gold, given_bare),
            score("cky", chart, gold, given),
        ]
        oracle = bracket_scores(craft.dev, list(map(chart.oracle, craft.dev, predicted)))
        if report and not rows:
            write_report(Comparison(gold, scored), report)
            print(f"{report}: {report.stat().st_size / 1e6:.2f} MB")
        speeds = [round(speed[1]) for speed in (scored[2].sentences_per_second, scored[2].tokens_per_second)]
        f1 = [row.brackets.f1 for row in scored]
        rows.append([name, scored[0].attachment.uas, *f1, oracle.f1, *speeds])
    print_table(HEADER, rows, csv_file)
    print(craft.described)
    print("UAS leaves out punctuation; F1: EVALB, collins.prm.")
    if plot:
        draw(rows, plot)


def draw(rows: Sequence[Line], file: Path) -> None:
    """F1 of the routes against UAS, one mark for each d-parser."""
    predicted = sorted((row for row in rows if row[0] != "gold"), key=lambda row: row[1])
    with picture(file) as axes:
        for column in range(2, 6):
            f1 = [row[column] for row in predicted]
            axes.plot([row[1] for row in predicted], f1, marker="o", label=HEADER[column])
        for row in predicted:
            axes.annotate(row[0], (row[1], row[5]), xytext=(0, 5), textcoords="offset points")
        axes.set(xlabel="UAS", ylabel="F1 (EVALB)")


if __name__ == "__main__":
    main()
