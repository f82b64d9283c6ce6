"""All routes on real text: trains on the first CRAFT sentences, scores CRAFT dev, prints the table.

    python scripts/bench_craft.py [--sentences 5000] [--preset small] [--encodings direct,delta,spine]
    python scripts/bench_craft.py --encodings direct --dparser transition [--jackknife 5] [--tagger nltk]

For each encoding one d-parser, and on its d-trees all routes. Gold tags, or those of a tagger; traces and
function tags removed. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from d2c.compare.comparison import train_and_compare
from d2c.compare.table import table_lines
from d2c.training.routes import ROUTES
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
@click.option("--jackknife", type=click.IntRange(2), help="Folds, as of d2c train; without it, gold d-trees.")
def main(
    sentences: int,
    preset: str,
    dparser: str,
    encodings: list[str],
    epochs: float | None,
    device: str | None,
    tagger: str | None,
    jackknife: int | None,
) -> None:
    """Trains one d-parser per encoding and prints a table for each."""
    train, dev = CRAFT.path("train"), CRAFT.path("dev")
    for encoding in encodings:
        spec = TrainingSpec(
            *(train, dev, tuple(ROUTES), First(limits={train: sentences})),
            dparser=dparser,
            preset=preset,
            encoding=encoding,
            head_rules=CRAFT.head_rules,
            epochs=epochs,
            device=device,
            tagger=tagger,
            tags="predicted" if tagger else "gold",
            folds=jackknife,
        )
        with tempfile.TemporaryDirectory() as directory:
            comparison = train_and_compare(spec, Path(directory), say)
        print(f"\nencoding {encoding}\n" + "\n".join(table_lines(comparison)), flush=True)


if __name__ == "__main__":
    main()
