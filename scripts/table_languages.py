"""One row for each language and route: a small Stanza parser, reduction and constrained CKY on its d-trees.

    python scripts/table_languages.py [--languages dutch,german] [--sentences 2000] [--epochs 8]

The first sentences of each treebank train; punctuation is moved into the constituents around it; F1 and exact
match are EVALB's under collins.prm, for Dutch and German (trees with gaps) disco-dop's under proper.prm.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import click

from d2c.compare.rows import ORACLE, table_lines, train_and_compare
from d2c.dparsers.registry import make_dparser
from d2c.training.model import make_route
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree

REPOSITORY = Path(__file__).resolve().parent.parent
LANGUAGES = {
    "dutch": ("alpino-{}.xml.gz", "marked", None),
    "german": ("pcc-{}.tiger.xml.gz", "german", None),
    "english": ("craft-{}.mrg.gz", "collins", None),
    "indonesian": ("icon-{}.mrg.gz", "indonesian", None),
    "icelandic": ("icepahc-{}.psd.gz", "icelandic", None),
    "portuguese": ("floresta-{}.ptb.gz", "portuguese", "floresta"),
    "chinese": ("sinica-{}.txt.gz", "marked", "sinica"),
}


@dataclass(frozen=True)
class First(Reading):
    """The first trees of each file."""

    limit: int = 0

    def __call__(self, path: Path) -> Iterator[CTree]:
        """The trees."""
        return islice(super().__call__(path), self.limit)


@click.command()
@click.option("--languages", default=",".join(LANGUAGES), show_default=True)
@click.option("--sentences", default=2000, show_default=True, help="Of each treebank.")
@click.option("--epochs", default=8.0, show_default=True, help="Of the d-parser.")
@click.option("--details", is_flag=True, help="The whole tables.")
def main(languages: str, sentences: int, epochs: float, details: bool) -> None:
    """Trains and prints the table."""
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    lines = [
        f"{'language':<12}{'route':<11}{'UAS':>7}{'LAS':>7}{'F1':>7}{'gaps F1':>9}{'exact':>7}{'tok/s':>8}"
    ]
    for language in languages.split(","):
        pattern, head_rules, name = LANGUAGES[language]
        train, dev = (treebanks / pattern.format(part) for part in ("train", "dev"))
        reading = First(name, head_rules == "marked", move_punctuation=True, limit=sentences)
        routes = {route: make_route(route, "direct", head_rules, 1) for route in ("reduction", "cky")}
        dparser = make_dparser("stanza", preset="small", epochs=epochs)
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as directory:
            rows = train_and_compare(
                train, dev, Path(directory), routes, ("stanza", dparser), reading=replace(reading)
            )
        print(f"{language}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if details:
            print("\n".join(table_lines(rows)), flush=True)
        for row in rows:
            if row.d_trees == "gold":
                continue
            b, gaps = row.brackets, f"{row.gaps.f1:.2f}" if row.gaps.gold else "-"
            speed = "-" if row.route == ORACLE else f"{row.tokens_per_second[1]:,.0f}"
            lines.append(
                f"{language:<12}{row.route:<11}{row.attachment.uas:>7.2f}{row.attachment.las:>7.2f}"
                f"{b.f1:>7.2f}{gaps:>9}{b.complete_match:>7.2f}{speed:>8}"
            )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
