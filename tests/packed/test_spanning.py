"""Spanning trees against enumeration of all trees."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.packed.spanning import chu_liu_edmonds, eisner, spanning_tree
from d2c.trees.dtree import is_projective, is_tree


@st.composite
def scores(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 6), min_size=n, max_size=n)
    return np.array(draw(st.lists(row, min_size=n + 1, max_size=n + 1)), float)


def total(table: np.ndarray, heads: tuple[int, ...]) -> float:
    return sum(float(table[h, m]) for m, h in enumerate(heads))


def best(table: np.ndarray, projective: bool) -> float:
    """By trying all heads."""
    n = table.shape[1]
    trees = [heads for heads in product(range(n + 1), repeat=n) if is_tree(heads)]
    return max(total(table, heads) for heads in trees if not projective or is_projective(heads))


@settings(max_examples=50)
@given(scores())
def test_trees_are_the_best(table: np.ndarray) -> None:
    for find, projective in ((chu_liu_edmonds, False), (eisner, True)):
        heads = find(table)
        assert is_tree(heads) and total(table, heads) == best(table, projective)
        assert not projective or is_projective(heads)
        assert total(table, spanning_tree(table, projective)) == total(table, heads)
