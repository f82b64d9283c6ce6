"""Two-stage parsing (section 4.2): the d-parser gives the backbone, the labeler its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import ne
from pathlib import Path
from typing import Self

from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.reduction import Reduction
from d2c.trees.conversion import order_arcs
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.repair import CROSSING, projectivize, repair_heads
from d2c.trees.unaries import strip_unaries

_LABELER = "labeler"


class TwoStage(Reduction):
    """A reduction whose labels are those of `d2c.reduction.labeler.labeler`, not the d-parser's.

    Its parameters are those of `Reduction`. Learned by `fit`, too: the labeler.
    """

    labeler_ = Labeler()  # an untrained one says so
    warm_up = staticmethod(Labeler.warm_up)

    def _learn_labels(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Iterable[CTree]:
        """Learns on jackknifed backbones, too, and then uses the labels that they have."""
        treebank = list(ctrees)
        continuous = all(ctree.is_continuous() for ctree in treebank)
        labelled = list(map(self.encode, treebank))
        given: list[Sequence[str] | None] = [None] * len(labelled)
        for ctree, dtree in zip(treebank, dtrees, strict=False):  # there may be none
            heads, _ = repair_heads(dtree.heads)
            ordered = order_arcs(strip_unaries(ctree)[0], projectivize(heads) if continuous else heads)
            labelled.append(self._encoding.label(replace(ordered, tokens=dtree.tokens)))
            given.append(dtree.labels)
        self.labeler_ = Labeler(self.encoding, continuous, seed=self.seed).fit(labelled, given)
        return treebank

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """The d-trees whose labels decoding reads: with the labeler's labels and repaired heads.

        Repairs are added to `counts`.
        """
        counts = Counter() if counts is None else counts
        return list(self.labeler_.label_all([self._backbone(dtree, counts) for dtree in dtrees]))

    def check_jackknifing(self) -> None:
        """Raises ValueError where the encoding has no labels for other heads than a treebank's own."""
        self._encoding.label(DTree(Tokens(("a",), ("A",)), (0,), ("",), (0,)))

    def save(self, directory: Path) -> None:
        """Writes what `Reduction.save` writes, and the labeler."""
        super().save(directory)
        self.labeler_.save(directory / _LABELER)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        route = super().load(directory)
        route.labeler_ = Labeler.load(directory / _LABELER)
        return route

    def _labelled(
        self, dtrees: list[DTree], counts: Counter[str], sure: bool
    ) -> tuple[list[DTree], Sequence[Sequence[float]]]:
        if not sure:
            return self.relabel(dtrees, counts), ()
        labelled = self.labeler_.label_with_shares([self._backbone(dtree, counts) for dtree in dtrees])
        return [dtree for dtree, _ in labelled], [shares for _, shares in labelled]

    def _backbone(self, dtree: DTree, counts: Counter[str]) -> DTree:
        """The d-tree with heads that form a tree, projective if c-trees are to have no gaps."""
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(counts)
        if self._continuous:
            lifted = projectivize(heads)
            counts[CROSSING] += sum(map(ne, heads, lifted))
            heads = lifted
        return replace(dtree, heads=tuple(heads))
