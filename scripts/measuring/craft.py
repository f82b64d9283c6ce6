"""What the tables over CRAFT share: its first sentences, and d-parsers trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import make_dparser
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import save_conllu
from measuring.pretrained import MINILM, encoder_of
from measuring.tables import say
from measuring.treebanks import CRAFT

FINETUNE = "finetune"


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

    def model(self, name: str, encoding: str, models: Path) -> Path:
        """Where `dparser` keeps a d-parser."""
        return models / f"{name.replace(':', '-').replace(';', '-')}.{encoding}.{len(self.train)}"

    def dparser(self, name: str, encoding: str, epochs: float | None, models: Path) -> DependencyParser:
        """Trained on the treebank in an encoding, or loaded where that was done before.

        name: one of `d2c train` (small preset), or FINETUNE, Stanza's on MiniLM, with `:PASSES` behind it
        """
        directory, (kind, _, passes) = self.model(name, encoding, models), name.partition(":")
        given: dict[str, Any] = {"epochs": epochs}
        if kind == FINETUNE:
            name, given["epochs"] = "stanza", float(passes) if passes else epochs
            given |= {"bert_model": str(encoder_of(MINILM)), "checkpoints": models / "checkpoints"}
        parser = make_dparser(name, preset="small", seed=1, **given)
        if directory.is_dir():
            return type(parser).load(directory)
        say(f"training {directory.name}")
        models.mkdir(parents=True, exist_ok=True)
        return parser.train(*self.write(encoding, models), directory, say)
