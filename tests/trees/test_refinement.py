"""Refined c-trees stand for the trees that they were made of."""

from __future__ import annotations

import pytest
from hypothesis import given

from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.refinement import REFINEMENTS
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
