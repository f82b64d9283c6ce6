"""What the tables over CRAFT share: its treebank, d-parsers trained on it, tables as text and CSV."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import DPARSERS, make_dparser
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.formats.conllu import write_conllu

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Craft:
    """The first training sentences and the development sentences of CRAFT, cleaned."""

    train: list[CTree]
    dev: list[CTree]

    @classmethod
    def read(cls, sentences: int) -> Craft:
        """From $D2C_TREEBANKS (default ../shared/treebanks)."""
        treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
        if not treebanks.is_dir():
            sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
        files = (treebanks / f"craft-{part}.mrg.gz" for part in ("train", "dev"))
        train, dev = (read_brackets(file, clean=True) for file in files)
        return cls(list(islice(train, sentences)), list(dev))

    def write(self, encoding: str, directory: Path) -> tuple[Path, Path]:
        """train.conllu and dev.conllu for a d-parser."""
        files = directory / "train.conllu", directory / "dev.conllu"
        for file, ctrees in zip(files, (self.train, self.dev), strict=True):
            with open(file, "w", encoding="utf-8") as stream:
                write_conllu(map(Reduction(encoding).encode, ctrees), stream)
        return files

    def dparser(self, name: str, encoding: str, epochs: float | None, models: Path) -> DependencyParser:
        """Trained on the treebank in an encoding (small preset), or loaded where that was done before."""
        directory = models / f"{name.replace(':', '-').replace(';', '-')}.{encoding}.{len(self.train)}"
        parser = make_dparser(name, preset="small", seed=1, epochs=epochs)
        if directory.is_dir():
            return type(parser).load(directory)
        print(f"training {directory.name}", file=sys.stderr, flush=True)
        directory.parent.mkdir(parents=True, exist_ok=True)
        files = self.write(encoding, directory.parent)
        return parser.train(*files, directory, lambda progress: print(progress, file=sys.stderr, flush=True))


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]], file: Path | None) -> None:
    """Columns side by side; numbers with two digits behind the point; the same as CSV into a file."""
    cells = [list(header), *([f"{c:,.2f}" if isinstance(c, float) else str(c) for c in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(header))]
    for row in cells:
        sides = ((str.ljust if at < 3 else str.rjust) for at in range(len(row)))
        words = [pad(cell, width) for pad, cell, width in zip(sides, row, widths, strict=True)]
        print("  ".join(words).rstrip(), flush=True)
    if file:
        with open(file, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([header, *rows])


def checked(names: str) -> list[str]:
    """D-parsers named with commas between them."""
    chosen = names.split(",")
    for name in chosen:
        if name.partition(":")[0] not in DPARSERS:
            sys.exit(f"unknown d-parser {name!r}")
    return chosen
