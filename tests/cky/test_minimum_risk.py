"""Minimum Bayes risk over packed arcs, against enumeration of all derivations and all trees of their
constituents; what is left as it was."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from d2c.base.arrays import Doubles
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.search.derivations import ChartInput, derivation, scored_chart
from d2c.packed.arcs import arcs_of, packed_arcs, with_packed_arcs
from d2c.packed.scoring import ArcScoring
from d2c.routes.voting.constituents import constituents
from d2c.trees.compatible import Constituent, cross
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, is_projective
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.repair import ARCS_UNDONE, Repairs
from tests.cky.test_arcs import wrong_head
from tests.cky.test_constrained_cky import sample
from tests.cky.test_learning import derivations
from tests.cky.test_over_arcs import learned_with_gaps, spoilt

MOST = 13  # constituents, of which all sets are enumerated


@cache
def fitted(symbols: str = "plain") -> ConstrainedCKY:
    return ConstrainedCKY(symbols=symbols, epochs=2, table_bits=16).fit(sample("train", 200))


def risking(route: ConstrainedCKY, scale: float, threshold: float) -> ConstrainedCKY:
    route = copy.copy(route)
    route.arcs_ = route.arcs_._replace(scale=scale, threshold=threshold)
    return route


def hesitant(most: int = 40) -> Iterator[DTree]:
    """D-trees one word of which has two heads."""
    for seed, ctree in enumerate(one for one in sample("train", 400) if 2 < len(one.tokens) < most):
        dtree = wrong_head(fitted().encode(ctree), 0.5, seed)
        arcs = packed_arcs(dtree)
        if arcs is not None and not arcs.is_single and is_projective(dtree.heads):
            yield dtree


def enumerated(route: ConstrainedCKY, dtree: DTree) -> tuple[list[CTree], Doubles]:
    """The c-trees of all derivations, none where there are too many; the scores of these."""
    observed, arcs = route.vocabulary_.observe(dtree.tokens, dtree.heads, dtree.labels), packed_arcs(dtree)
    assert arcs is not None
    asked = ChartInput(route.query, observed, route.scorer, route.packed(arcs, observed, np.inf))
    chart, stage, several, scores = scored_chart(asked)
    every = derivations(chart) if several else []
    ctrees = [route.ctree(dtree.tokens, derivation(chart, edges, stage), Repairs()) for edges in every]
    return ctrees, np.array([scores[edges].sum(dtype=np.float64) for edges in every])


@cache
def cases(symbols: str) -> list[tuple[DTree, list[CTree], Doubles]]:
    """Short d-trees with all that they can become."""
    return [(dtree, *enumerated(fitted(symbols), dtree)) for dtree in hesitant(11)]


def greatest(right: Counter[Constituent], whole: int, threshold: float) -> float:
    """The most that the expected number of right constituents can be beyond a threshold for each, with a
    root, of all trees of these."""
    every = [*right]
    sets = np.array([*product((0.0, 1.0), repeat=len(every))])
    values = sets @ np.array([right[one] - threshold for one in every])
    for i, j in combinations(range(len(every)), 2):
        if cross(every[i].tokens, every[j].tokens):
            values[(sets[:, i] > 0) & (sets[:, j] > 0)] = -np.inf
    values[~sets[:, [one.tokens == whole for one in every]].any(axis=1)] = -np.inf
    return float(values.max())


@pytest.mark.parametrize("symbols", ["plain", "vertical", "collapsed"])
@pytest.mark.parametrize(("scale", "threshold"), [(0.02, 0.2), (0.02, 0.35), (0.1, 0.5), (0.5, 0.7)])
def test_it_has_the_greatest_expected_number_of_right_constituents(
    symbols: str, scale: float, threshold: float
) -> None:
    plain, seen = fitted(symbols), Counter[str]()
    route = risking(plain, scale, threshold)
    for dtree, ctrees, scores in cases(symbols):
        shares = np.exp(scale * (scores - scores.max(initial=-np.inf)))
        right = Counter[Constituent]()
        for ctree, share in zip(ctrees, shares / shares.sum(), strict=True):
            for one in constituents(ctree):
                right[one] += share
        if not right or len(right) > MOST or any(one.below for one in right):
            continue
        ctree, confidences = route.confidences(dtree)
        found, whole = constituents(ctree), (1 << len(dtree.heads)) - 1
        assert confidences == pytest.approx([right[one] for one in found], abs=1e-3)
        assert found[-1].tokens == whole and ctree.tokens == dtree.tokens
        value = sum(right[one] - threshold for one in found)
        assert value == pytest.approx(greatest(right, whole, threshold), abs=1e-3)
        best = plain.decode(dtree)
        assert best == ctrees[int(np.argmax(scores))] or len(set(scores.round(3))) < len(scores)
        seen["trees"] += 1
        seen["other than the best derivation's"] += {*found} != {*constituents(best)}
        seen["no derivation's"] += {*found} not in [{*constituents(one)} for one in ctrees]
    assert seen["trees"] > 10 and seen["other than the best derivation's"] > 0
    assert seen["no derivation's"] > 0 or threshold > 0.3


@pytest.mark.parametrize("symbols", ["plain", "vertical", "collapsed"])
def test_a_label_twice_in_a_chain_is_as_probable_as_derivations_with_both(symbols: str) -> None:
    """Not once as probable as twice: then what is in three of ten derivations, twice, would seem likely."""
    subjects, predicates = ("(NP (NP (N a)))", "(NP (N a))", "(N a)"), ("(V b) (X c)", "(VP (V b) (X c))")
    ctrees = [parse_bracket(f"(TOP (S {one} {other}))") for one, other in product(subjects, predicates)]
    plain = ConstrainedCKY(head_rules="rightmost", symbols=symbols, epochs=1, table_bits=12).fit(ctrees)
    own, table, twice = plain.encode(ctrees[0]), np.eye(4)[[3, 3, 0]], 0
    table[0] = 0, 0, 0.5, 0.5  # a's head is b or c
    dtree = with_packed_arcs(own, arcs_of(table, own.heads))
    for scale in (0.02, 0.5, 2.0):
        found, scores = enumerated(plain, dtree)
        shares = np.exp(scale * (scores - scores.max()))
        right = Counter[Constituent]()
        for ctree, share in zip(found, shares / shares.sum(), strict=True):
            right.update(dict.fromkeys(constituents(ctree), share))
        ctree, confidences = risking(plain, scale, 0.1).confidences(dtree)
        assert confidences == pytest.approx([right[one] for one in constituents(ctree)], abs=1e-3)
        twice += any(one.below for one in constituents(ctree))
    assert twice


def test_chains_of_unary_nodes_stand_in_the_order_of_the_derivations() -> None:
    route, chains = risking(fitted(), 0.02, 0.2), 0
    for dtree, ctrees, _ in cases("plain"):
        orders = set[tuple[Constituent, Constituent]]()
        for ctree in ctrees:
            orders |= {(a, b) for a, b in combinations(constituents(ctree), 2) if a.tokens == b.tokens}
        for pair in combinations(constituents(route.decode(dtree)), 2):
            if (pair in orders) != (pair[::-1] in orders):
                assert pair in orders
                chains += 1
    assert chains > 3


def test_scale_and_threshold_are_kept_in_files(tmp_path: Path) -> None:
    route, dtrees = risking(fitted(), 0.02, 0.35), [*hesitant()][:20]
    route.save(tmp_path)
    again = ConstrainedCKY.load(tmp_path)
    assert again.arcs_ == route.arcs_ == ArcScoring(scale=0.02, threshold=0.35)
    assert [*again.decode_all(dtrees)] == [*route.decode_all(dtrees)] != [*fitted().decode_all(dtrees)]


def test_all_ways_to_decode_give_the_same_tree() -> None:
    """It is the first of the k best, each of which comes once, and has head children as others have."""
    plain, route, unknown = fitted(), risking(fitted(), 0.1, 0.5), 0
    for dtree in [*hesitant()][:60]:
        ctree = route.decode(dtree)
        assert route.confidences(dtree)[0] == ctree
        (log, first), *others = route.decode_k_best(dtree, 4)
        assert first == ctree and ctree not in [other for _, other in others] and len(others) < 4
        assert all(other is not None and other <= 0 for other, _ in others)
        known = {constituents_of(one): own for own, one in plain.decode_k_best(dtree, 4)}
        assert (log is None) == (constituents_of(ctree) not in known)
        heads, n = ctree.lexical_heads(), len(ctree.tokens)
        assert all(heads[n + k] in below for k, below in enumerate(ctree.yields()[n:]))
        unknown += log is None
    assert 0 < unknown < 60


def test_many_scales_and_thresholds_share_a_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = (0.0, 0.0), (0.1, 0.5), (0.02, 0.2)
    plain, features = fitted(), [ArcScoring(scale=scale, threshold=least) for scale, least in pairs]
    dtrees = [*hesitant()][:20]
    expected = [[*risking(plain, one.scale, one.threshold).decode_all(dtrees)] for one in features]
    assert expected[0] != expected[1] != expected[2]
    charts = list[object]()
    monkeypatch.setattr(
        "d2c.cky.decoding.scored_chart", lambda asked: charts.append(asked) or scored_chart(asked)
    )
    assert [plain.by_risk(dtree, features) for dtree in dtrees] == [*map(list, zip(*expected, strict=True))]
    [*risking(plain, 0.1, 0.5).decode_k_best(dtrees[0], 40)]
    assert len(charts) == len(dtrees) + 1


def constituents_of(ctree: CTree) -> frozenset[Constituent]:
    return frozenset(constituents(ctree))


def test_constraints_are_obeyed() -> None:
    """Those that some derivation obeys, by the search: so nothing is put in with confidence 1."""
    route, obeyed = risking(fitted(), 0.1, 0.5), 0
    for dtree in [*hesitant(20)][:20]:
        for label, tokens, _ in {*constituents(fitted().decode(with_packed_arcs(dtree, None)))}:
            start, end = (tokens & -tokens).bit_length() - 1, tokens.bit_length()
            for require in ((start, end), (start, end, label)):
                wanted = SpanConstraints.of([require], None, len(dtree.heads))
                assert wanted is not None
                ctree, shares = route.within(dtree, wanted)
                assert not wanted.broken(ctree) and shares is not None
                assert route.decode_k_best(dtree, 2, wanted)[0][1] == ctree
                obeyed += ctree == route.with_posteriors(dtree, Repairs(), wanted)[0]
            if end - start < len(dtree.heads):
                forbidden = SpanConstraints.of(None, [(start, end)], len(dtree.heads))
                assert forbidden is not None and not forbidden.broken(route.within(dtree, forbidden)[0])
    assert obeyed > 100


def test_single_d_trees_and_those_with_gaps_have_their_best_derivation() -> None:
    plain, route = fitted(), risking(fitted(), 0.1, 0.5)
    for dtree in [*hesitant()][:20]:
        alone = with_packed_arcs(dtree, None)
        assert route.confidences(alone) == plain.confidences(alone)
        assert route.decode(alone) == plain.decode(alone)
    plain, _, dev = learned_with_gaps()
    route, crossing, others = risking(plain, 0.1, 0.5), 0, 0
    for dtree in spoilt(plain, dev)[:120]:
        if is_projective(dtree.heads):
            others += route.decode(dtree) != plain.decode(dtree)
        else:
            assert route.confidences(dtree) == plain.confidences(dtree)
            assert route.decode(dtree) == plain.decode(dtree)
            crossing += 1
    assert crossing > 10 and others > 3


def test_sentences_that_are_left_to_the_single_d_tree_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    route, dtree, repairs = risking(fitted(), 0.1, 0.5), next(hesitant()), Repairs()
    monkeypatch.setattr("d2c.cky.decoding.packed_skeleton_of", lambda *arguments: None)
    assert route.decode(dtree, repairs) == fitted().decode(with_packed_arcs(dtree, None))
    assert repairs.counts[ARCS_UNDONE] == 1
