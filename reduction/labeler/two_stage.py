"""Two-stage parsing (section 4.2): the d-parser gives the backbone, the labeler its labels.

Of a d-tree with packed arcs (`d2c.packed.arcs`) the labeler labels the k best backbones that these hold, and
the one is taken whose labels are surest: by the sum of the logarithms of their shares and, weighted, of the
probabilities of its arcs. What the d-parser says of labels counts beside the labeler's own scores, by the
weighted logarithms of their probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import ne
from pathlib import Path
from typing import Any, Self

import numpy as np

from d2c.packed.dtree import packed_arcs
from d2c.packed.feature import ArcFeature, fit_feature
from d2c.packed.k_best import k_best_dtrees
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.reduction import Reduction
from d2c.trees.conversion import order_arcs
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.repair import ARCS_UNDONE, CROSSING, projectivize, repair_heads
from d2c.trees.unaries import strip_unaries

_LABELER = "labeler"
_BACKBONES = 16  # of a sentence that are labelled
_BATCH = 100  # sentences whose backbones are labelled at once
_LEAST = 1e-9  # share of a label


class TwoStage(Reduction):
    """A reduction whose labels are those of `d2c.reduction.labeler.labeler`, not the d-parser's.

    Its parameters are those of `Reduction`. Learned by `fit`, too: the labeler; by `fit_arcs`: what packed
    arcs count for.
    """

    relabels = True
    supports_arcs = True

    labeler_ = Labeler()  # an untrained one says so
    arcs_ = ArcFeature()

    @property
    def is_fitted(self) -> bool:
        """Whether there is a labeler."""
        return "labeler_" in vars(self)

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Compile the kernels of the labeler."""
        Labeler.warm_up(train)

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
        self.arcs_ = ArcFeature()
        return treebank

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn what packed arcs count for, as `Route` says."""
        fit_feature(self, ctrees, dtrees)
        return self

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """The d-trees whose labels decoding reads: with the labeler's labels and repaired heads, among packed
        arcs with the heads whose labels are surest.

        Repairs are added to `counts`.
        """
        counts = Counter() if counts is None else counts
        return list(self.labeler_.label_all(self._chosen(dtrees, counts), self.arcs_.labels))

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

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "arcs": self.arcs_}

    def _take(self, settings: Mapping[str, Any]) -> None:
        super()._take(settings)
        self.arcs_ = ArcFeature.read(settings.get("arcs", ()))  # models of 0.2.0 have none

    def _labelled(
        self, dtrees: list[DTree], counts: Counter[str], sure: bool
    ) -> tuple[list[DTree], Sequence[Sequence[float]]]:
        if not sure:
            return self.relabel(dtrees, counts), ()
        chosen = list(self._chosen(dtrees, counts))
        labelled = self.labeler_.label_with_shares(chosen, self.arcs_.labels)
        return [dtree for dtree, _ in labelled], [shares for _, shares in labelled]

    def _chosen(self, dtrees: Iterable[DTree], counts: Counter[str]) -> Iterator[DTree]:
        """The backbone of each d-tree that is to be labelled."""
        for batch in batches(dtrees, _BATCH):
            backbones = [self._backbones(dtree, counts) for dtree in batch]
            several = [one for own in backbones if len(own) > 1 for one, _ in own]
            labelled = self.labeler_.label_with_shares(several, self.arcs_.labels) if several else ()
            sure = iter(labelled)
            for own in backbones:
                yield own[0][0] if len(own) == 1 else self._surest(own, islice(sure, len(own)))

    def _surest(
        self, backbones: Sequence[tuple[DTree, float]], sure: Iterable[tuple[DTree, Sequence[float]]]
    ) -> DTree:
        """Of the backbones of a sentence, by their arcs' logarithms, and the shares of the labels of each."""
        totals = [
            self.arcs_.weight * log + float(np.log(np.maximum(shares, _LEAST)).sum())
            for (_, log), (_, shares) in zip(backbones, sure, strict=True)
        ]
        return backbones[totals.index(max(totals))][0]

    def _backbones(self, dtree: DTree, counts: Counter[str]) -> list[tuple[DTree, float]]:
        """The backbone, or the best of those that packed arcs hold; each with its arcs' logarithms."""
        backbone = self._backbone(dtree, counts)
        arcs = packed_arcs(backbone)
        kept = arcs and arcs.kept(self.arcs_.least, backbone.heads)
        if kept is None or len(kept.heads) == len(backbone.heads):
            return [(backbone, 0.0)]
        best = k_best_dtrees(kept, _BACKBONES, self._continuous)
        counts[ARCS_UNDONE] += not best
        return [(replace(backbone, heads=heads), log) for heads, log in best] or [(backbone, 0.0)]

    def _backbone(self, dtree: DTree, counts: Counter[str]) -> DTree:
        """The d-tree with heads that form a tree, projective if c-trees are to have no gaps."""
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(counts)
        if self._continuous:
            lifted = projectivize(heads)
            counts[CROSSING] += sum(map(ne, heads, lifted))
            heads = lifted
        return replace(dtree, heads=tuple(heads))
