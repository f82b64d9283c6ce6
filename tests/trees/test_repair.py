"""Heads made a tree and trees made projective, against every small case and a brute-force search."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given

from d2c.trees.conversion import to_constituents
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree, is_projective, is_tree
from d2c.trees.repair import CYCLE, EXTRA_ROOT, HEAD_OUTSIDE, Repairs, projectivize, repair_heads, repair_tree
from tests.steps import lines_run
from tests.strategies import any_heads, tree_heads

KINDS = HEAD_OUTSIDE, EXTRA_ROOT, CYCLE


@pytest.mark.parametrize(
    ("heads", "fixed", "repairs"),
    [
        ([0], [0], (0, 0, 0)),
        ([1], [0], (1, 0, 0)),
        ([-1], [0], (1, 0, 0)),
        ([5, -3], [0, 1], (2, 0, 0)),
        ([2, 1], [0, 1], (0, 0, 1)),
        ([1, 1], [0, 1], (1, 0, 0)),
        ([0, 0, 1], [0, 1, 1], (0, 1, 0)),
        ([3, 0, 0], [3, 0, 2], (0, 1, 0)),
        ([0, 3, 2], [0, 1, 2], (0, 0, 1)),
        ([2, 1, 4, 3], [0, 1, 1, 3], (0, 0, 2)),
        ([2, 3, 2], [2, 0, 2], (0, 0, 1)),
        ([3, 3, 4, 4], [3, 3, 4, 0], (1, 0, 0)),
        ([2, 3, 1, 0, 0, 9], [4, 3, 1, 0, 4, 4], (1, 1, 1)),
        ([3, 9, 1], [0, 1, 1], (1, 0, 1)),
    ],
)
def test_repairs_by_hand(heads: list[int], fixed: list[int], repairs: tuple[int, int, int]) -> None:
    assert repair_heads(heads) == (fixed, Counter(dict(zip(KINDS, repairs, strict=True))))


def check_repair(heads: Sequence[int]) -> None:
    before = list(heads)
    fixed, repairs = repair_heads(heads)
    assert list(heads) == before
    assert is_tree(fixed)
    assert sum(old != new for old, new in zip(heads, fixed, strict=True)) == repairs.total()
    assert (repairs.total() == 0) == is_tree(heads)
    assert repair_heads(fixed) == (fixed, Counter())


def test_all_heads_of_short_sentences() -> None:
    for n in range(1, 5):
        for heads in itertools.product(range(-1, n + 2), repeat=n):
            check_repair(heads)


def test_a_sentence_without_words_has_no_tree() -> None:
    refused = "^a sentence without words has no tree$"
    with pytest.raises(ValueError, match=refused):
        repair_heads([])
    with pytest.raises(ValueError, match=refused):
        repair_tree([], True, Repairs())
    with pytest.raises(ValueError, match=refused):
        to_constituents(DTree(Tokens((), ()), (), (), ()))


@given(any_heads())
def test_any_heads_become_a_tree(heads: tuple[int, ...]) -> None:
    check_repair(heads)


def ancestors(heads: Sequence[int], m: int) -> list[int]:
    """Heads that token m can be lifted to, the present one first; the root has only 0."""
    found = [heads[m]]
    while found[-1] and heads[found[-1] - 1]:
        found.append(heads[found[-1] - 1])
    return found


def nearest_projective(heads: Sequence[int]) -> tuple[int, list[list[int]]]:
    """The least number of lifts that make a tree projective, and all trees that need no more."""
    best, nearest = len(heads) ** 2, []
    for lifts in itertools.product(*(range(len(ancestors(heads, m))) for m in range(len(heads)))):
        if sum(lifts) <= best:
            lifted = [ancestors(heads, m)[lift] for m, lift in enumerate(lifts)]
            if is_projective(lifted):
                nearest = [lifted] if sum(lifts) < best else [*nearest, lifted]
                best = sum(lifts)
    return best, nearest


def test_projectivize_is_the_unique_nearest_for_all_trees_of_five() -> None:
    trees = changed = 0
    for n in range(1, 6):
        for heads in itertools.product(range(n + 1), repeat=n):
            if is_tree(heads):
                trees += 1
                _, nearest = nearest_projective(heads)
                assert nearest == [projectivize(heads)], heads
                changed += nearest != [list(heads)]
    assert trees == 1 + 2 + 9 + 64 + 625  # Cayley: n^(n-1)
    # Projective rooted trees: 1, 2, 7, 30, 143.
    assert changed == trees - (1 + 2 + 7 + 30 + 143)


@given(tree_heads(max_tokens=12))
def test_projectivize_always_ends_projective(heads: tuple[int, ...]) -> None:
    lifted = projectivize(heads)
    assert is_projective(lifted)
    assert projectivize(lifted) == lifted
    assert all(h in ancestors(heads, m) for m, h in enumerate(lifted))


@given(tree_heads(max_tokens=12))
def test_projectivize_as_it_is_defined(heads: tuple[int, ...]) -> None:
    """Each token hangs from the lowest ancestor of all words between them."""

    def fits(m: int, h: int) -> bool:
        return all(h in ancestors(heads, k) for k in range(min(m, h - 1) + 1, max(m, h - 1)))

    lowest = [next(h for h in ancestors(heads, m) if not h or fits(m, h)) for m in range(len(heads))]
    assert projectivize(heads) == lowest


def test_long_chains_with_a_crossing_arc_take_quadratic_time() -> None:
    def heads(k: int) -> list[int]:
        return [0, *range(1, k), *[k] * k, 1, *[k] * k]

    assert projectivize(heads(50)) == [*heads(50)[:101], *[1] * 50]
    assert lines_run(lambda: projectivize(heads(100))) < 5 * lines_run(lambda: projectivize(heads(50)))
    flat = [0, *[1] * 1000, 1000, 2]
    assert lines_run(lambda: projectivize(flat)) < 100 * len(flat)


def test_one_lift_by_hand() -> None:
    assert projectivize([3, 0, 2, 3, 2]) == [2, 0, 2, 3, 2]


def test_projectivize_wants_a_tree() -> None:
    for heads in ([0, 0], [2, 1], [0, 5], [0, -1]):
        with pytest.raises(ValueError) as error:
            projectivize(heads)
        assert str(error.value) == "these heads form no tree"


def test_long_chains_and_cycles() -> None:
    n = 20_000
    chain = list(range(n))
    assert repair_heads(chain) == (chain, Counter())
    assert projectivize(chain) == chain
    assert repair_heads([n, *range(1, n)]) == (chain, Counter({CYCLE: 1}))
    assert projectivize([*range(2, n + 1), 0]) == [*range(2, n + 1), 0]
