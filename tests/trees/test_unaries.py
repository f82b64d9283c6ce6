"""Unary chains: what stands above which node, and that stripping and restoring undo each other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.strategies import ctrees, words


def test_chains_by_hand() -> None:
    tree = parse_bracket("(TOP (S (VP (S (NP (NN a)) (ADJP (X (JJ b)))))))")
    stripped, chains = strip_unaries(tree)
    assert format_bracket(stripped) == "(TOP (S (NN a) (JJ b)))"
    assert chains == [("NP",), ("ADJP", "X"), ("S", "VP")]
    assert restore_unaries(stripped, chains) == tree


def test_one_token() -> None:
    tree = CTree(words(1), ("NP", "S"), ((0,), (1,)), (0, 1), "TOP")
    stripped, chains = strip_unaries(tree)
    assert (stripped, chains) == (CTree(words(1), (), (), (), "TOP"), [("S", "NP")])
    assert restore_unaries(stripped, chains) == tree
    assert strip_unaries(stripped) == (stripped, [()])


def test_head_children_follow() -> None:
    tree = load_head_rules("rightmost").apply(parse_bracket("(S (NP (NN a)) (VP (V b)))"))
    stripped, chains = strip_unaries(tree)
    assert (stripped.children, stripped.head_children) == (((0, 1),), (1,))
    assert restore_unaries(stripped, chains).head_children == tree.head_children


@given(ctrees())
def test_strip_then_restore(tree: CTree) -> None:
    stripped, chains = strip_unaries(tree)
    assert stripped.is_unaryless()
    assert len(chains) == stripped.root + 1
    assert len(stripped.labels) + sum(map(len, chains)) == len(tree.labels)
    assert restore_unaries(stripped, chains) == tree
    headless = replace(tree, head_children=None)
    assert restore_unaries(*strip_unaries(headless)) == headless


@given(ctrees(unaries=False), st.data())
def test_restore_then_strip(tree: CTree, data: st.DataObject) -> None:
    size = tree.root + 1
    chain = st.lists(st.sampled_from(("S", "NP", "X")), max_size=3).map(tuple)
    chains = data.draw(st.lists(chain, min_size=size, max_size=size))
    stripped, found = strip_unaries(restore_unaries(tree, chains))
    assert stripped == tree
    spans = dict(zip(tree.yields(), chains, strict=True))
    assert dict(zip(stripped.yields(), found, strict=True)) == spans


def test_depth_is_no_limit() -> None:
    n = 20_000
    labels = tuple(f"X{i % 7}" for i in range(n))
    tree = CTree(words(1), labels, tuple((k,) for k in range(n)), tuple(range(n)))
    stripped, chains = strip_unaries(tree)
    assert chains == [labels[::-1]]
    assert restore_unaries(stripped, chains) == tree
