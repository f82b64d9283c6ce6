"""The combined route: what labeler and chart agree on, and which labels they see."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import exp
from pathlib import Path
from typing import cast

import pytest

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.learning.learner import Epoch
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.routes.combined import Combined
from d2c.routes.registry import make_route
from d2c.routes.voting.constituents import constituents
from d2c.trees.compatible import Constituent
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.repair import Repairs

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
TREES = list(islice(read_brackets(SAMPLE, clean=True), 80))
SEEN, NEW = TREES[:50], TREES[50:]


def chained(dtrees: list[DTree]) -> list[DTree]:
    """In every second sentence each word before the root hangs from the next one, with one label."""
    made = []
    for number, dtree in enumerate(dtrees):
        root = dtree.heads.index(0)
        if number % 2:
            heads = (*range(2, root + 2), *dtree.heads[root:])
            dtree = replace(dtree, heads=heads, labels=(*["NP#1"] * root, *(dtree.labels or ())[root:]))
        made.append(dtree)
    return made


@pytest.fixture(scope="module")
def combined() -> Combined:
    return cast(Combined, make_route("combined")).fit(SEEN, NEW[:10])


@pytest.fixture(scope="module")
def dtrees(combined: Combined) -> list[DTree]:
    return chained([combined.encode(ctree) for ctree in NEW])


def test_both_must_have_a_constituent(combined: Combined, dtrees: list[DTree]) -> None:
    repairs, of_chart = Repairs(), Repairs()
    ctrees = list(combined.decode_all(iter(dtrees), repairs))
    one, other = combined.chart.decode_all(dtrees, of_chart), combined.labeler.decode_all(dtrees)
    dropped = 0
    for ctree, a, b in zip(ctrees, one, other, strict=True):
        found = set(constituents(ctree))
        agreed = set(constituents(a)) & set(constituents(b))
        assert found >= agreed
        whole = (1 << len(ctree.tokens)) - 1
        assert all(extra in constituents(a) and extra.tokens == whole for extra in found - agreed)
        dropped += len(constituents(a)) - len(found)
        assert (ctree.tokens, ctree.top) == (a.tokens, a.top)
    assert dropped > 0
    assert repairs == of_chart


def test_confidences_are_means_of_the_two(combined: Combined, dtrees: list[DTree]) -> None:
    given = list(combined.confidences_all(iter(dtrees)))
    assert [ctree for ctree, _ in given] == list(combined.decode_all(dtrees))
    parts = zip(combined.chart.confidences_all(dtrees), combined.labeler.confidences_all(dtrees), strict=True)
    for (ctree, shares), pair in zip(given, parts, strict=True):
        one, other = (dict(zip(constituents(part), sure, strict=True)) for part, sure in pair)
        for constituent, share in zip(constituents(ctree), shares, strict=True):
            mean = (one.get(constituent, 0) + other.get(constituent, 0)) / 2
            assert share == (mean if constituent in one and constituent in other else 0.0)


def test_the_k_best_are_what_is_agreed_of_the_charts_trees(combined: Combined, dtrees: list[DTree]) -> None:
    several = 0
    for dtree in sorted(dtrees, key=lambda one: len(one.heads))[:20]:
        of_chart, other = combined.chart.decode_k_best(dtree, 1000), combined.labeler.decode(dtree)
        assert len(of_chart) < 1000  # all that there are
        expected = dict[frozenset[Constituent], float]()
        for log, ctree in of_chart:
            agreed = frozenset(constituents(ctree)) & frozenset(constituents(other))
            whole = (1 << len(ctree.tokens)) - 1
            if not any(one.tokens == whole for one in agreed):
                agreed |= {max(one for one in constituents(ctree) if one.tokens == whole)}
            expected[agreed] = expected.get(agreed, 0.0) + exp(log or 0.0)
        found = combined.decode_k_best(dtree, 1000)
        shares = {frozenset(constituents(ctree)): exp(log or 0.0) for log, ctree in found}
        assert len(shares) == len(found) and found[0][1] == combined.decode(dtree)
        assert shares == pytest.approx(expected)
        assert [ctree for _, ctree in combined.decode_k_best(dtree, 1)] == [found[0][1]]
        several += 1 < len(found) < len(of_chart)
    assert several > 8


def test_gold_labels_teach_nothing(combined: Combined, dtrees: list[DTree]) -> None:
    """No parser has predicted them: its own would be trusted as much."""
    bare = [replace(dtree, labels=None) for dtree in dtrees]
    assert list(combined.decode_all(bare)) == list(combined.decode_all(dtrees))
    alone = cast(ConstrainedCKY, make_route("cky")).fit(SEEN, NEW[:10])
    assert (alone.weights_ == combined.chart.weights_).all()
    labeler = cast(TwoStage, make_route("labeler")).fit(SEEN)
    assert (labeler.labeler_.weights_ == combined.labeler.labeler_.weights_).all()


def test_jackknifed_labels_are_features_of_both(dtrees: list[DTree], combined: Combined) -> None:
    jackknifed = chained([combined.encode(ctree) for ctree in SEEN])
    route = cast(Combined, make_route("combined")).fit(SEEN, dtrees=iter(jackknifed))
    assert route.labeler.labeler_.stacked_
    known = {label for dtree in jackknifed for label in dtree.labels or ()}
    assert route.chart.vocabulary_.labels.keys() == known
    of_chart = ConstrainedCKY(route.chart.settings).fit(SEEN, dtrees=jackknifed)
    assert (of_chart.weights_ == route.chart.weights_).all()
    again = [replace(dtree, labels=("X#1",) * len(dtree.heads)) for dtree in dtrees]
    assert list(route.chart.confidences_all(again)) != list(route.chart.confidences_all(dtrees))


def test_dev_selects_only_on_what_is_learned(combined: Combined) -> None:
    """Where there are predicted d-trees for train only, dev's gold ones are of another kind."""
    jackknifed = chained([combined.encode(ctree) for ctree in SEEN[:20]])
    told: list[Epoch] = []
    route = ConstrainedCKY(epochs=2, table_bits=12)
    route.fit(SEEN[:20], NEW[:5], dtrees=jackknifed, progress=told.append)
    assert [epoch.f1 for epoch in told] == [None, None]
    route.fit(
        SEEN[:20], NEW[:5], dtrees=jackknifed, dev_dtrees=map(route.encode, NEW[:5]), progress=told.append
    )
    assert all(epoch.f1 is not None for epoch in told[2:]) and len(told) == 4


def test_its_labels_are_the_labelers(combined: Combined, dtrees: list[DTree]) -> None:
    assert combined.relabel(dtrees) == combined.labeler.relabel(dtrees) != dtrees


def test_the_chart_must_use_labels() -> None:
    with pytest.raises(ValueError, match="^the chart must use labels$"):
        Combined(TwoStage(), ConstrainedCKY())


def test_what_is_loaded_mends_the_same_nodes(combined: Combined, tmp_path: Path) -> None:
    """What both agree on may have copies that neither has."""
    combined.save(tmp_path)
    assert Combined.load(tmp_path).lone_ == combined.lone_ is not None


def test_trees_that_are_bare_words(combined: Combined) -> None:
    dtree = replace(combined.encode(NEW[0]), heads=(0,), labels=None)
    tokens = replace(dtree.tokens, forms=("x",), tags=(NEW[0].tokens.tags[0],), lemmas=None, morphs=None)
    [ctree] = combined.decode_all([DTree(tokens, (0,))])
    assert isinstance(ctree, CTree) and ctree.tokens == tokens
