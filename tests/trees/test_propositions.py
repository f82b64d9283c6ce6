"""Propositions 1-3 of "Parsing as Reduction" as properties, and the inverse pairs of the tree algebra."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace

from hypothesis import given

from d2c.trees.conversion import to_constituents, to_dependencies
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree, is_projective, is_tree
from d2c.trees.repair import CYCLE, EXTRA_ROOT, HEAD_OUTSIDE, projectivize, repair_heads
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.shapes import ctrees, tokens_of


def ranks(dtree: DTree) -> DTree:
    """The same tree with each head's events numbered 1, 2, ... without gaps."""
    assert dtree.events is not None
    events = list(dtree.events)
    for h in range(1, len(dtree.heads) + 1):
        mine = [m for m, head in enumerate(dtree.heads) if head == h]
        places = sorted({dtree.events[m] for m in mine})
        for m in mine:
            events[m] = places.index(dtree.events[m]) + 1
    return replace(dtree, events=tuple(events))


@given(ctrees(unaries=False))
def test_unaryless_trees_are_isomorphic_to_head_ordered_trees(ctree: CTree) -> None:
    dtree = to_dependencies(ctree)
    assert to_constituents(dtree, ctree.top) == ctree
    assert to_dependencies(to_constituents(dtree)) == dtree == ranks(dtree)


@given(ctrees(unaries=False))
def test_continuous_means_projective_and_nested(ctree: CTree) -> None:
    dtree = to_dependencies(ctree)
    assert ctree.is_continuous() == (dtree.is_projective() and dtree.is_nested())
    contiguous = all(span[-1] - span[0] + 1 == len(span) for span in ctree.yields())
    assert ctree.is_continuous() == contiguous


@given(ctrees())
def test_unary_nodes_use_up_no_event(ctree: CTree) -> None:
    stripped, chains = strip_unaries(ctree)
    assert stripped.is_unaryless()
    assert to_dependencies(ctree) == to_dependencies(stripped)
    assert restore_unaries(stripped, chains) == ctree
    assert sum(map(len, chains)) == sum(len(kids) == 1 for kids in ctree.children)


@given(ctrees())
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
