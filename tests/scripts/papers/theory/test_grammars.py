"""Grammars of transition systems: their parse trees by the number, and the d-trees that these stand for."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, prod

import pytest

from d2c.trees.dtree import is_projective, is_tree
from papers.theory.grammars import (
    CFG,
    START,
    Rule,
    Symbol,
    arc_eager,
    arc_standard,
    brackets,
    cfg,
    heads_of,
    terminals_of,
)
from papers.theory.latent import parse_trees

SYSTEMS = {
    "arc-standard": (arc_standard("a"), [1, 2, 8, 40, 224]),
    "arc-eager": (arc_eager("a", late=False), [1, 2, 7, 30, 143]),
    "arc-eager, unrestricted": (arc_eager("a", restricted=False), [1, 2, 9, 52, 340]),
}
SANDY = ("Sandy", "served", "Pat", "tea")


def projective(n: int) -> set[tuple[int, ...]]:
    """All projective d-trees of n tokens with one root."""
    return {
        heads
        for heads in product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and is_tree(heads) and is_projective(heads)
    }


def by_dtree(grammar: CFG, length: int) -> list[Counter[tuple[int, ...]]]:
    """How often each d-tree is that of a parse tree, for 1, 2, … tokens."""
    found: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(length)]
    for steps in parse_trees(grammar, length):
        heads = heads_of(steps)
        found[len(heads) - 1][heads] += 1
    return found


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_projective_dtree_has_a_parse_tree_and_so_many_are_there(name: str) -> None:
    grammar, counts = SYSTEMS[name]
    found = by_dtree(grammar, 5)
    assert [sum(trees.values()) for trees in found] == counts
    assert [len(trees) for trees in found] == [1, 2, 7, 30, 143]
    for n, trees in enumerate(found, 1):
        assert trees.keys() == projective(n)


def test_spurious_ambiguity_of_arc_standard_is_how_left_and_right_arcs_of_a_word_mix() -> None:
    for trees in by_dtree(arc_standard("a"), 5):
        for heads, count in trees.items():
            words = range(1, len(heads) + 1)
            sides = [(heads[: word - 1].count(word), heads[word:].count(word)) for word in words]
            assert count == prod(comb(left + right, left) for left, right in sides)


def test_figure_1_has_three_parse_trees() -> None:
    grammar = arc_standard(SANDY)
    trees = {
        brackets(steps)
        for steps in parse_trees(grammar, 4)
        if terminals_of(steps) == SANDY and heads_of(steps) == (2, 0, 2, 2)
    }
    sandy, served, pat, tea = (f"A_{word}({word})" for word in SANDY)
    assert trees == {
        f"S(A_served({sandy} A_served(A_served({served} {pat}) {tea})))",
        f"S(A_served(A_served({sandy} A_served({served} {pat})) {tea}))",
        f"S(A_served(A_served(A_served({sandy} {served}) {pat}) {tea}))",
    }


def test_the_head_of_equal_words_is_told_by_the_kind() -> None:
    trees = parse_trees(arc_standard("a"), 2)
    assert {brackets(steps, kinds=True): heads_of(steps) for steps in trees} == {
        "S(A_a/x(a))": (0,),
        "S(A_a/l(A_a/x(a) A_a/x(a)))": (2, 0),
        "S(A_a/r(A_a/x(a) A_a/x(a)))": (0, 1),
    }


def test_bars_are_hidden_and_late_bars_are_for_the_end_only() -> None:
    early, barred = (arc_eager("ab", late=late) for late in (False, True))
    late = set(barred.rules) - set(early.rules)
    assert sorted(map(str, late)) == ["Ā_a/r → A_a/r", "Ā_b/r → A_b/r"]
    assert {rule for rule, where in barred.where.items() if where.end and rule.left != START} == late
    right = [steps for steps in parse_trees(early, 2) if heads_of(steps) == (0, 1)]
    assert brackets(right[0]) == "S(A_a(A_a(a) A_a(a)))"
    assert brackets(right[0], kinds=True) == "S(A_a/r(A_a/x(a) Ā_a/x(A_a/x(a))))"


def test_unary_rules_in_a_circle_are_refused() -> None:
    b, c = Symbol("B"), Symbol("C")
    grammar = cfg("a", [Rule(START, (b,)), Rule(b, (c,)), Rule(c, (b,)), Rule(b, "a")])
    with pytest.raises(ValueError, match="circle"):
        list(parse_trees(grammar, 1))
