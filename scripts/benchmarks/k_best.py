"""What a reranker could reach: the best of the 10 and 50 best c-trees of each route, trained on CRAFT.

    python scripts/benchmarks/k_best.py [--sentences 2000] [--dev-sentences 300]

Trees in the Penn Treebank's convention, drawn evenly over train and dev, gold tags; with packed arcs. Prints
the table of `d2c compare`. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.calibration import drawn
from benchmarks.shared import names_option, say
from d2c.base.temporary import scratch
from d2c.experiments.comparison import train_and_compare
from d2c.experiments.rows import Scoring, table_lines
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.brackets import save_brackets

BEST = 10, 50


@click.command()
@click.option("--sentences", default=2000, show_default=True)
@click.option("--dev-sentences", default=300, show_default=True)
@click.option("--dparser", default="transition:standard;exact", show_default=True)
@names_option("--routes", ROUTES, "reduction,labeler,cky")
def main(sentences: int, dev_sentences: int, dparser: str, routes: list[str]) -> None:
    """Print the table."""
    with scratch() as directory:
        parts = directory / "train.mrg", directory / "dev.mrg"
        drawing = ("craft-train", sentences), ("craft-dev", dev_sentences)
        for part, (treebank, count) in zip(parts, drawing, strict=True):
            save_brackets(drawn(treebank, count), part)
        spec = TrainingSpec.of(*parts, tuple(routes), dparser=dparser, preset="small", arcs="packed")
        print("\n".join(table_lines(train_and_compare(spec, directory / "models", say, Scoring(best=BEST)))))


if __name__ == "__main__":
    main()
