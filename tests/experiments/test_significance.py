"""Approximate randomisation against the exact permutation test, and its edge cases."""

from __future__ import annotations

import random
import tracemalloc
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.experiments.significance import (
    Difference,
    approximate_randomisation,
    counted_matches,
    difference_rows,
    differences_of,
    holm,
    how_compared,
)
from d2c.trees.scores.matches import ERROR, Score


def exact(first: list[Score], second: list[Score]) -> float:
    """p over all 2^n ways of swapping."""

    def f1(scores: list[Score]) -> float:
        return 200 * sum(s.matched for s in scores) / sum(s.gold + s.guess for s in scores)

    observed, extreme = abs(f1(second) - f1(first)), 0
    for swaps in product((False, True), repeat=len(first)):
        a = [y if swap else x for x, y, swap in zip(first, second, swaps, strict=True)]
        b = [x if swap else y for x, y, swap in zip(first, second, swaps, strict=True)]
        extreme += abs(f1(b) - f1(a)) >= observed - 1e-9
    return extreme / 2 ** len(first)


def compared(first: list[Score], second: list[Score], trials: int = 10_000) -> Difference:
    return approximate_randomisation(counted_matches(first), counted_matches(second), trials)


def test_it_approaches_the_exact_test() -> None:
    rng = random.Random(0)
    first = [Score(i, 9, matched=rng.randint(3, 8), gold=10, guess=rng.randint(8, 12)) for i in range(10)]
    second = [Score(i, 9, matched=rng.randint(4, 8), gold=10, guess=rng.randint(8, 12)) for i in range(10)]
    difference = compared(first, second, 20_000)
    assert difference.p == pytest.approx(exact(first, second), abs=0.01)
    assert compared(first, second, 20_000) == difference  # a seed, the same p
    turned = compared(second, first, 20_000)
    assert turned.points == pytest.approx(-difference.points)


def test_equal_parsers_do_not_differ_and_all_better_ones_do() -> None:
    scores = [Score(i, 9, matched=5, gold=10, guess=10) for i in range(30)]
    better = [Score(i, 9, matched=6, gold=10, guess=10) for i in range(30)]
    assert compared(scores, scores) == (0.0, 1.0)
    difference = compared(scores, better, 999)
    assert difference.points == pytest.approx(10) and difference.p == 1 / 1000


def test_memory_does_not_grow_with_the_sentences() -> None:
    scores = [Score(1, 9, matched=5, gold=10, guess=10)] * 40_000
    better = [*scores[:-2], *[Score(2, 9, matched=6, gold=10, guess=10)] * 2]
    tracemalloc.start()
    difference = compared(scores, better, 499)
    assert tracemalloc.get_traced_memory()[1] < 1 << 27
    tracemalloc.stop()
    assert difference == (pytest.approx(0.0005), 0.518)


def test_sentences_without_scores_count_nothing() -> None:
    scores = [
        Score(1, 9, matched=5, gold=10, guess=10),
        Score(2, 9, ERROR, matched=9, gold=9, guess=9),
    ]
    better = [Score(1, 9, matched=5, gold=10, guess=10), Score(2, 9, matched=0, gold=9, guess=9)]
    assert compared(scores[:1], better[:1]).points == 0
    assert compared(scores, scores).p == 1
    with pytest.raises(ValueError, match="2 and 1 sentences"):
        compared(scores, better[:1])


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_rejects_what_the_step_down_test_rejects(ps: list[float]) -> None:
    """Holm's own words: the smallest p against α / n, the next against α / (n - 1), until one is larger."""
    corrected = holm(ps)
    for level in (0.001, 0.01, 0.05, 0.2):
        rejected = set[int]()
        for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
            if (len(ps) - rank) * ps[i] > level:
                break
            rejected.add(i)
        assert rejected == {i for i, p in enumerate(corrected) if p <= level}


def test_differences_of_one_pair_and_of_several() -> None:
    scores = [Score(i, 9, matched=5, gold=10, guess=10) for i in range(30)]
    better = [Score(i, 9, matched=6, gold=10, guess=10) for i in range(30)]
    header, *rows = difference_rows(differences_of([("b against a", scores, better)]))
    assert (header, rows) == (("difference", "F1", "p"), [("b against a", "+10.00", "0.0001")])
    several = differences_of([("x", scores, better), ("y", scores, scores), ("z", better, scores)])
    assert difference_rows(several)[1:] == [
        ("x", "+10.00", "0.0003"),
        ("y", "+0.00", "1.0000"),
        ("z", "-10.00", "0.0003"),
    ]
    assert difference_rows({}) == []
    assert how_compared(1) == "p: paired approximate randomisation, 10,000 trials."
    assert how_compared(3).endswith("10,000 trials; Holm's correction for 3 comparisons.")
