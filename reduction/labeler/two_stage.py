"""Two-stage parsing (section 4.2): the d-parser gives the backbone, the labeler its labels.

Of a d-tree with packed arcs (`d2c.packed.arcs`) the labeler labels the k best backbones that these hold, and
the one is taken whose labels are surest: by the sum of the logarithms of their shares and, weighted, of the
probabilities of its arcs. What the d-parser says of labels counts beside the labeler's own scores, by the
weighted logarithms of their probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np

from d2c.packed.dtree import packed_arcs
from d2c.packed.feature import ONE_HEAD, ArcFeature, fit_feature
from d2c.packed.k_best import k_best_dtrees
from d2c.reduction.alternatives import likely_dtrees
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.reduction import LabelSource, Reduction, ReductionFile
from d2c.reduction.repair import backbone_of
from d2c.trees.conversion import order_arcs
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.repair import ARCS_UNDONE, projectivize, repair_heads
from d2c.trees.route import Progress
from d2c.trees.unaries import strip_unaries

_LABELER = "labeler"
_BACKBONES = 16  # of a sentence that are labelled
_BATCH = 100  # sentences whose backbones are labelled at once
_LEAST = 1e-9  # share of a label


@dataclass(frozen=True)
class LabelerSource(LabelSource):
    """The labels of a labeler.

    labeler: an untrained one says so when it is used
    arcs:    what packed arcs count for
    """

    labeler: Labeler = Labeler()
    arcs: ArcFeature = ArcFeature()

    def label(self, dtrees: Iterable[DTree], continuous: bool, counts: Counter[str]) -> list[DTree]:
        """Return the d-trees with the labeler's labels and repaired heads, among packed arcs with the heads
        whose labels are surest."""
        backbones = self._backbones(dtrees, continuous, counts)
        return list(self.labeler.label_all(backbones, self.arcs.labels, counts))

    def label_with_shares(
        self, dtrees: Iterable[DTree], continuous: bool, counts: Counter[str]
    ) -> list[tuple[DTree, Sequence[float]]]:
        """As `label`; and how sure the labeler is of each label, [n]."""
        backbones = list(self._backbones(dtrees, continuous, counts))
        return self.labeler.label_with_shares(backbones, self.arcs.labels, counts)

    def k_best(self, dtree: DTree, k: int, continuous: bool) -> list[tuple[float, DTree]]:
        """Return the d-trees of `label`'s search, or more of them, by how sure their labels and arcs are.

        Where that looks at the d-parser's own d-tree alone, since nothing was gained on held-out trees, the
        others come after it.
        """
        if self.arcs.least < ONE_HEAD:
            among, choices = _BACKBONES, self._choices(dtree, continuous, Counter(), max(k, _BACKBONES))
        else:
            own = backbone_of(dtree, continuous, Counter())
            among, choices = 1, [(one, log) for log, one in likely_dtrees(own, k, continuous)]
        labelled = self.labeler.label_with_shares([one for one, _ in choices], self.arcs.labels)
        totals = self._totals(choices, labelled)
        first = totals.index(max(totals[:among]))  # which `label` chooses
        order = sorted(range(len(totals)), key=lambda i: (i != first, -totals[i]))
        return [(totals[i], labelled[i][0]) for i in order]

    def _backbones(self, dtrees: Iterable[DTree], continuous: bool, counts: Counter[str]) -> Iterator[DTree]:
        """Yield the backbone of each d-tree that is to be labelled."""
        for batch in batches(dtrees, _BATCH):
            choices = [self._choices(dtree, continuous, counts) for dtree in batch]
            several = [backbone for one in choices if len(one) > 1 for backbone, _ in one]
            labelled = iter(self.labeler.label_with_shares(several, self.arcs.labels) if several else ())
            for one in choices:
                yield one[0][0] if len(one) == 1 else self._surest(one, islice(labelled, len(one)))

    def _surest(
        self, backbones: Sequence[tuple[DTree, float]], labelled: Iterable[tuple[DTree, Sequence[float]]]
    ) -> DTree:
        """Return the best backbone of a sentence, by their arcs' logarithms, and the shares of the labels of
        each."""
        totals = self._totals(backbones, labelled)
        return backbones[totals.index(max(totals))][0]

    def _totals(
        self, backbones: Sequence[tuple[DTree, float]], labelled: Iterable[tuple[DTree, Sequence[float]]]
    ) -> list[float]:
        return [
            self.arcs.weight * log + float(np.log(np.maximum(shares, _LEAST)).sum())
            for (_, log), (_, shares) in zip(backbones, labelled, strict=True)
        ]

    def _choices(
        self, dtree: DTree, continuous: bool, counts: Counter[str], k: int = _BACKBONES
    ) -> list[tuple[DTree, float]]:
        """Return the backbone, or the k best of those that packed arcs hold; each with its arcs'
        logarithms."""
        backbone = backbone_of(dtree, continuous, counts)
        arcs = packed_arcs(backbone)
        kept = arcs and arcs.kept(self.arcs.least, backbone.heads)
        if kept is None or len(kept.heads) == len(backbone.heads):
            return [(backbone, 0.0)]
        best = k_best_dtrees(kept, k, continuous)
        counts[ARCS_UNDONE] += not best
        return [(replace(backbone, heads=heads), log) for heads, log in best] or [(backbone, 0.0)]


class TwoStage(Reduction):
    """A reduction whose labels are those of `d2c.reduction.labeler.labeler`, not the d-parser's.

    Its parameters are those of `Reduction`, and `constrained`: whether each head's labels fit together, of
    treebanks without gaps; otherwise the paper's own sequence model finds them. Learned by `fit`, too:
    `labeler_`; by `fit_arcs`: `arcs_`, what packed arcs count for.
    """

    relabels = supports_arcs = True
    ranks_arcs = False

    source: LabelerSource = LabelerSource()

    def __init__(
        self,
        encoding: str = "direct",
        head_rules: str = "collins",
        continuous: bool | None = None,
        seed: int = 1,
        constrained: bool = True,
    ) -> None:
        super().__init__(encoding, head_rules, continuous, seed)
        self.constrained = constrained

    @property
    def labeler_(self) -> Labeler:
        """The labeler."""
        return self.source.labeler

    @labeler_.setter
    def labeler_(self, labeler: Labeler) -> None:
        self.source = replace(self.source, labeler=labeler)

    @property
    def arcs_(self) -> ArcFeature:
        """What packed arcs count for."""
        return self.source.arcs

    @arcs_.setter
    def arcs_(self, arcs: ArcFeature) -> None:
        self.source = replace(self.source, arcs=arcs)

    @property
    def is_fitted(self) -> bool:
        """Whether the labeler is."""
        return self.labeler_.is_fitted

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Compile the kernels of the labeler."""
        Labeler.warm_up(train)

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn what packed arcs count for, as `Route` says."""
        fit_feature(self, ctrees, dtrees)
        return self

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """Return the d-trees with the labeler's labels; repairs of their heads are added to `counts`."""
        return self.source.label(dtrees, self.is_continuous, Counter() if counts is None else counts)

    def check_jackknifing(self) -> None:
        """Raise ValueError where the encoding has no labels for other heads than a treebank's own."""
        self.encoder.label(DTree(Tokens(("a",), ("A",)), (0,), ("",), (0,)))

    def save(self, directory: Path) -> None:
        """Write what `Reduction.save` writes, and the labeler."""
        super().save(directory)
        self.labeler_.save(directory / _LABELER)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        route = super().load(directory)
        route.labeler_ = Labeler.load(directory / _LABELER)
        return route

    def _fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree],
        dtrees: Iterable[DTree] | None,
        dev_dtrees: Iterable[DTree] | None,
        progress: Progress | None,
    ) -> None:
        """Learn labels from jackknifed backbones, too, with the labels that they have as features."""
        treebank = list(ctrees)
        continuous = all(ctree.is_continuous() for ctree in treebank)
        labelled = list(map(self.encode, treebank))
        predicted: list[Sequence[str] | None] = [None] * len(labelled)
        for ctree, dtree in zip(treebank, dtrees or (), strict=False):
            heads, _ = repair_heads(dtree.heads)
            ordered = order_arcs(strip_unaries(ctree)[0], projectivize(heads) if continuous else heads)
            labelled.append(self.encoder.label(replace(ordered, tokens=dtree.tokens)))
            predicted.append(dtree.labels)
        labeler = Labeler(self.encoding, continuous and self.constrained, seed=self.seed)
        self.source = LabelerSource(labeler.fit(labelled, predicted))
        super()._fit(treebank, dev, dtrees, dev_dtrees, progress)

    def _file(self) -> ReductionFile:
        return replace(super()._file(), arcs=tuple(self.arcs_))

    def _restore(self, file: ReductionFile) -> None:
        super()._restore(file)
        self.arcs_ = ArcFeature.read(file.arcs)
