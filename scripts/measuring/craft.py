"""CRAFT as the tables over it share it: its first sentences and its dev part."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.trees.ctree import CTree
from measuring.treebanks import CRAFT


@dataclass(frozen=True)
class Craft:
    """The first training sentences and the development sentences of CRAFT."""

    train: list[CTree]
    dev: list[CTree]

    @classmethod
    def read(cls, sentences: int | None) -> Craft:
        """Read them from $D2C_TREEBANKS; None: all training sentences."""
        return cls(list(CRAFT.trees("train", sentences)), list(CRAFT.trees("dev")))

    @property
    def described(self) -> str:
        """Return what stands under a table."""
        return f"CRAFT, {len(self.train):,} training and {len(self.dev):,} development sentences, gold tags;"
