"""The treebanks of tables: their files, and how these are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from d2c.experiments.store import digest_of_file
from d2c.treebanks.reading import CLEANED, Reading
from d2c.trees.ctree import CTree
from d2c.trees.heads import known_head_rules

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Treebank:
    """A treebank in two or three files.

    name:       as tables show it
    files:      by part; a treebank without `test` is reported on `dev`
    head_rules: its head table
    reading:    how its files are read
    sentences:  the first ones of train, and not all
    """

    name: str
    files: Mapping[str, Path]
    head_rules: str = "collins"
    reading: Reading = CLEANED
    sentences: int | None = None

    @property
    def reported(self) -> str:
        """The part on which the papers report final results."""
        return "test" if "test" in self.files else "dev"

    def trees(self, part: str) -> Iterator[CTree]:
        """Yield the trees of a part. Raises FormatError."""
        return islice(self.reading(self.files[part]), self.sentences if part == "train" else None)

    def first(self, part: str) -> int:
        """Return how many sentences of the part's file come before it."""
        return 0

    def made_of(self) -> dict[str, Any]:
        """Return what its trees depend on, for `Store.step`. Raises OSError."""
        read = {field.name: getattr(self.reading, field.name) for field in fields(Reading)}
        read.pop("faults")
        own_rules = self.head_rules not in known_head_rules()
        rules = digest_of_file(Path(self.head_rules)) if own_rules else self.head_rules
        read |= {"head_rules": rules, "sentences": self.sentences}
        set_apart = {name: value for name, value in read.items() if value}
        return set_apart | {part: digest_of_file(path) for part, path in self.files.items()}
