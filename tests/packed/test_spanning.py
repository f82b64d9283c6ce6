"""Spanning trees against enumeration of all trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
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


def contracted(table: np.ndarray) -> float:
    """The total of the best tree with any number of roots, of which each cycle becomes one more word."""
    heads = table.argmax(axis=0)
    words = next(filter(None, (cycle_after(m, heads) for m in range(len(heads)))), None)
    if words is None:
        return total(table, tuple(heads))
    others = [m for m in range(len(heads)) if m not in words]
    kept = [0, *(m + 1 for m in others)]
    loss = table[:, words] - table[heads[words], words]
    made = np.full((len(others) + 2, len(others) + 1), -np.inf)
    made[:-1, :-1] = table[np.ix_(kept, others)]
    made[:-1, -1] = loss[kept].max(axis=1)
    made[-1, :-1] = table[np.ix_([m + 1 for m in words], others)].max(axis=0)
    return contracted(made) + total(table[:, words], tuple(heads[words]))


def cycle_after(word: int, heads: np.ndarray) -> list[int]:
    """The words of the cycle that the way from one leads to, if any."""
    way = list[int]()
    while word >= 0 and word not in way:
        way.append(word)
        word = int(heads[word]) - 1
    return way[way.index(word) :] if word >= 0 else []


@pytest.mark.parametrize("near", [0.0, 1.0])
def test_long_sentences_with_many_cycles(near: float) -> None:
    n = 120
    table = np.log(np.random.default_rng(1).random((n + 1, n)))
    table -= near * np.abs(np.arange(n + 1)[:, None] - 1 - np.arange(n))
    table[np.arange(1, n + 1), np.arange(n)] = -np.inf
    heads = chu_liu_edmonds(table)
    assert is_tree(heads)
    table[0] -= 1 + (n + 1) * np.ptp(table[np.isfinite(table)])
    assert total(table, heads) == pytest.approx(contracted(table))
