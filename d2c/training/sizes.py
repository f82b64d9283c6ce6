"""How large a treebank is, said once all of it was seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from d2c.base.counting import many
from d2c.base.inputs import Paths, names_of
from d2c.base.progress import log
from d2c.trees.dtree import DTree


@dataclass
class TreebankSize:
    """Counts of the d-trees of a treebank."""

    sentences: int = 0
    words: int = 0
    labels: set[str] = field(default_factory=set)

    def add(self, dtree: DTree) -> DTree:
        """Count a d-tree, and return it."""
        self.sentences, self.words = self.sentences + 1, self.words + len(dtree.heads)
        self.labels.update(dtree.labels or ())
        return dtree

    def tell(self, treebank: Paths) -> None:
        """Say what was counted."""
        size = f"{many(self.sentences, 'sentence')}, {many(self.words, 'word')}"
        log.info("%s", f"{names_of(treebank)}: {size}, {many(len(self.labels), 'label')} of arcs")
