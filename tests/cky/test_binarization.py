"""Binarization relative to the head child (PAD section 3.3; draft section 3.4), and its reverse."""

from __future__ import annotations

import pytest
from hypothesis import given

from d2c.trees.binarization import BINARIZATIONS, GLUE, LEFT, RIGHT, UNARY, Step, Symbol, binarize, unbinarize
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.unaries import strip_unaries
from tests.strategies import ctrees, words


@pytest.mark.parametrize("scheme", BINARIZATIONS)
@given(ctree=ctrees(gaps=False))
def test_unbinarize_undoes_binarize(scheme: str, ctree: CTree) -> None:
    heads, derivation = binarize(ctree, BINARIZATIONS[scheme])
    assert derivation is not None
    assert unbinarize(ctree.tokens, heads, derivation, ctree.top) == ctree


@pytest.mark.parametrize("scheme", BINARIZATIONS)
@given(ctree=ctrees(gaps=True))
def test_trees_with_gaps_come_back_or_have_no_derivation(scheme: str, ctree: CTree) -> None:
    heads, derivation = binarize(ctree, BINARIZATIONS[scheme])
    dtree = to_dependencies(strip_unaries(ctree)[0])
    assert tuple(heads) == dtree.heads
    assert (derivation is not None) == dtree.is_nested()
    if derivation is not None:
        assert unbinarize(ctree.tokens, heads, derivation, ctree.top) == ctree


def test_schemes() -> None:
    left, right = ["B", "C"], ["D", "E"]
    simple = BINARIZATIONS["simple"]("A", left, right)
    assert [(step.kind, str(step.parent)) for step in simple] == [
        (RIGHT, "A[bar]"),
        (RIGHT, "A[bar]"),
        (LEFT, "A[bar]"),
        (LEFT, "A"),
    ]
    markovized = BINARIZATIONS["markovized"]("A", left, right)
    assert [(step.kind, str(step.parent)) for step in markovized] == [
        (RIGHT, "A[right D]"),
        (RIGHT, "A[right]"),
        (LEFT, "A[left B]"),
        (LEFT, "A"),
    ]
    assert [str(step.parent) for step in BINARIZATIONS["markovized"]("A", [], ["D"])] == ["A"]


def test_the_glue_rule_adds_children() -> None:
    """At a pre-terminal it makes a node, at a node it adds to it, and a unary step finishes what is open."""
    glue, bar = Symbol("X", GLUE), Symbol("S", "bar")
    tokens = words(4)
    steps = [[], [Step(LEFT, glue), Step(RIGHT, bar), Step(RIGHT, bar), Step(UNARY, Symbol("S"))], [], []]
    tree = unbinarize(tokens, [2, 0, 2, 2], steps)
    assert format_bracket(tree) == "(S (X (DT w0) (NN w1)) (. w2) (DT w3))"
    added = [[], [Step(LEFT, Symbol("X")), Step(RIGHT, glue), Step(RIGHT, glue)], [], []]
    assert format_bracket(unbinarize(tokens, [2, 0, 2, 2], added)) == "(X (DT w0) (NN w1) (. w2) (DT w3))"


def test_derivations_that_do_not_fit() -> None:
    step = Step(LEFT, Symbol("X"))
    with pytest.raises(ValueError, match="too many dependents to token 2"):
        unbinarize(words(2), [2, 0], [[], [step, step]])
    with pytest.raises(ValueError, match="token 2 ends too early"):
        unbinarize(words(2), [2, 0], [[], []])
