"""What packed arcs count for: which are kept, and the search for the best weight."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from d2c.linear.arcs import ONE_HEAD, ArcFeature, learn_feature, least_probability, line_search
from d2c.trees.arcs import LEAST, arcs_of
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree


def test_as_many_heads_are_kept_as_asked_for() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = DTree(Tokens(("a", "b", "c"), ("NN", "NN", "NN")), (2, 0, 2), arcs=arcs_of(table, (2, 0, 2)))
    assert least_probability([dtree], 5 / 3) == pytest.approx(0.3)
    assert least_probability([dtree], 1.0) == 1.0
    assert least_probability([dtree], 9.0) == LEAST


@pytest.mark.parametrize("best", [-4, -1, 0, 0.5, 3, 6])
def test_the_line_search_finds_the_best_weight(best: float) -> None:
    assert log2(line_search(lambda weight: -abs(log2(weight) - best))) == pytest.approx(best)


def test_what_is_learned_has_the_best_score() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = DTree(Tokens(("a", "b", "c"), ("NN", "NN", "NN")), (2, 0, 2), arcs=arcs_of(table, (2, 0, 2)))
    least = least_probability([dtree])
    found = learn_feature(lambda feature: -abs(feature.weight - 4) - feature.least, [dtree])
    assert found == ArcFeature(4.0, least)
    found = learn_feature(lambda feature: -abs(feature.weight - 4) + feature.least, [dtree])
    assert found == ArcFeature(4.0, ONE_HEAD)
    assert dtree.arcs is not None and len(dtree.arcs.kept(ONE_HEAD, dtree.heads).heads) == 3


@pytest.mark.parametrize("row", [(-1.0,), (1.0, 2000.0), ("1",), "1", (1.0, 0.1, 0.1, 0.1)])
def test_what_is_out_of_range_is_not_read(row: tuple[float, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        ArcFeature.read(row)
    assert ArcFeature.read([2.0, 0.1]) == (2.0, 0.1, 0.0) and ArcFeature.read(()) == ArcFeature()
