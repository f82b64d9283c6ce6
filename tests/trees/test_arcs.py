"""Packed arcs: which are kept, what their probabilities are, votes of several d-trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from d2c.trees.arcs import PackedArcs, arcs_of, joined, parted, single, votes

TABLE = np.array([[0.0, 0.0, 0.9, 0.1], [0.602, 0.001, 0.0, 0.397], [0.2, 0.3, 0.5, 0.0]])


def shown(arcs: PackedArcs) -> list[dict[int, float]]:
    """The probabilities of each word's heads."""
    pairs = zip(arcs.heads.tolist(), np.exp(arcs.logs.astype(float)).round(3).tolist(), strict=True)
    rows = list(pairs)
    return [dict(rows[a:b]) for a, b in pairwise(arcs.begin.tolist())]


def test_likely_arcs_are_kept_and_sum_to_1() -> None:
    arcs = arcs_of(TABLE, [2, 0, 2])
    assert shown(arcs) == [{2: 0.9, 3: 0.1}, {0: 0.603, 3: 0.397}, {0: 0.2, 1: 0.3, 2: 0.5}]
    assert arcs.heads_per_word == pytest.approx(7 / 3)
    assert arcs.dependents().tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert arcs.among([2, 1, 0]) == [True, False, True]
    assert shown(arcs.kept(0.25, [2, 0, 2])) == [{2: 1.0}, {0: 0.603, 3: 0.397}, {1: 0.375, 2: 0.625}]


def test_those_of_the_tree_are_kept_in_any_case() -> None:
    assert shown(arcs_of(TABLE, [2, 1, 2]))[1] == {0: 0.602, 1: 0.001, 3: 0.397}
    assert shown(arcs_of(TABLE, [2, 0, 2]).kept(2.0, [3, 0, 0])) == [{3: 1.0}, {0: 1.0}, {0: 1.0}]
    lifted = arcs_of(TABLE, [2, 0, 2], 0.15).kept(0.15, [3, 0, 2])  # a repair gave the first word this head
    assert shown(lifted)[0] == {2: 0.5, 3: 0.5}


def test_those_of_several_sentences_are_joined_and_parted() -> None:
    sentences = [arcs_of(TABLE, [2, 0, 2]), single([]), single([0]), arcs_of(TABLE, [2, 1, 2])]
    whole = joined(sentences)
    assert len(whole.begin) == 8 and whole.heads.tolist() == [
        h for one in sentences for h in one.heads.tolist()
    ]
    assert list(map(shown, parted(whole, [3, 0, 1, 3]))) == list(map(shown, sentences))
    assert shown(joined([])) == []


def test_one_tree_is_certain() -> None:
    assert shown(single([2, 0, 2])) == [{2: 1.0}, {0: 1.0}, {2: 1.0}]
    assert shown(single([2, 0, 2]).kept(0.5, [2, 0, 2])) == shown(single([2, 0, 2]))
    assert single(()).kept(0.5, ()).begin.tolist() == [0] and single(()).heads_per_word == 0


def test_votes() -> None:
    shares = votes([([2, 0, 2], 2.0), ([2, 0, 1], 1.0), ([0, 1, 1], 1.0)])
    assert shares.tolist() == [[0.25, 0, 0.75, 0], [0.75, 0.25, 0, 0], [0, 0.5, 0.5, 0]]
    assert shown(arcs_of(shares, [2, 0, 2], 0.3)) == [{2: 1.0}, {0: 1.0}, {1: 0.5, 2: 0.5}]
    with pytest.raises(ValueError, match="no votes"):
        votes([])
