"""Both routes combined: the constituents that the labeler and constrained CKY agree on.

The two make different errors over the same d-tree, so what both find is right more often than what one finds:
this is the intersection of Fossum and Knight, "Combining Constituent Parsers" (NAACL 2009), for two parsers.
It has fewer constituents than either, and a greater F1.

If there are jackknifed d-trees, both learn from them, and the d-parser's head-ordered labels are features of
both: of the chart as in section 3.2 of the draft "Parsing Dependencies". Labels of gold d-trees would be
trusted more than predicted ones deserve. So without jackknifing no labels of the d-parser are used at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from pathlib import Path
from typing import Self

from d2c.base.model_files import reading
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.protocols.abilities import RouteAbilities
from d2c.protocols.route import Confidences, Ranked, Route, TrainingTrees, merged_ctrees
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.routes.voting.constituents import Parse, combine
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.repair import Repairs

_LABELER, _CHART = "two-stage", "chart"
_CTREES = 4  # of the chart, which are considered for each c-tree asked for


class Combined(Route):
    """A route of a TwoStage and a ConstrainedCKY with labels.

    Repairs are those of the chart; the root is the chart's, too, where the two find no common one.
    """

    abilities = RouteAbilities(confidences=True, k_best=True, own_labels=True)

    def __init__(self, labeler: TwoStage, chart: ConstrainedCKY) -> None:
        if not chart.settings.labels:
            raise ValueError("the chart must use labels")
        self.labeler, self.chart = labeler, chart
        self.gaps_, self.lone_ = chart.gaps_, chart.lone_

    @property
    def is_fitted(self) -> bool:
        """Return whether both routes are fitted."""
        return self.labeler.is_fitted and self.chart.is_fitted

    def encode(self, ctree: CTree) -> DTree:
        """Return the labeler's d-tree."""
        return self.labeler.encode(ctree)

    def check_jackknifing(self) -> None:
        """Raise ValueError as the labeler does."""
        self.labeler.check_jackknifing()

    def _fit(self, trees: TrainingTrees) -> None:
        """Learn from gold c-trees; from jackknifed d-trees, too, if they are given."""
        treebank, held_out, progress = list(trees.ctrees), list(trees.dev), trees.progress
        if trees.dtrees is None:
            self.labeler.fit(treebank, progress=progress)
            bare, of_dev = self._bare(treebank), self._bare(held_out)
            self.chart.fit(treebank, held_out, dtrees=bare, dev_dtrees=of_dev, progress=progress)
        else:
            jackknifed = list(trees.dtrees)
            self.labeler.fit(treebank, dtrees=jackknifed, progress=progress)
            self.chart.fit(treebank, dtrees=jackknifed, progress=progress)
        self.gaps_ = self.chart.gaps_

    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        """Yield the c-trees that both agree on."""
        one, other = tee(dtrees)
        pairs = zip(self.chart.decode_all(one, repairs), self.labeler.decode_all(other), strict=True)
        return (combine(list(map(Parse, pair)), _agreed, 0.0).ctree for pair in pairs)

    def _confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, Confidences]]:
        """Yield the c-trees of `_decode_all`, each with the mean of the two confidences in each node [K]."""
        one, other = tee(dtrees)
        pairs = zip(
            self.chart.confidences_all(one, repairs), self.labeler.confidences_all(other), strict=True
        )
        for pair in pairs:
            ctree, shares = combine([Parse(*parse) for parse in pair], _agreed, 0.0)
            yield ctree, tuple(shares or ())

    def _decode_k_best(self, dtree: DTree, k: int, constraints: SpanConstraints | None) -> Sequence[Ranked]:
        """Return what each of the chart's best c-trees has in common with the labeler's c-tree, with the
        chart's probabilities; several of them may come to the same."""
        labelled = Parse(self.labeler.decode(dtree))
        of_chart = self.chart.decode_k_best(dtree, _CTREES * k)
        agreed = ((log, combine([Parse(ctree), labelled], _agreed, 0.0).ctree) for log, ctree in of_chart)
        return merged_ctrees(agreed)[:k]

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """Return the d-trees with the labeler's labels; repairs of their heads are added to `counts`."""
        return self.labeler.relabel(dtrees, counts)

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Compile the kernels of both."""
        TwoStage.warm_up(train)
        ConstrainedCKY.warm_up(train)

    def save(self, directory: Path) -> None:
        """Write both routes into a directory, made if absent."""
        self.labeler.save(directory / _LABELER)
        self.chart.save(directory / _CHART)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        labeler, chart = TwoStage.load(directory / _LABELER), ConstrainedCKY.load(directory / _CHART)
        with reading(directory / _CHART):
            return cls(labeler, chart)

    def _bare(self, ctrees: Iterable[CTree]) -> list[DTree]:
        """Return the gold d-trees without labels."""
        return [replace(self.encode(ctree), labels=None) for ctree in ctrees]


def _agreed(_label: str, votes: Sequence[float]) -> float:
    return sum(votes) / len(votes) if all(votes) else 0.0
