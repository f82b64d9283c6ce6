"""The k best d-trees over packed arcs, against enumeration of all that the arcs hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from d2c.learning.semirings import count_derivations
from d2c.packed.arcs import PackedArcs, arcs_of, single
from d2c.packed.k_best import eisner_forest, k_best_dtrees
from d2c.trees.dtree import is_projective, is_tree


def random_arcs(seed: int) -> PackedArcs:
    """Over up to five words, with one tree at least, projective or not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    table = rng.random((n, n + 1)) * (rng.random((n, n + 1)) < 0.6)
    table[range(n), range(1, n + 1)] = 0
    order, heads = rng.permutation(n), [0] * n
    for i, m in enumerate(order[1:], 1):
        heads[m] = int(order[rng.integers(i)]) + 1
    return arcs_of(table, heads)


def trees_of(arcs: PackedArcs, projective: bool) -> dict[tuple[int, ...], float]:
    """All d-trees that the arcs hold."""
    pairs = zip(arcs.dependents().tolist(), arcs.heads.tolist(), strict=True)
    logs = dict(zip(pairs, arcs.logs.tolist(), strict=True))
    rows = (row.tolist() for row in np.split(arcs.heads, arcs.begin[1:-1]))
    every = (heads for heads in product(*rows) if is_tree(heads))
    return {
        heads: sum(logs[arc] for arc in enumerate(heads))
        for heads in every
        if not projective or is_projective(heads)
    }


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_they_are_the_best_of_all(seed: int, projective: bool) -> None:
    arcs = random_arcs(seed)
    trees = trees_of(arcs, projective)
    for k in (1, 4, 1000):
        found = k_best_dtrees(arcs, k, projective)
        assert [log for _, log in found] == pytest.approx(sorted(trees.values(), reverse=True)[:k], abs=1e-4)
        assert len({heads for heads, _ in found}) == len(found)
        assert [trees[heads] for heads, _ in found] == pytest.approx([log for _, log in found], abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_each_projective_tree_is_one_derivation(seed: int) -> None:
    arcs = random_arcs(seed)
    found = eisner_forest(arcs)
    assert (found and count_derivations(found[0])) == (len(trees_of(arcs, True)) or None)


def test_one_head_for_each_word_is_one_tree() -> None:
    for heads in ((0,), (2, 0, 2), (0, 4, 1, 1)):
        assert [tree.heads for tree in k_best_dtrees(single(heads), 8, False)] == [heads]
    assert [tree.heads for tree in k_best_dtrees(single((2, 0, 2)), 8, True)] == [(2, 0, 2)]
    assert k_best_dtrees(single((0, 4, 1, 1)), 8, True) == []


def test_a_forest_that_is_too_large_has_none() -> None:
    n = 12
    arcs = arcs_of(1 - np.eye(n, n + 1, 1), [0, *range(1, n)])
    assert len(k_best_dtrees(arcs, 8, True)) == 8
    assert k_best_dtrees(arcs, 8, True, most=100) == []
    assert len(k_best_dtrees(arcs, 8, False, most=100)) == 8
