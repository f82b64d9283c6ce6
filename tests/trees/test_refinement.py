"""Refined c-trees stand for the trees that they were made of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.refinement import HIDDEN, REFINEMENTS, visible, with_subtrees
from d2c.trees.repair import projectivize
from d2c.trees.transforms import collapse
from tests.strategies import ctrees

TREE = parse_bracket("(TOP (S (VP (NP (NP (QP (DT a) (NN b)))) (VB c))))")


@pytest.mark.parametrize("name", REFINEMENTS)
@given(ctree=ctrees())
def test_restore_undoes_refine(name: str, ctree: CTree) -> None:
    refined = REFINEMENTS[name].refine(ctree)
    assert refined.tokens == ctree.tokens
    assert REFINEMENTS[name].restore(refined) == ctree


@given(ctree=ctrees())
def test_what_is_collapsed_has_unary_nodes_above_tokens_alone(ctree: CTree) -> None:
    refined = REFINEMENTS["collapsed"].refine(ctree)
    assert not any(len(kids) == 1 and kids[0] >= len(ctree.tokens) for kids in refined.children)
    assert {len(kids) for kids in refined.children} <= {len(kids) for kids in ctree.children}


def test_labels_of_refined_trees() -> None:
    def labels(name: str) -> list[str]:
        return [label.replace("\x1f", "^") for label in REFINEMENTS[name].refine(TREE).labels]

    assert labels("plain") == ["QP", "NP", "NP", "VP", "S"]
    assert labels("vertical") == ["QP^NP", "NP^NP", "NP^VP", "VP^S", "S^"]
    assert labels("collapsed") == ["NP^NP^QP", "S^VP"]


@pytest.mark.parametrize("name", REFINEMENTS)
@given(ctree=ctrees(), data=st.data())
def test_hidden_nodes_go(name: str, ctree: CTree, data: st.DataObject) -> None:
    """Whether the chart knows of them by their labels alone, or in refined ones."""
    size = len(ctree.labels)
    kept = [*data.draw(st.lists(st.booleans(), min_size=size, max_size=size))[:-1], *[True][:size]]
    shown = collapse(ctree, kept)
    marked = [label if keeps else HIDDEN + label for label, keeps in zip(ctree.labels, kept, strict=True)]
    hidden = replace(ctree, labels=tuple(marked))
    assert visible(hidden) == shown == REFINEMENTS[name].restore(REFINEMENTS[name].refine(hidden))
    n, yields = len(ctree.tokens), ctree.yields()
    brackets = [(label, yields[n + k]) for k, label in enumerate(ctree.labels) if kept[k]]
    assert sorted(brackets) == sorted(zip(shown.labels, shown.yields()[n:], strict=True))
    assert set(shown.lexical_heads()[n:]) <= set(ctree.lexical_heads()[n:])


def test_a_hidden_root_stays() -> None:
    tree = parse_bracket("(S (NP (A a) (B b)) (C c))")
    hidden = replace(tree, labels=(HIDDEN + "NP", HIDDEN + "S"))
    assert visible(hidden) == parse_bracket("(S (A a) (B b) (C c))")


@pytest.mark.parametrize(
    ("tree", "heads", "hidden"),
    [
        # `and cats` is a subtree in UD; `the dogs` is a constituent already
        (
            "(S (NP (NP (DT the) (NNS dogs)) (CC and) (NP (NNS cats))) (VP (VBP bark)))",
            (2, 5, 4, 2, 0),
            "(S (NP (NP (DT the) (NNS dogs)) (?NP (CC and) (NP (NNS cats)))) (VP (VBP bark)))",
        ),
        # one within the other, the larger one above
        ("(NP (A a) (B b) (C c) (D d))", (2, 3, 4, 0), "(NP (?NP (?NP (A a) (B b)) (C c)) (D d))"),
        # what crosses a constituent is left out
        ("(S (NP (A a) (B b)) (C c) (D d))", (0, 3, 1, 1), "(S (NP (A a) (B b)) (C c) (D d))"),
        # the whole of a constituent, or of a chain of them, is one
        ("(S (A a) (X (Y (B b) (C c))))", (0, 1, 2), "(S (A a) (X (Y (B b) (C c))))"),
        ("(A a)", (0,), "(A a)"),
    ],
)
def test_subtrees_that_are_no_constituents_are_hidden_ones(
    tree: str, heads: tuple[int, ...], hidden: str
) -> None:
    ctree = parse_bracket(tree)
    refined = with_subtrees(ctree, heads)
    assert format_bracket(refined).replace(HIDDEN, "?") == hidden
    assert visible(refined) == ctree


@given(ctree=ctrees(), data=st.data())
def test_hidden_subtrees_change_nothing_that_is_shown(ctree: CTree, data: st.DataObject) -> None:
    """Of the tree's own heads no subtree is without a node; of any others what is shown stays."""
    own = to_dependencies(ctree).heads
    if ctree.is_continuous():
        assert len(with_subtrees(ctree, own).labels) == len(ctree.labels)
    n = len(ctree.tokens)
    drawn = [0] + [data.draw(st.integers(1, m)) for m in range(1, n)]
    heads = projectivize(drawn)
    refined = with_subtrees(ctree, heads)
    assert replace(visible(refined), head_children=None) == replace(ctree, head_children=None)
    assert with_subtrees(refined, heads) == refined
