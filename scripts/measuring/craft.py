"""What the tables over CRAFT share: its first sentences, and d-parsers trained on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d2c.base.temporary import staged_file
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import make_dparser
from d2c.reduction.reduction import Reduction
from d2c.training.jackknife import jackknife_dtrees
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu
from measuring.pretrained import ENCODERS, encoder
from measuring.tables import say
from measuring.treebanks import CRAFT


@dataclass(frozen=True)
class Craft:
    """The first training sentences and the development sentences of CRAFT."""

    train: list[CTree]
    dev: list[CTree]

    @classmethod
    def read(cls, sentences: int | None) -> Craft:
        """From $D2C_TREEBANKS; None: all training sentences."""
        return cls(list(CRAFT.trees("train", sentences)), list(CRAFT.trees("dev")))

    @property
    def described(self) -> str:
        """What stands under a table."""
        return f"CRAFT, {len(self.train):,} training and {len(self.dev):,} development sentences, gold tags;"

    def write(self, encoding: str, directory: Path) -> tuple[Path, Path]:
        """train.conllu and dev.conllu for a d-parser."""
        files = directory / "train.conllu", directory / "dev.conllu"
        for file, ctrees in zip(files, (self.train, self.dev), strict=True):
            save_conllu(map(Reduction(encoding).encode, ctrees), file)
        return files

    def place(self, name: str, what: str, models: Path) -> Path:
        """Where something of a d-parser is kept."""
        return models / f"{self.file_name(name)}.{what}.{len(self.train)}"

    @staticmethod
    def file_name(dparser: str) -> str:
        """How a d-parser is called in names of files."""
        return dparser.replace(":", "-").replace(";", "-")

    def dparser(self, name: str, encoding: str, epochs: float | None, models: Path) -> DependencyParser:
        """Trained on the treebank in an encoding, or loaded where that was done before; see `untrained`."""
        directory, parser = self.place(name, encoding, models), untrained(name, epochs, models)
        if directory.is_dir():
            return type(parser).load(directory)
        say(f"training {directory.name}")
        models.mkdir(parents=True, exist_ok=True)
        return parser.train(*self.write(encoding, models), directory, say)

    def jackknifed(self, name: str, encoding: str, folds: int, models: Path) -> list[DTree]:
        """The training sentences by d-parsers that have learned from the other folds; kept as others are."""
        place = self.place(name, f"{encoding}.jackknife{folds}", models)
        file = place.with_name(f"{place.name}.conllu")
        if not file.exists():
            _, dev = self.write(encoding, models)
            gold = [*map(Reduction(encoding).encode, self.train)]
            parsed = jackknife_dtrees(untrained(name, None, models), gold, dev, folds, say)
            with staged_file(file) as staged:
                save_conllu(parsed, staged)
                os.replace(staged, file)
        return [*read_conllu(file)]


def untrained(name: str, epochs: float | None, models: Path) -> DependencyParser:
    """A d-parser of `d2c train` (small preset), or Stanza's on one of ENCODERS, with `:PASSES` behind it.

    models: where an encoder's training leaves checkpoints
    """
    given: dict[str, Any] = {"epochs": epochs}
    kind, _, passes = name.partition(":")
    if kind in ENCODERS:
        name, given["epochs"] = "stanza", float(passes) if passes else epochs
        given |= {"bert_model": str(encoder(kind, models)), "checkpoints": models / "checkpoints"}
    return make_dparser(name, preset="small", seed=1, **given)
