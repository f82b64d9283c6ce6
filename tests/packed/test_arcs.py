"""Packed arcs: which are kept, what their probabilities are; d-trees with them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from d2c.packed.arcs import ArcLabels, PackedArcs, arcs_of, packed_arcs, single, with_packed_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.labels import phrase_symbols

TABLE = np.array([[0.0, 0.0, 0.9, 0.1], [0.602, 0.001, 0.0, 0.397], [0.2, 0.3, 0.5, 0.0]])


def shown(arcs: PackedArcs) -> list[dict[int, float]]:
    """The probabilities of each word's heads."""
    pairs = zip(arcs.heads.tolist(), np.exp(arcs.logs.astype(float)).round(3).tolist(), strict=True)
    rows = list(pairs)
    return [dict(rows[a:b]) for a, b in pairwise(arcs.begin.tolist())]


def test_likely_arcs_are_kept_and_sum_to_1() -> None:
    arcs = arcs_of(TABLE, [2, 0, 2])
    assert shown(arcs) == [{2: 0.9, 3: 0.1}, {0: 0.603, 3: 0.397}, {0: 0.2, 1: 0.3, 2: 0.5}]
    assert arcs.dependents().tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert (arcs.of_tree([2, 1, 0]) >= 0).tolist() == [True, False, True]
    assert shown(arcs.kept(0.25, [2, 0, 2])) == [{2: 1.0}, {0: 0.603, 3: 0.397}, {1: 0.375, 2: 0.625}]


def test_those_of_the_tree_are_kept_in_any_case() -> None:
    assert shown(arcs_of(TABLE, [2, 1, 2]))[1] == {0: 0.602, 1: 0.001, 3: 0.397}
    assert shown(arcs_of(TABLE, [2, 0, 2]).kept(2.0, [3, 0, 0])) == [{3: 1.0}, {0: 1.0}, {0: 1.0}]
    lifted = arcs_of(TABLE, [2, 0, 2], 0.15).kept(0.15, [3, 0, 2])  # a repair gave the first word this head
    assert shown(lifted)[0] == {2: 0.5, 3: 0.5}
    unlikely = arcs_of(TABLE, [2, 0, 2]).kept(0.3, [2, 1, 2])  # as probable as the least of its word
    assert shown(unlikely)[1] == {0: 0.431, 1: 0.284, 3: 0.284}


def test_those_of_several_trees_are_kept() -> None:
    arcs = arcs_of(TABLE, [2, 0, 2])
    assert shown(arcs.kept(0.6, [2, 0, 2], [3, 3, 1])) == [
        {2: 0.9, 3: 0.1},
        {0: 0.603, 3: 0.397},
        {1: 0.375, 2: 0.625},
    ]
    assert shown(arcs.kept(0.6, [2, 0, 2], [2, 1, 2]))[1] == {0: 0.603, 1: 0.397}  # 1 was in no arc
    assert shown(arcs.kept(0.25)) == [{2: 1.0}, {0: 0.603, 3: 0.397}, {1: 0.375, 2: 0.625}]


def test_labels_go_with_their_arcs() -> None:
    shares = np.arange(1, 13) / 100  # of the label x, of word 0 with heads 0, 1, 2, 3, then of word 1, ...
    every = ArcLabels(("x", "y"), np.log(np.stack([shares, 1 - shares], 1)).astype(np.float32))
    arcs = arcs_of(TABLE, [2, 0, 2])
    arcs = arcs._replace(labels=every.of(4 * arcs.dependents() + arcs.heads))
    assert arcs.labels and np.exp(arcs.labels.logs[:, 0]) * 100 == pytest.approx([3, 4, 5, 8, 9, 10, 11])
    kept = arcs.kept(0.25, [2, 2, 2])  # the head of the second word is in no arc: nothing is known of it
    assert kept.heads.tolist() == [2, 0, 2, 3, 1, 2] and kept.labels
    assert np.exp(kept.labels.logs[:, 0]) * 100 == pytest.approx([3, 5, 50, 8, 10, 11])
    assert arcs.places(np.array([2, 0, 1, 1, 0]), np.array([2, 0, 3, 0, 3])).tolist() == [6, -1, 3, 2, 1]


def test_arcs_of_a_tree_come_to_their_places_among_those_that_are_kept() -> None:
    drawn = np.random.default_rng(1)
    for n in [*range(1, 9)] * 10:
        arcs = arcs_of(drawn.dirichlet(np.full(n + 1, 0.3), n), drawn.integers(n + 1, size=n).tolist())
        heads = drawn.integers(n + 1, size=n).tolist()
        expected = [
            {head: share for head, share in own.items() if share >= 0.1005 or head == wanted}
            for own, wanted in zip(shown(arcs), heads, strict=True)
        ]
        for own, wanted, every in zip(expected, heads, shown(arcs), strict=True):
            own.setdefault(wanted, min(every.values()))
        kept = shown(arcs.kept(0.1005, heads))
        for own, found in zip(expected, kept, strict=True):
            assert [*found] == sorted(own)
            total = sum(own.values())
            assert found == pytest.approx({head: share / total for head, share in own.items()}, abs=2e-3)


def test_probabilities_of_labels_that_are_called_alike_are_added() -> None:
    labels = ArcLabels(("A#1", "B#1", "A#2"), np.log([[0.5, 0.2, 0.3], [0.1, 0.8, 0.1]]).astype(np.float32))
    logs = labels.summed(("B", "C", "A"), phrase_symbols(labels.names))
    assert np.exp(logs) == pytest.approx(np.array([[0.2, 1e-6, 0.8], [0.8, 1e-6, 0.2]]))


def test_one_tree_is_certain() -> None:
    assert shown(single([2, 0, 2])) == [{2: 1.0}, {0: 1.0}, {2: 1.0}]
    assert shown(single([2, 0, 2]).kept(0.5, [2, 0, 2])) == shown(single([2, 0, 2]))
    assert single(()).kept(0.5, ()).begin.tolist() == [0]


def test_equal_shares_below_the_least_leave_the_trees_own_head() -> None:
    shares = np.array([[0.25, 0, 0.75, 0], [0.75, 0.25, 0, 0], [0, 0.5, 0.5, 0]])
    assert shown(arcs_of(shares, [2, 0, 2], 0.3)) == [{2: 1.0}, {0: 1.0}, {1: 0.5, 2: 0.5}]


def test_d_trees_are_compared_without_their_arcs() -> None:
    plain = DTree(Tokens(("a", "b", "c"), ("A", "B", "C")), (2, 0, 2), labels=("x", "root", "y"))
    one, other = (with_packed_arcs(plain, arcs_of(TABLE, [2, 0, 2], least)) for least in (0.1, 0.2))
    assert plain == one == other == plain and len({plain, one, other}) == 1
    assert one != replace(one, heads=(0, 1, 1)) and replace(one, heads=(0, 1, 1)) != plain != "x"
    assert packed_arcs(replace(one, heads=(0, 1, 1))) is packed_arcs(one) is not None
    assert packed_arcs(plain) is packed_arcs(with_packed_arcs(one, None)) is None
    again = pickle.loads(pickle.dumps(one))
    assert again == one and shown(again.arcs) == shown(arcs_of(TABLE, [2, 0, 2], 0.1))
