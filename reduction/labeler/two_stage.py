"""Two-stage parsing ("Parsing as Reduction", section 4.2): a d-parser's backbone, the labeler's labels.

Where a d-tree has packed arcs (`d2c.packed.arcs`), the labeler labels the k best backbones that these hold.
The backbone with the surest labels is taken, by the sum of the logarithms of their shares and the weighted
logarithms of its arcs' probabilities. The probabilities that the d-parser gives labels count besides the
labeler's own scores, as weighted logarithms, too. Where labels and heads were learned together
(`d2c.reduction.labeler.over_arcs`), the backbone with the greatest score of both is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import add
from pathlib import Path
from typing import Self

import numpy as np

from d2c.base.arrays import Floats
from d2c.base.batches import batches
from d2c.base.progress import counted
from d2c.learning.words import numbered
from d2c.packed.arcs import packed_arcs
from d2c.packed.scoring import ONE_HEAD, ArcScoring, fit_chosen, fit_scoring, least_probability
from d2c.protocols.abilities import RouteAbilities
from d2c.protocols.route import TrainingTrees
from d2c.reduction.alternatives import likely_dtrees
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.over_arcs import (
    FIRST_SCORING,
    ArcExample,
    Candidates,
    arc_scores,
    dtree_places,
)
from d2c.reduction.reduction import Reduction
from d2c.reduction.repair import backbone_of
from d2c.trees.conversion import order_arcs
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.labels import ROOT
from d2c.trees.refinement import visible
from d2c.trees.repair import ARCS_UNDONE
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import strip_unaries

_LABELER = "labeler"
_BACKBONES = 16  # of a sentence that are labelled
_BATCH = 100  # sentences whose backbones are labelled at once
_LEAST = 1e-9  # share of a label

_Choices = Sequence[tuple[DTree, float]]  # the backbones of a sentence, each with the score of its arcs


class TwoStage(Reduction):
    """A reduction whose labels are those of `d2c.reduction.labeler.labeler`, not the d-parser's.

    Its parameters are those of `Reduction`, and `constrained`: whether each head's labels must fit together,
    in treebanks without gaps; otherwise the paper's own sequence model finds them. `fit` also learns
    `labeler_`, and from d-trees with packed arcs `arcs_`, how these are scored; else `fit_arcs` does that.
    """

    abilities = RouteAbilities(confidences=True, k_best=True, packed_arcs=True, own_labels=True)

    def __init__(
        self,
        encoding: str = "direct",
        head_rules: str = "collins",
        continuous: bool | None = None,
        seed: int = 1,
        constrained: bool = True,
    ) -> None:
        super().__init__(encoding, head_rules, continuous, seed)
        self.constrained, self.labeler_ = constrained, Labeler()

    @property
    def is_fitted(self) -> bool:
        """Return whether the labeler is fitted."""
        return self.labeler_.is_fitted

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Compile the kernels of the labeler."""
        dtrees = [DTree(Tokens(("a", "b"), ("A", "B")), (2, 0), labels=("X#1", ROOT))]
        Labeler(epochs=int(train), table_bits=8).fit(dtrees).label_with_shares(dtrees)

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn how packed arcs are scored, as `Route` says."""
        fit_scoring(self, ctrees, dtrees)
        return self

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """Return the d-trees with the labeler's labels and repaired heads, or with those heads among packed
        arcs whose labels are surest; repairs are added to `counts`."""
        counts = Counter() if counts is None else counts
        return list(self.labeler_.label_all(self._backbones(dtrees, counts), self.arcs_.labels, counts))

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
        route.constrained = route.gaps_ or route.labeler_.settings.constrained  # with gaps, no file says it
        return route

    def _fit(self, trees: TrainingTrees) -> None:
        """Learn labels from gold backbones and from jackknifed ones, whose own labels are features.

        Where d-trees have packed arcs, no labels are features; after that, labels and heads are learned
        together, and `dev` and `dev_dtrees` choose the epoch, which arcs are kept, and how they are scored.
        """
        treebank, given, backbones = list(trees.ctrees), list(trees.dtrees or ()), list[DTree]()
        continuous = all(ctree.is_continuous() for ctree in treebank)
        labelled = list(map(self.encode, treebank))
        predicted: list[Sequence[str] | None] = [None] * len(labelled)
        over_arcs = any(packed_arcs(dtree) is not None for dtree in given)
        for ctree, dtree in zip(treebank, given, strict=False):
            backbones.append(backbone_of(dtree, continuous, Counter()))
            labelled.append(self._over(strip_unaries(ctree)[0], backbones[-1]))
            predicted.append(None if over_arcs else dtree.labels)
        labeler = Labeler(self.encoding, continuous and self.constrained, seed=self.seed)
        self.labeler_ = labeler.fit(labelled, predicted, trees.progress)
        self.arcs_ = ArcScoring()
        super()._fit(trees._replace(ctrees=treebank))
        if over_arcs:
            self.arcs_ = FIRST_SCORING._replace(least=least_probability(backbones))
            self._learn_over_arcs(self._examples(treebank, backbones), trees)

    def _over(self, ctree: CTree, backbone: DTree) -> DTree:
        """Return a backbone with the labels that an unaryless c-tree has over it."""
        return self.encoder.label(replace(order_arcs(ctree, backbone.heads), tokens=backbone.tokens))

    def _examples(self, treebank: Iterable[CTree], backbones: Iterable[DTree]) -> Iterator[ArcExample]:
        """Yield what labels and heads are learned from, over d-trees whose labels the labeler knows."""
        index = numbered(self.labeler_.labels_, 0)
        for ctree, backbone in zip(treebank, counted(backbones, "labeler: best d-trees"), strict=True):
            found = Candidates.of(backbone, self.arcs_, _BACKBONES, self.is_continuous)
            every = [replace(backbone, heads=heads) for heads in found.dtrees or [tuple(backbone.heads)]]
            unaryless, gold = strip_unaries(ctree)[0], np.array(self.encode(ctree).heads)
            labels = [self._over(unaryless, dtree).labels or () for dtree in every]
            known = [k for k, row in enumerate(labels) if index.keys() >= {*row}]
            heads = [every[k].heads for k in known]
            yield ArcExample(
                [every[k] for k in known],
                self.labeler_.observe(backbone),
                found.arcs,
                dtree_places(found.arcs, heads),
                np.array([[index[label] for label in labels[k]] for k in known]),
                (np.array(heads) != gold).sum(axis=1),
            )

    def _learn_over_arcs(self, examples: Iterable[ArcExample], trees: TrainingTrees) -> None:
        """Learn labels and heads together; held-out trees choose the epoch, and how arcs are scored."""
        gold, dtrees = list(map(visible, trees.dev)), list(trees.dev_dtrees or ())

        def score(weights: Floats) -> float:
            self.labeler_.weights_ = weights
            return bracket_scores(gold, list(self.decode_all(dtrees)), gaps=self.gaps_).f1

        self.labeler_.learn_over_arcs(list(examples), score if dtrees else None, trees.progress)
        if any(packed_arcs(dtree) is not None for dtree in dtrees):
            fit_chosen(self, gold, dtrees)

    def _relabel_with_shares(
        self, dtrees: Iterable[DTree], counts: Counter[str]
    ) -> list[tuple[DTree, Sequence[float]]]:
        """Return what `relabel` does, and how sure the labeler is of each label [n]."""
        backbones = list(self._backbones(dtrees, counts))
        return self.labeler_.label_with_shares(backbones, self.arcs_.labels, counts)

    def _k_best_dtrees(self, dtree: DTree, k: int) -> list[tuple[float, DTree]]:
        """Return the d-trees of `relabel`'s search, or more of them, by how sure their labels and arcs are.

        Where `relabel` looks at the d-parser's own d-tree alone, since others gained nothing on held-out
        trees, the others come after it.
        """
        if self.arcs_.least < ONE_HEAD:
            among, choices = _BACKBONES, self._choices(dtree, Counter(), max(k, _BACKBONES))
        else:
            own = backbone_of(dtree, self.is_continuous, Counter())
            likely = likely_dtrees(own, k, self.is_continuous)
            among, choices = 1, [(one, self.arcs_.weight * log) for log, one in likely]
        labelled, totals = self._scored([choices])
        first = totals.index(max(totals[:among]))  # which `relabel` chooses
        order = sorted(range(len(totals)), key=lambda i: (i != first, -totals[i]))
        return [(totals[i], labelled[i]) for i in order]

    def _backbones(self, dtrees: Iterable[DTree], counts: Counter[str]) -> Iterator[DTree]:
        """Yield for each d-tree the backbone that is to be labelled."""
        for batch in batches(dtrees, _BATCH):
            choices = [self._choices(dtree, counts) for dtree in batch]
            several = [one for one in choices if len(one) > 1]
            scores = iter(self._scored(several)[1] if several else ())
            for one in choices:
                totals = list(islice(scores, len(one))) if len(one) > 1 else [0.0]
                yield one[totals.index(max(totals))][0]

    def _scored(self, choices: Sequence[_Choices]) -> tuple[Sequence[DTree], list[float]]:
        """Return the d-trees of sentences with labels; and the score of each: that of its arcs, plus those of
        its labels or, where no weights of arcs were learned, the logarithms of the labels' shares."""
        dtrees, of_arcs = zip(*chain.from_iterable(choices), strict=True)
        if self.arcs_.learned:
            sentences = [number for number, one in enumerate(choices) for _ in one]
            labelled, scores = self.labeler_.label_with_scores(dtrees, sentences, self.arcs_.labels)
            sure = scores.tolist()
        else:
            pairs = self.labeler_.label_with_shares(dtrees, self.arcs_.labels)
            labelled = [dtree for dtree, _ in pairs]
            sure = [float(np.log(np.maximum(shares, _LEAST)).sum()) for _, shares in pairs]
        return labelled, list(map(add, of_arcs, sure))

    def _choices(self, dtree: DTree, counts: Counter[str], k: int = _BACKBONES) -> _Choices:
        """Return the backbone, or the k best of those that packed arcs hold; each with the score of its
        arcs."""
        backbone = backbone_of(dtree, self.is_continuous, counts)
        found = Candidates.of(backbone, self.arcs_, k, self.is_continuous)
        counts[ARCS_UNDONE] += not found.dtrees
        if found.arcs.is_single or not found.dtrees:
            return [(backbone, 0.0)]
        of_arcs = [self.arcs_.weight * log for log in found.logs]
        if self.arcs_.learned:
            observed, weights = self.labeler_.observe(backbone), self.labeler_.weights_
            scores, _ = arc_scores(observed, found.arcs, self.arcs_.weight, weights)
            of_arcs = scores[dtree_places(found.arcs, found.dtrees)].sum(axis=1).tolist()
        pairs = zip(found.dtrees, of_arcs, strict=True)
        return [(replace(backbone, heads=heads), score) for heads, score in pairs]
