"""The best set of yields, and minimum Bayes risk, against enumeration of all sets."""

from __future__ import annotations

from itertools import combinations

from hypothesis import example, given
from hypothesis import strategies as st

from d2c.trees import compatible
from d2c.trees.compatible import Constituent, best_compatible, cross, minimum_bayes_risk

SPANS = st.tuples(st.integers(0, 7), st.integers(1, 8)).map(
    lambda ends: (1 << ends[0] + ends[1]) - (1 << ends[0])
)
WORTH = st.integers(1, 5).map(float)


def best_value(values: dict[int, float]) -> float:
    """By trying every set."""
    trees = [chosen for k in range(len(values) + 1) for chosen in combinations(values, k)]
    trees = [chosen for chosen in trees if not any(cross(a, b) for a, b in combinations(chosen, 2))]
    return max(sum(values[one] for one in chosen) for chosen in trees)


def check(values: dict[int, float]) -> None:
    chosen = best_compatible(values)
    assert chosen <= set(values)
    assert not any(cross(a, b) for a, b in combinations(chosen, 2))
    assert sum(values[one] for one in chosen) == best_value(values)


@given(st.dictionaries(SPANS, WORTH, max_size=9))
@example({0b0111: 2.0, 0b1110: 2.0, 0b0011: 1.0, 0b1100: 2.0})
def test_spans(values: dict[int, float]) -> None:
    check(values)


@given(st.dictionaries(st.integers(1, 255), WORTH, max_size=9))
@example({0b0101: 1.0, 0b1010: 1.0, 0b0011: 1.5})
def test_yields_with_gaps(values: dict[int, float]) -> None:
    check(values)


@given(st.dictionaries(st.integers(1, 255), WORTH, max_size=9))
def test_a_narrow_search_still_finds_a_tree(values: dict[int, float]) -> None:
    before, compatible.WIDTH = compatible.WIDTH, 1
    try:
        chosen = best_compatible(values)
    finally:
        compatible.WIDTH = before
    assert not any(cross(a, b) for a, b in combinations(chosen, 2))


def test_long_sentences_whose_spans_all_cross() -> None:
    """Left-branching against right-branching: the better one is whole, and nothing of the other."""
    n = 120
    left = {(1 << i) - 1: 1.0 for i in range(2, n)}
    right = {(1 << n) - (1 << i): 1.5 for i in range(1, n - 1)}
    assert best_compatible(left | right) >= set(right)


LABELLED = st.tuples(st.sampled_from("XY"), SPANS).map(lambda pair: Constituent(*pair))


@given(st.dictionaries(LABELLED, st.integers(0, 10).map(lambda tenths: tenths / 10), max_size=9))
@example({Constituent("X", 0b011): 0.6, Constituent("Y", 0b011): 0.6, Constituent("X", 0b110): 0.9})
def test_what_is_chosen_has_the_greatest_support_beyond_the_threshold(
    support: dict[Constituent, float],
) -> None:
    chosen = minimum_bayes_risk(support, 0.35)
    trees = [tree for k in range(len(support) + 1) for tree in combinations(support, k)]
    trees = [tree for tree in trees if not any(cross(a[1], b[1]) for a, b in combinations(tree, 2))]
    assert tuple(one for one in support if one in chosen) in trees and len({*chosen}) == len(chosen)
    values = [round(sum(support[one] - 0.35 for one in tree), 6) for tree in [chosen, *trees]]
    assert values[0] == max(values)


def test_what_is_required_is_there_with_its_best_label() -> None:
    """Unless it crosses what is worth more, or nothing is known of it."""
    root, other, part = Constituent("S", 0b1111), Constituent("X", 0b1111), Constituent("NP", 0b0011)
    support = {root: 0.2, other: 0.1, part: 0.9}
    assert minimum_bayes_risk(support, 0.5) == [part]
    assert minimum_bayes_risk(support, 0.5, [0b1111]) == [part, root]
    assert minimum_bayes_risk(support | {other: 0.6}, 0.5, [0b1111]) == [other, part]
    crossing = support | {Constituent("VP", 0b0110): 0.4}
    assert minimum_bayes_risk(crossing, 0.5, [0b0110, 0b1000]) == [part]
