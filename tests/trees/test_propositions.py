"""Propositions 1-3 of "Parsing as Reduction" as properties, and the inverse pairs of the tree algebra."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from hypothesis import given

from d2c.trees.conversion import to_constituents, to_dependencies
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree, is_projective, is_tree
from d2c.trees.repair import CYCLE, EXTRA_ROOT, HEAD_OUTSIDE, projectivize, repair_heads
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests import shapes, strategies
from tests.shapes import tokens_of
from tests.strategies import event_ranks, ordered_dtrees

UNARYLESS = shapes.ctrees(unaries=False) | strategies.ctrees(unaries=False)


def is_strict(dtree: DTree) -> bool:
    assert dtree.events is not None
    return len(set(zip(dtree.heads, dtree.events, strict=True))) == len(dtree.heads)


def is_binary(ctree: CTree) -> bool:
    return all(len(kids) == 2 for kids in ctree.children)


@given(UNARYLESS)
def test_proposition_1_binary_means_strictly_ordered(ctree: CTree) -> None:
    assert is_binary(ctree) == is_strict(to_dependencies(ctree))


@given(strategies.ctrees(unaries=False, binary=True))
def test_proposition_1_from_binary_trees(ctree: CTree) -> None:
    assert is_strict(to_dependencies(ctree))
    assert len(ctree.labels) == len(ctree.tokens) - 1


@given(ordered_dtrees(strict=True))
def test_proposition_1_from_strictly_ordered_trees(dtree: DTree) -> None:
    assert is_binary(to_constituents(dtree))


@given(UNARYLESS)
def test_proposition_2_from_unaryless_trees(ctree: CTree) -> None:
    dtree = to_dependencies(ctree)
    assert to_constituents(dtree, ctree.top) == ctree
    assert to_dependencies(to_constituents(dtree)) == dtree == event_ranks(dtree)


@given(ordered_dtrees())
def test_proposition_2_from_weakly_ordered_trees(dtree: DTree) -> None:
    ctree = to_constituents(dtree)
    assert to_dependencies(ctree) == event_ranks(dtree)
    assert to_constituents(event_ranks(dtree)) == ctree
    assert ctree.is_unaryless()
    assert dtree.events is not None
    pairs = {pair for pair in zip(dtree.heads, dtree.events, strict=True) if pair[0]}
    assert len(ctree.labels) == len(pairs)  # one node for each event


@given(UNARYLESS)
def test_proposition_3_continuous_means_projective_and_nested(ctree: CTree) -> None:
    dtree = to_dependencies(ctree)
    assert ctree.is_continuous() == (dtree.is_projective() and dtree.is_nested())
    contiguous = all(span[-1] - span[0] + 1 == len(span) for span in ctree.yields())
    assert ctree.is_continuous() == contiguous


@given(ordered_dtrees())
def test_proposition_3_projective_and_nested_means_continuous(dtree: DTree) -> None:
    assert to_constituents(dtree).is_continuous() == (dtree.is_projective() and dtree.is_nested())


@given(strategies.ctrees(gaps=False, unaries=False))
def test_proposition_3_from_continuous_trees(ctree: CTree) -> None:
    dtree = to_dependencies(ctree)
    assert dtree.is_tree() and dtree.is_projective() and dtree.is_nested()


@given(shapes.ctrees())
def test_unary_nodes_use_up_no_event(ctree: CTree) -> None:
    stripped, chains = strip_unaries(ctree)
    assert stripped.is_unaryless()
    assert to_dependencies(ctree) == to_dependencies(stripped)
    assert restore_unaries(stripped, chains) == ctree
    assert sum(map(len, chains)) == sum(len(kids) == 1 for kids in ctree.children)


@given(shapes.ctrees())
def test_numbering_means_nothing(ctree: CTree) -> None:
    again = canonical(ctree)
    assert again == ctree and hash(again) == hash(ctree) and again.labels[-1:] == ctree.labels[-1:]
    for node, kids in enumerate(again.children, len(again.tokens)):
        assert all(kid < node for kid in kids)


def test_every_head_sequence_is_repaired_into_a_tree() -> None:
    for n in (1, 2, 3, 4):
        for heads in itertools.product(range(-1, n + 2), repeat=n):
            fixed, _ = repair_heads(heads)
            assert is_tree(fixed), heads
            if is_tree(heads):
                assert fixed == list(heads)


def test_head_repairs_are_counted() -> None:
    assert repair_heads([0, 0, 1]) == ([0, 1, 1], Counter({EXTRA_ROOT: 1}))
    assert repair_heads([2, 1, 0]) == ([3, 1, 0], Counter({CYCLE: 1}))
    assert repair_heads([7, 0, 3]) == ([2, 0, 2], Counter({HEAD_OUTSIDE: 2}))
    assert repair_heads([2, 1]) == ([0, 1], Counter({CYCLE: 1}))


def test_projectivization_lifts_least() -> None:
    for heads in itertools.product(range(6), repeat=5):
        if not is_tree(heads):
            continue
        costs = sorted(
            (cost, tree) for tree, cost in liftings(heads) if is_tree(tree) and is_projective(tree)
        )
        assert tuple(projectivize(heads)) == costs[0][1]
        assert len(costs) == 1 or costs[0][0] < costs[1][0]


def liftings(heads: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """Every choice of an ancestor for every token, with the steps that it is away."""
    ancestors = []
    for h in heads:
        mine = [h]
        while h and heads[h - 1]:
            h = heads[h - 1]
            mine.append(h)
        ancestors.append(list(enumerate(mine)))
    return [
        (tuple(head for _, head in choice), sum(steps for steps, _ in choice))
        for choice in itertools.product(*ancestors)
    ]


def test_trees_may_be_very_deep() -> None:
    n = 20_000
    rng = random.Random(1)
    heads = (0, *range(1, n))
    dtree = DTree(tokens_of(n), heads, ("", *("X" for _ in heads[1:])), (0, *(1 for _ in heads[1:])))
    ctree = to_constituents(dtree)
    assert to_dependencies(ctree) == dtree and ctree == canonical(ctree)
    chains = [("A", "B") if rng.random() < 0.5 else () for _ in range(ctree.root + 1)]
    back, again = strip_unaries(restore_unaries(ctree, chains))
    assert back == ctree and again == chains
