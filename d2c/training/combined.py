"""Both routes combined: head-ordered labels of the reduction as d-labels of constrained CKY.

Section 3.2 of the draft "Parsing Dependencies". The d-parser learns the same labelled d-trees as for the
reduction. Decoding searches the constrained chart; the labels are features there, no longer orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.learning.training import Epoch
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.model_files import reading

_ENCODING, _CHART = "encoding", "chart"


class Combined:
    """A route with the labels of a Reduction and the chart of a ConstrainedCKY with labels."""

    def __init__(self, reduction: Reduction, chart: ConstrainedCKY) -> None:
        if not chart.settings.labels:
            raise ValueError("the chart must use labels")
        self.reduction, self.chart = reduction, chart
        self.encode, self.decode_all = reduction.encode, chart.decode_all
        self.confidences_all = chart.confidences_all

    @property
    def gaps_(self) -> bool:
        """Whether training trees had gaps."""
        return self.chart.gaps_

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """Learns from gold c-trees, with the labels that the gold d-trees have, or on other d-trees."""
        treebank, held_out = list(ctrees), list(dev)
        labelled = map(self.encode, treebank) if dtrees is None else dtrees
        dev_dtrees = map(self.encode, held_out)
        self.chart.fit(treebank, held_out, dtrees=labelled, dev_dtrees=dev_dtrees, progress=progress)
        return self

    def save(self, directory: Path) -> None:
        """Writes both parts into a directory, made if absent."""
        self.reduction.save(directory / _ENCODING)
        self.chart.save(directory / _CHART)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        reduction, chart = Reduction.load(directory / _ENCODING), ConstrainedCKY.load(directory / _CHART)
        with reading(directory / _CHART):
            return cls(reduction, chart)
