"""What packed arcs count for: which are kept, and the search for the best weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import log2
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from d2c.base.model_files import as_type
from d2c.packed.arcs import LEAST, ArcLabels, PackedDTree, arcs_of, with_packed_arcs
from d2c.packed.scoring import (
    FEWER,
    ONE_HEAD,
    WEIGHTS,
    ArcScoring,
    best_weight,
    chosen,
    fit_risk,
    fit_scoring,
    fit_weights,
    learn_scoring,
    least_probability,
    reweighted,
)
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree


def three_words(table: NDArray[np.float64]) -> PackedDTree:
    """A d-tree with the likely arcs of this table."""
    tokens = Tokens(("a", "b", "c"), ("NN", "NN", "NN"))
    return PackedDTree(tokens, (2, 0, 2), arcs=arcs_of(table, (2, 0, 2)))


def test_as_many_heads_are_kept_as_asked_for() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = three_words(table)
    assert least_probability([dtree], 5 / 3) == pytest.approx(0.3)
    assert least_probability([dtree], 1.0) == 1.0
    assert least_probability([dtree], 9.0) == LEAST


@pytest.mark.parametrize("best", range(-3, 5))
def test_the_best_weight_is_found(best: int) -> None:
    assert best_weight(lambda weight: -((log2(weight) - best) ** 2)) == 2.0**best


def test_a_peak_beside_bad_weights_is_not_taken_for_the_best() -> None:
    scores = dict(zip(WEIGHTS, [5, 9, 4, 7, 7.5, 8, 8, 7], strict=True))
    assert best_weight(scores.__getitem__) == 4.0
    assert best_weight(lambda weight: 1.0) == 1.0


def test_what_is_learned_has_the_best_score() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = three_words(table)
    least = least_probability([dtree])
    found = learn_scoring(lambda scoring: -abs(log2(scoring.weight) - 2) - scoring.least, [dtree])
    assert found == ArcScoring(4.0, least)
    found = learn_scoring(lambda scoring: -abs(log2(scoring.weight) - 2) + scoring.least, [dtree])
    assert found == ArcScoring(4.0, ONE_HEAD)
    assert len(dtree.arcs.kept(ONE_HEAD, dtree.heads).heads) == 3


def test_the_threshold_is_chosen_again_with_the_weight() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = three_words(table)
    few, _, many = (least_probability([dtree], number) for number in FEWER)
    assert few > many

    def score(scoring: ArcScoring) -> float:
        return -abs(log2(scoring.weight) - 2) - 0.5 * (scoring.least == (few if scoring.weight > 2 else many))

    begin = ArcScoring(1.0, 0.5, 0.5, 1.0)
    assert chosen(score, begin, [dtree]) == ArcScoring(4.0, many, 0.5, 1.0)


def test_the_weight_of_labels_is_learned_where_there_are_any() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = three_words(table)
    labels = ArcLabels(("X",), np.zeros((len(dtree.arcs.heads), 1), np.float32))
    said = with_packed_arcs(dtree, dtree.arcs._replace(labels=labels))

    def score(scoring: ArcScoring) -> float:
        return -abs(log2(scoring.weight) - 2) - abs(log2(scoring.labels or 0.01) - 1) - scoring.least

    least = least_probability([dtree])
    assert learn_scoring(score, [said]) == ArcScoring(4.0, least, 2.0)
    assert learn_scoring(score, [dtree])[2] == 0.0
    assert learn_scoring(lambda scoring: -scoring.labels - scoring.least, [said])[2] == 0.0


def test_a_wider_beam_is_taken_where_ends_of_yields_count_and_it_gains_enough() -> None:
    dtree = three_words(np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]]))
    said = with_packed_arcs(dtree, dtree.arcs._replace(yields=np.zeros(18, np.float32)))
    begin = ArcScoring(1.0, 0.5, 0.5, 1.0, yields=0.5)

    def score(scoring: ArcScoring, gain: float) -> float:
        return gain * (scoring.beam == 4.0) - scoring.least

    for gain, beam in ((0.2, 4.0), (0.1, 2.5)):
        assert chosen(partial(score, gain=gain), begin, [said]).beam == beam
        assert chosen(partial(score, gain=gain), begin, [dtree]).beam == 2.5
        assert chosen(partial(score, gain=gain), begin._replace(yields=0.0), [said]).beam == 2.5

    def of_yields(scoring: ArcScoring) -> float:
        return scoring.yields + score(scoring, 0.2)

    assert learn_scoring(of_yields, [said], ("labels", "yields")).beam == 4.0
    assert learn_scoring(of_yields, [said]).beam == 2.5


def test_the_weight_of_yields_is_learned_where_there_are_any_and_the_route_sees_them() -> None:
    table = np.array([[0.0, 0.0, 0.9, 0.1], [0.6, 0.0, 0.0, 0.4], [0.2, 0.3, 0.5, 0.0]])
    dtree = three_words(table)
    said = with_packed_arcs(dtree, dtree.arcs._replace(yields=np.zeros(18, np.float32)))

    def score(scoring: ArcScoring) -> float:
        return -abs(log2(scoring.weight) - 2) - abs(log2(scoring.yields or 0.01) - 1) - scoring.least

    found = learn_scoring(score, [said], ("labels", "yields"))
    assert (found.weight, found.labels, found.yields) == (4.0, 0.0, 2.0)
    assert learn_scoring(score, [said]).yields == 0.0
    begin = ArcScoring(1.0, 0.5, 0.5, 1.0, yields=0.5)
    assert chosen(score, begin, [said]).yields == 2.0
    assert chosen(score, begin, [dtree]).yields == 0.5
    assert reweighted(score, begin, [said]) == ArcScoring(4.0, 0.5, 0.5, 1.0, yields=2.0)
    assert reweighted(score, begin, [dtree]) == ArcScoring(4.0, 0.5, 0.5, 1.0, yields=0.5)


def test_each_weight_that_is_tried_is_told(caplog: pytest.LogCaptureFixture) -> None:
    ctree = CTree(Tokens(("a", "b"), ("A", "B")), ("S",), ((0, 1),))
    dtree = PackedDTree(
        ctree.tokens, (2, 0), arcs=arcs_of(np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]), (2, 0))
    )

    class Flat:
        arcs_ = ArcScoring()
        gaps_ = False

        def decode_all(self, dtrees: Iterable[DTree]) -> Iterator[CTree]:
            return (ctree for _ in dtrees)

    route = Flat()
    with caplog.at_level("DEBUG", "d2c.progress"):
        fit_scoring(route, [ctree], [dtree])
    assert route.arcs_ == ArcScoring(1.0, ONE_HEAD)
    route.arcs_ = ArcScoring(2.0, 0.1, learned=1.0)
    fit_weights(route, [ctree], [dtree])
    assert route.arcs_ == ArcScoring(2.0, 0.1, learned=1.0)
    route.arcs_ = ArcScoring(learned=1.0)  # whose weights stay in use
    fit_scoring(route, [ctree], [dtree])
    assert route.arcs_ == ArcScoring(1.0, ONE_HEAD, learned=1.0)
    tried = [f"packed arcs count {weight:g}: sentence 1" for weight in WEIGHTS]
    assert [record.getMessage() for record in caplog.records][: len(tried)] == tried


GOLD = [CTree(Tokens((str(number), "b"), ("A", "B")), ("S",), ((0, 1),)) for number in range(8)]


def right_in(right: dict[tuple[float, float], set[int]]) -> Any:
    """A route that finds these trees with a scale and a threshold, and else the first of each half."""

    class Known:
        arcs_ = ArcScoring(2.0, 0.1, learned=1.0, scale=0.5, threshold=0.5)
        gaps_ = False

        def by_risk(self, dtree: DTree, scorings: Sequence[ArcScoring]) -> list[CTree]:
            own = GOLD[int(dtree.tokens.forms[0])]
            of_features = [right.get((one.scale, one.threshold), {0, 4}) for one in scorings]
            wrong = replace(own, labels=("X",))
            return [own if GOLD.index(own) in found else wrong for found in of_features]

    return Known()


@pytest.mark.parametrize(
    ("right", "gains", "used"),
    [
        ({}, [0.0, 0.0], ()),
        ({(0.7, 0.6): {0, 1, 4, 5, 6}}, [50.0, 25.0], (0.7, 0.6)),
        ({(0.5, 0.5): {0, 1, 2, 4, 5}, (0.7, 0.6): {0, 1, 4, 5, 6, 7}}, [25.0, 25.0], (0.7, 0.6)),
        ({(0.5, 0.5): {0, 1, 2, 4}, (0.7, 0.6): {0, 1, 4, 5, 6, 7}}, [0.0, 25.0], ()),
        ({(0.5, 0.5): {1, 2}, (0.7, 0.6): {0, 4, 5}}, [-25.0, 0.0], ()),
    ],
)
def test_risk_is_minimised_where_that_pays_on_both_halves(
    right: dict[tuple[float, float], set[int]], gains: list[float], used: tuple[float, ...]
) -> None:
    """What is chosen on one half is scored on the other; what is used is the best on both."""
    route = right_in(right)
    assert fit_risk(route, GOLD, [DTree(one.tokens, (2, 0)) for one in GOLD]) == gains
    assert route.arcs_ == ArcScoring(2.0, 0.1, 0.0, 1.0, *used)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((-1.0,), r"Expected `float` >= 0\.0 - at `\$\[0\]`"),
        ((1.0, 2000.0), r"Expected `float` <= 1000\.0 - at `\$\[1\]`"),
        (("1",), r"Expected `float`, got `str` - at `\$\[0\]`"),
        ((1.0, 0.1, 0.1, 0.1), r"Expected `float` that's a multiple of 1\.0 - at `\$\[3\]`"),
        ((0.0,) * 9, "Expected `array` of length 0 to 8, got 9"),
        ((0.0,) * 5 + (1.0,), r"Expected `float` < 1\.0 - at `\$\[5\]`"),
    ],
)
def test_what_is_out_of_range_is_not_read(row: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        as_type(row, ArcScoring)
    assert as_type([2.0, 0.1], ArcScoring) == ArcScoring(2.0, 0.1) and as_type([], ArcScoring) == ArcScoring()
