"""All routes on real text: trains on the first CRAFT sentences, scores CRAFT dev, prints the table.

    python scripts/bench_craft.py [--sentences 5000] [--preset small] [--encodings direct,delta,spine]

For each encoding one d-parser, and on its d-trees the reduction, constrained CKY and their combination.

Gold tags, traces and function tags removed. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import islice
from pathlib import Path

import click

from d2c.compare.rows import table_lines, train_and_compare
from d2c.dparsers.registry import make_dparser
from d2c.training.model import ROUTES, make_route
from d2c.trees.formats.brackets import read_brackets, write_brackets

REPOSITORY = Path(__file__).resolve().parent.parent


@click.command()
@click.option("--sentences", default=5000, show_default=True)
@click.option("--preset", default="small", show_default=True)
@click.option("--encodings", default="direct,delta,spine", show_default=True)
@click.option("--epochs", type=float, default=None)
@click.option("--device", default=None)
def main(sentences: int, preset: str, encodings: str, epochs: float | None, device: str | None) -> None:
    """Trains one d-parser per encoding and prints a table for each."""
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    with tempfile.TemporaryDirectory() as directory:
        train, dev = Path(directory) / "train.mrg", treebanks / "craft-dev.mrg.gz"
        with open(train, "w", encoding="utf-8") as stream:
            write_brackets(
                islice(read_brackets(treebanks / "craft-train.mrg.gz", clean=True), sentences), stream
            )
        for encoding in encodings.split(","):
            dparser = make_dparser("stanza", preset=preset, epochs=epochs, device=device)
            routes = {name: make_route(name, encoding, "collins", 1) for name in ROUTES}
            rows = train_and_compare(
                *(train, dev, Path(directory) / encoding, routes, ("stanza", dparser)),
                lambda progress: print(progress, flush=True),
            )
            print(f"\nencoding {encoding}\n" + "\n".join(table_lines(rows)), flush=True)


if __name__ == "__main__":
    main()
