"""Binarization relative to the head child (PAD section 3.3; draft section 3.4), and its reverse."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c import Tree
from d2c.trees.binarization import BINARIZATIONS, GLUE, LEFT, RIGHT, UNARY, Step, Symbol, binarize
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.unaries import strip_unaries
from papers.shift_reduce import unbinarize
from tests.strategies import beside, ctrees, graphs, words


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


@pytest.mark.parametrize("how", ["left", "right", "head"])
@given(ctree=graphs(), data=st.data())
def test_binarized_trees_come_back(
    how: Literal["left", "right", "head"], ctree: CTree, data: st.DataObject
) -> None:
    """With all that a tree has: heads, functions, secondary edges, confidences, offsets."""
    if data.draw(st.booleans()) and how != "head":
        ctree = replace(ctree, head_children=None)
    shares = [round(0.9 / (1 + k), 2) for k in range(len(ctree.labels))]
    tree = Tree(ctree, shares, [(2 * i, 2 * i + 1) for i in range(len(ctree.tokens))])
    binary = tree.binarized(how)
    assert max(map(len, binary.ctree.children), default=1) <= 2
    back = binary.unbinarized()
    assert beside(back.ctree) == beside(ctree) and back.offsets == binary.offsets == tree.offsets
    assert back.to_dict() == tree.to_dict()
    assert Tree.from_string(str(binary)) == binary
    whole = [span for span in binary.spans() if span.label[0] != "@"]
    assert [(one.label, one.tokens, one.confidence) for one in whole] == [
        (one.label, one.tokens, one.confidence) for one in tree.spans()
    ]
    if ctree.head_children is not None:
        assert [span.head for span in whole] == [span.head for span in tree.spans()]
    edges = {(binary.ctree.label(a), name, binary.ctree.label(b)) for a, name, b in binary.ctree.secondary}
    assert edges == {(ctree.label(a), name, ctree.label(b)) for a, name, b in ctree.secondary}


def test_binarized_trees() -> None:
    tree = Tree(load_head_rules("collins").apply(parse_bracket("(TOP (VP (RB a) (VB b) (NP c) (PP d)))")))
    assert str(tree.binarized("left")) == "(TOP (VP (@VP (@VP (RB a) (VB b)) (NP c)) (PP d)))"
    assert str(tree.binarized("right")) == "(TOP (VP (RB a) (@VP (VB b) (@VP (NP c) (PP d)))))"
    assert str(tree.binarized()) == "(TOP (VP (RB a) (@VP (@VP (VB b) (NP c)) (PP d))))"
    gaps = Tree.from_string("(S (VP (V 0=wake) (P 2=up) (X 4=x)) (N 1=me) (A 3=a))")
    assert gaps.binarized("left").unbinarized() == gaps
    with pytest.raises(ValueError, match=r"^this tree has no heads; d2c.Tree.with_heads finds"):
        gaps.binarized()
    with pytest.raises(ValueError, match="^'up' is none of left, right, head$"):
        gaps.binarized("up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^a label begins with @, which marks the parts of binarized nodes$"):
        tree.binarized().binarized()
    wide = Tree.from_string(f"(S {'(A a)' * 100_000})")
    assert len(wide.binarized("left").unbinarized()) == len(wide.binarized("right").unbinarized()) == 100_000
