"""Classes of trees and stacks are congruences that tell what features tell; `erase` is as in the paper."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.theory.automaton import (
    Attribute,
    Corner,
    Feature,
    First,
    Last,
    Path,
    StackClasses,
    TreeClasses,
)
from papers.theory.grammars import LEFT, RIGHT, arc_standard, heads_of
from papers.theory.latent import parse_trees
from tests.scripts.papers.theory.attributes import Dependents, Length, Outermost, Unaries
from tests.scripts.papers.theory.erase import Stack, Tree, erase, erase_stack, keep_stack, prefixes
from tests.scripts.papers.theory.terms import (
    child,
    class_of,
    class_of_stack,
    features,
    followed,
    paths,
    shown,
    stacks,
    symbols,
    trees,
    value,
)

Context = list[tuple[str, list[Tree], int]]
contexts = st.lists(st.tuples(symbols, st.lists(trees, max_size=2), st.integers(0, 2)), max_size=2)


def leaf(symbol: str) -> Tree:
    return Tree(symbol, (Tree(symbol.lower()),))


def within(tree: Tree, context: Context) -> Tree:
    """C[t]"""
    for symbol, sisters, place in context:
        tree = Tree(symbol, (*sisters[:place], tree, *sisters[place:]))
    return tree


@settings(deadline=None, max_examples=60)
@given(features, st.lists(trees, min_size=2, max_size=8), contexts)
def test_trees_of_one_class_stay_so_in_every_context(
    asked: list[Feature], some: list[Tree], context: Context
) -> None:
    classes = TreeClasses([feature.attribute for feature in asked])
    first: dict[int, Tree] = {}
    for tree in some:
        one = first.setdefault(class_of(classes, tree), tree)
        both = within(one, context), within(tree, context)
        assert len({class_of(classes, whole) for whole in both}) == 1
        for function in prefixes(asked):
            assert len({followed(function, whole) for whole in both}) == 1
            assert shown(classes.values[class_of(classes, tree)][function]) == followed(function, tree)


@settings(deadline=None, max_examples=60)
@given(features, st.lists(stacks, min_size=2, max_size=8), stacks)
def test_stacks_of_one_class_stay_so_under_every_push(
    asked: list[Feature], some: list[Stack], pushed: Stack
) -> None:
    classes = StackClasses(asked)
    first: dict[int, Stack] = {}
    kept: dict[object, Stack] = {}
    for stack in some:
        one = first.setdefault(class_of_stack(classes, stack), stack) + pushed
        assert class_of_stack(classes, one) == class_of_stack(classes, stack + pushed)
        other = kept.setdefault(keep_stack(asked, stack), stack) + pushed
        assert keep_stack(asked, other) == keep_stack(asked, stack + pushed)
        for feature in asked:
            assert value(feature, one) == value(feature, other) == value(feature, stack + pushed)
            assert shown(classes.read(class_of_stack(classes, one), feature)) == value(feature, one)


@settings(deadline=None, max_examples=60)
@given(features, st.lists(trees, min_size=2, max_size=8), contexts)
def test_erased_trees_are_a_congruence_that_tells_more_apart(
    asked: list[Feature], some: list[Tree], context: Context
) -> None:
    functions = prefixes(asked)
    classes = TreeClasses(functions)
    first: dict[Tree | None, Tree] = {}
    for tree in some:
        one = first.setdefault(erase(functions, tree), tree)
        assert class_of(classes, one) == class_of(classes, tree)
        assert erase(functions, within(one, context)) == erase(functions, within(tree, context))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2), st.integers(0, 2), paths, st.lists(stacks, min_size=2, max_size=8), trees)
def test_printed_erasure_of_stacks_is_a_congruence_where_indices_have_no_gap(
    bottom: int, top: int, path: Path, some: list[Stack], pushed: Tree
) -> None:
    asked = [Feature(i, path) for i in (*range(1, bottom + 1), *range(-top, 0))]
    first: dict[object, Stack] = {}
    for stack in some:
        one = first.setdefault(erase_stack(asked, stack), stack)
        assert erase_stack(asked, (*one, pushed)) == erase_stack(asked, (*stack, pushed))


def test_the_papers_example_is_erased_as_printed() -> None:
    asked = [Feature(-1, Path((2, 3)))]
    assert prefixes(asked) == {Path(), Path((3,)), Path((2, 3))}
    inner = Tree("B2", (leaf("C1"), leaf("C2"), leaf("C3")))
    tree = Tree("A", (leaf("B1"), inner, leaf("B3")))
    assert str(tree) == "A(B1(b1) B2(C1(c1) C2(c2) C3(c3)) B3(b3))"
    assert str(erase(prefixes(asked), tree)) == "A(⊥ B2(⊥ ⊥ C3()) B3())"


def test_printed_erasure_of_stacks_is_no_congruence_where_indices_have_a_gap() -> None:
    asked, tree = [Feature(2, Path())], leaf("A")
    assert erase_stack(asked, ()) == erase_stack(asked, (tree,)) == ()
    assert erase_stack(asked, (tree,)) != erase_stack(asked, (tree, tree))
    assert value(asked[0], (tree,)) is None and value(asked[0], (tree, tree)) == "A"
    assert keep_stack(asked, ()) != keep_stack(asked, (tree,))


def test_erasing_the_erased_is_not_erasing() -> None:
    functions = prefixes([Feature(-1, Path((1, 2))), Feature(-1, Path((-1,)))])
    inner = Tree("B", (leaf("C"),))
    erased = Tree("A", (erase(functions, inner),))
    assert str(erase(functions, Tree("A", (inner,)))) == "A(B() B())"
    assert str(erased) == "A(B(C() C()))"
    assert str(erase(functions, erased)) == "A(B(⊥ C()) B())"


def yield_of(tree: Tree | None) -> str:
    assert tree
    return "".join(map(yield_of, tree.children)) or tree.symbol


def corner(tree: Tree, index: int) -> str:
    below = child(index, tree.children)
    assert below
    return corner(below, index) if below.children else tree.symbol


def unaries(tree: Tree) -> int:
    below = child(1, tree.children)
    return 1 + unaries(below) if len(tree.children) == 1 and below and below.children else 0


@settings(deadline=None, max_examples=60)
@given(trees, st.integers(1, 3))
def test_other_attributes_are_what_they_say(tree: Tree, k: int) -> None:
    expected: dict[Attribute, object] = {
        First(k): tuple(yield_of(tree)[:k]),
        Last(k): tuple(yield_of(tree)[-k:]),
        Corner(1): corner(tree, 1),
        Corner(-1): corner(tree, -1),
        Length(k): min(k, len(yield_of(tree))),
        Unaries(k): min(k, unaries(tree)),
    }
    classes = TreeClasses(expected)
    found = classes.values[class_of(classes, tree)]
    assert {attribute: str(found[attribute]) for attribute in expected} == {
        attribute: str(right) for attribute, right in expected.items()
    }


def test_dependents_of_the_head_word() -> None:
    attributes = [Dependents(LEFT, 2), Dependents(RIGHT, 2), Outermost(LEFT), Outermost(RIGHT)]
    classes = TreeClasses(attributes)
    for steps in parse_trees(arc_standard("a"), 5):
        stack: list[int] = []
        for rule in steps:
            k = len(rule.children)
            below = tuple(stack[len(stack) - k :])
            del stack[len(stack) - k :]
            stack.append(classes.build(rule.left, below) if k else classes.leaf(rule.left, "a"))
        heads = heads_of(steps)
        root = heads.index(0) + 1
        left, right = heads[: root - 1].count(root), heads[root:].count(root)
        found = classes.values[stack[-1]]
        assert [found[attribute] for attribute in attributes[:2]] == [min(2, left), min(2, right)]
        assert [found[attribute] is None for attribute in attributes[2:]] == [not left, not right]


def test_a_feature_that_was_not_asked_for_is_refused() -> None:
    classes = StackClasses([Feature(-2, Path())])
    assert classes.read(classes.empty, Feature(-1, Path())) is None
    for feature in (Feature(-3, Path()), Feature(1, Path()), Feature(-1, Path((1,)))):
        with pytest.raises(ValueError, match="do not keep"):
            classes.read(classes.empty, feature)
