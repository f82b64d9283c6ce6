"""All routes on real text: trains on the first CRAFT sentences, scores CRAFT dev, prints the table.

    python scripts/bench_craft.py [--sentences 5000] [--preset small] [--encodings direct,delta,spine]
    python scripts/bench_craft.py --encodings direct --dparser transition [--jackknife 5] [--tagger nltk]
    python scripts/bench_craft.py --encodings direct --head-rules pad --route reduction --route cky

For each encoding one d-parser, and on its d-trees all routes, or those asked for. Gold tags, or those of a
tagger; traces and function tags removed. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from d2c.experiments.comparison import train_and_compare
from d2c.experiments.table import table_lines
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from measuring import options
from measuring.tables import say
from measuring.treebanks import CRAFT, First


@click.command()
@options.sentences_option
@click.option("--preset", default="small", show_default=True)
@click.option("--dparser", default="stanza", show_default=True)
@options.encodings_option
@options.epochs_option
@click.option("--device")
@click.option("--tagger", help="Tags are what it predicts, jackknifed in train.")
@click.option("--head-rules", default=CRAFT.head_rules, show_default=True)
@click.option("--route", "routes", type=click.Choice(list(ROUTES)), multiple=True, default=list(ROUTES))
@click.option("--jackknife", type=click.IntRange(2), help="Folds, as of d2c train; without it, gold d-trees.")
def main(
    sentences: int, encodings: list[str], routes: tuple[str, ...], jackknife: int | None, **settings: Any
) -> None:
    """Trains one d-parser per encoding and prints a table for each."""
    train, dev = CRAFT.path("train"), CRAFT.path("dev")
    reading, tags = First(limits={train: sentences}), "predicted" if settings["tagger"] else "gold"
    for encoding in encodings:
        spec = TrainingSpec(
            train, dev, routes, reading, encoding=encoding, folds=jackknife, tags=tags, **settings
        )
        with tempfile.TemporaryDirectory() as directory:
            comparison = train_and_compare(spec, Path(directory), say)
        print(f"\nencoding {encoding}\n" + "\n".join(table_lines(comparison)), flush=True)


if __name__ == "__main__":
    main()
