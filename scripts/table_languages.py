"""One row for each language and route: a small Stanza parser, reduction and constrained CKY on its d-trees.

    python scripts/table_languages.py [--languages dutch,german] [--sentences 2000] [--epochs 8]

The first sentences of each treebank train; punctuation is moved into the constituents around it; F1 and exact
match are EVALB's under collins.prm, for trees with gaps disco-dop's under proper.prm.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from d2c.compare.rows import Comparison, Row, train_and_compare
from d2c.compare.table import table_lines
from d2c.training.spec import TrainingSpec
from measuring import options
from measuring.tables import Line, print_table, say
from measuring.timing import timed
from measuring.treebanks import PARTS, TREEBANKS, First, Treebank

LANGUAGES = {treebank.language: treebank for treebank in TREEBANKS.values()}
HEADER = ("language", "route", "UAS", "LAS", "F1", "gaps F1", "exact", "tok/s")


@click.command()
@options.names_option("--languages", LANGUAGES, ",".join(LANGUAGES))
@click.option("--sentences", default=2000, show_default=True, help="Of each treebank.")
@click.option("--epochs", default=8.0, show_default=True, help="Of the d-parser.")
@click.option("--details", is_flag=True, help="The whole tables.")
def main(languages: list[str], sentences: int, epochs: float, details: bool) -> None:
    """Trains and prints the table."""
    lines: list[Line] = []
    for language in languages:
        comparison, seconds = timed(compared, LANGUAGES[language], sentences, epochs)
        say(f"{language}: {seconds:.0f} s")
        if details:
            print("\n".join(table_lines(comparison)), flush=True)
        lines += [line(language, row) for row in comparison.rows if row.d_trees != "gold"]
    print_table(HEADER, lines)


def compared(treebank: Treebank, sentences: int, epochs: float) -> Comparison:
    """Trains on the first sentences, scores the first of dev; heads are marked ones where there are any."""
    train, dev = map(treebank.path, PARTS)
    limits = {train: sentences, dev: sentences}
    reading = First(treebank.format_name, treebank.marked, move_punctuation=True, limits=limits)
    head_rules = "marked" if treebank.marked else treebank.head_rules
    routes = "reduction", "cky"
    spec = TrainingSpec(train, dev, routes, reading, head_rules=head_rules, preset="small", epochs=epochs)
    with tempfile.TemporaryDirectory() as directory:
        return train_and_compare(spec, Path(directory))


def line(language: str, row: Row) -> Line:
    """A line of the table."""
    gaps = row.gaps.f1 if row.gaps.gold else None
    speed = round(row.tokens_per_second[1]) if row.converting else None
    scores = (
        row.attachment.uas,
        row.attachment.las,
        row.brackets.f1,
        gaps,
        row.brackets.complete_match,
    )
    return [language, row.route, *scores, speed]


if __name__ == "__main__":
    main()
