"""The k best c-trees of the reduction over packed arcs, against enumeration of all d-trees of these."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from math import exp, fsum, log
from typing import Any

import numpy as np
import pytest

from d2c.packed.arcs import PackedArcs, PackedDTree, arc_labels_of, arcs_of, packed_arcs, with_packed_arcs
from d2c.packed.scoring import ONE_HEAD, ArcScoring
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from tests.cky.test_constrained_cky import sample
from tests.packed.test_k_best import trees_of

WORDS = range(3, 7)  # of sentences with few enough d-trees


@cache
def reduction(encoding: str) -> Reduction:
    return Reduction(encoding).fit(sample("train", 300))


@cache
def labeler() -> TwoStage:
    return TwoStage().fit(sample("train", 300))


@pytest.fixture(params=["reduction", "labeler"])
def route(request: pytest.FixtureRequest) -> Reduction:
    return labeler() if request.param == "labeler" else reduction("direct")


def packed(dtree: DTree, seed: int, labelled: bool = True) -> PackedDTree:
    """A d-tree, seven in ten other arcs of which have some probability, and any of its labels theirs."""
    rng, n = np.random.default_rng(seed), len(dtree.heads)
    table = rng.random((n, n + 1)) * (rng.random((n, n + 1)) < 0.7)
    table[range(n), range(1, n + 1)] = 0
    table[range(n), dtree.heads] = 1
    table /= table.sum(axis=1, keepdims=True)
    names = tuple(sorted({*(dtree.labels or ())}))
    arcs = arcs_of(table, dtree.heads)
    labels = arc_labels_of(names, rng.random((n * (n + 1), len(names))))
    own = labels.of(arcs.dependents() * (n + 1) + arcs.heads) if labelled else None
    found = with_packed_arcs(dtree, arcs._replace(labels=own))
    assert isinstance(found, PackedDTree)
    return found


def dtrees(route: Reduction) -> list[DTree]:
    short = (ctree for ctree in sample("dev", 300) if len(ctree.tokens) in WORDS)
    return [route.encode(ctree) for ctree in short][:12]


def by_brackets(weighted: Iterable[tuple[float, CTree]]) -> dict[str, float]:
    """The share of each c-tree."""
    totals = defaultdict[str, list[float]](list)
    for weight, ctree in weighted:
        totals[format_bracket(ctree)].append(weight)
    whole = fsum(weight for weights in totals.values() for weight in weights)
    return {brackets: fsum(weights) / whole for brackets, weights in totals.items()}


def of_route(route: Any, dtree: DTree, k: int) -> dict[str, float]:
    found = route.decode_k_best(dtree, k)
    shares = {format_bracket(ctree): exp(one) for one, ctree in found}
    assert len(shares) == len(found) and next(iter(shares)) == format_bracket(route.decode(dtree))
    return shares


def likeliest(arcs: PackedArcs, m: int, head: int) -> str:
    """The most probable label of an arc."""
    assert arcs.labels is not None
    (place,) = arcs.places(np.array([m]), np.array([head]))
    return arcs.labels.names[arcs.labels.logs[place].argmax()]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_shares_are_those_of_all_d_trees(encoding: str) -> None:
    route, several = reduction(encoding), 0
    for seed, gold in enumerate(dtrees(route)):
        dtree = packed(gold, seed)
        arcs, every = dtree.arcs.kept(ArcScoring().least, dtree.heads), list[tuple[float, CTree]]()
        for heads, total in trees_of(arcs, True).items():
            pairs = enumerate(zip(heads, dtree.heads, dtree.labels or (), strict=True))
            labels = [own if h == old else likeliest(arcs, m, h) for m, (h, old, own) in pairs]
            every.append((exp(total), route.decode(DTree(dtree.tokens, heads, labels=tuple(labels)))))
        expected = by_brackets(every)
        found = of_route(route, dtree, 1000)
        assert found == pytest.approx(expected, rel=1e-4)
        several += len(every) > len(expected) > 1
        best = [*of_route(route, dtree, 3)]
        assert best == [*found][:3]
    assert several >= 3


def test_without_labels_of_arcs_the_d_trees_own_stay() -> None:
    route = reduction("direct")
    for seed, gold in enumerate(dtrees(route)):
        dtree = packed(gold, seed, labelled=False)
        every = [
            (exp(total), route.decode(replace(gold, heads=heads)))
            for heads, total in trees_of(dtree.arcs.kept(ArcScoring().least, dtree.heads), True).items()
        ]
        assert of_route(route, dtree, 1000) == pytest.approx(by_brackets(every), rel=1e-4)


@pytest.mark.parametrize(("weight", "least"), [(0.5, 0.05), (2.0, 0.05), (1.0, ONE_HEAD)])
def test_of_the_labeler_labels_count_too(weight: float, least: float) -> None:
    """Where it decodes the d-parser's own d-tree only, this comes first, and the others are as probable."""
    route, several = copy.copy(labeler()), 0
    route.arcs_ = ArcScoring(weight, least, 0.5)
    for seed, gold in enumerate(dtrees(route)):
        dtree, every = packed(gold, seed), list[tuple[float, CTree]]()
        arcs = dtree.arcs.kept(0.05 if least < 1 else ArcScoring().least, dtree.heads)
        for heads, total in trees_of(arcs, True).items():
            [(labelled, shares)] = route.labeler_.label_with_shares([replace(dtree, heads=heads)], 0.5)
            sure = weight * total + fsum(map(log, shares))
            alone = Reduction.decode(copy.copy(reduction("direct")), with_packed_arcs(labelled, None))
            every.append((exp(sure), alone))
        expected = by_brackets(every)
        assert of_route(route, dtree, 1000) == pytest.approx(expected, rel=1e-4)
        several += len(expected) > 1
    assert several >= 3


def test_one_d_tree_is_one_c_tree(route: Reduction) -> None:
    """Without packed arcs nothing is known of others; with those of one d-tree there are none."""
    (dtree, *_) = dtrees(route)
    assert list(route.decode_k_best(dtree, 5)) == [(None, route.decode(dtree))]
    certain = np.zeros((len(dtree.heads), len(dtree.heads) + 1))
    certain[range(len(dtree.heads)), dtree.heads] = 1
    alone = with_packed_arcs(dtree, arcs_of(certain, dtree.heads))
    assert list(route.decode_k_best(alone, 5)) == [(0.0, route.decode(dtree))]


def test_all_obey_constraints(route: Reduction) -> None:
    several = 0
    for seed, gold in enumerate(dtrees(route)):
        dtree = packed(gold, seed)
        wanted = SpanConstraints.of([(0, 2, "NP")], [(1, 4)], len(dtree.heads))
        assert wanted is not None and packed_arcs(dtree) is not None
        free, found = route.decode_k_best(dtree, 1000), route.decode_k_best(dtree, 1000, wanted)
        assert not any(wanted.broken(ctree) for _, ctree in found)
        assert found[0][1] == route.within(dtree, wanted)[0]
        assert sum(exp(one or 0.0) for one, _ in found) == pytest.approx(1.0)
        several += 1 < len(found) < len(free)
    assert several >= 3


def test_heads_that_are_no_tree_come_first_as_they_are_repaired() -> None:
    route = reduction("direct")
    (gold, *_) = dtrees(route)
    dtree = packed(gold, 3)
    spoilt = replace(dtree, heads=tuple([0] * len(dtree.heads)))
    [(_, first), *others] = route.decode_k_best(spoilt, 10)
    assert first == route.decode(with_packed_arcs(spoilt, None)) and len(others) > 2
