"""C-trees: numbering, equality, yields, lexical heads, and the errors of what forms no tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given

from d2c.trees.ctree import CTree, Tokens, build_ctree, canonical
from tests.strategies import ctrees, words

# (S (NP w0 w2) (VP w1)): the NP has a gap.
GAP = CTree(words(3), ("NP", "VP", "S"), ((0, 2), (1,), (3, 4)), (2, 1, 4))


def test_a_tree_with_a_gap() -> None:
    assert GAP.root == 5
    assert GAP.parents() == [3, 4, 3, 5, 5, -1]
    assert GAP.yields() == [(0,), (1,), (2,), (0, 2), (1,), (0, 1, 2)]
    assert GAP.lexical_heads() == [0, 1, 2, 2, 1, 1]
    assert [GAP.label(node) for node in range(6)] == ["DT", "NN", ".", "NP", "VP", "S"]
    assert not GAP.is_continuous()
    assert not GAP.is_unaryless()


def test_one_bare_token() -> None:
    tree = CTree(words(1), (), (), ())
    assert (tree.root, tree.parents(), tree.yields()) == (0, [-1], [(0,)])
    assert tree.is_continuous() and tree.is_unaryless() and canonical(tree) == tree


def test_nodes_in_any_order_are_sorted_and_numbered() -> None:
    # The root comes first, its children are in the wrong order, and one node is not below the root.
    labels, children = ["S", "VP", "NP", "X"], [[4, 5], [1], [2, 0], [3]]
    tree = build_ctree(words(3), labels, children, 3, [4, 1, 2, 3])
    assert tree == GAP
    assert (tree.labels, tree.children, tree.head_children) == (GAP.labels, GAP.children, GAP.head_children)


def test_equality_sees_everything_but_the_numbering() -> None:
    other = CTree(words(3), ("VP", "NP", "S"), ((1,), (0, 2), (4, 3)), (1, 2, 3))
    assert other == GAP and hash(other) == hash(GAP) and len({other, GAP}) == 1
    assert replace(GAP, top="TOP") != GAP
    assert replace(GAP, head_children=None) != GAP
    assert replace(GAP, head_children=(0, 1, 4)) != GAP
    assert replace(GAP, labels=("NP", "VP", "SQ")) != GAP
    assert replace(GAP, tokens=Tokens(("w0", "w1", "x"), GAP.tokens.tags)) != GAP
    assert GAP != "GAP"


@pytest.mark.parametrize(
    ("children", "root", "message"),
    [
        ([[0, 1]], 3, "the nodes do not form a tree over exactly the given tokens"),
        ([[0, 1, 2], []], 3, None),
        ([[0, 1, 2, 4], []], 3, "node 'B' has no children"),
        ([[0, 1, 2, 2]], 3, "node 2 is reached twice"),
        ([[0, 1, 2, 4], [3]], 3, "node 3 is reached twice"),
        ([[0, 1, -2]], 3, "node -2 does not exist"),
        ([[0, 1, 2]], -1, "node -1 does not exist"),
    ],
)
def test_what_forms_no_tree(children: Sequence[Sequence[int]], root: int, message: str | None) -> None:
    labels = "AB"[: len(children)]
    if message is None:
        assert build_ctree(words(3), labels, children, root).labels == ("A",)
        return
    with pytest.raises(ValueError) as error:
        build_ctree(words(3), labels, children, root)
    assert str(error.value) == message


def test_a_child_below_zero_is_none() -> None:
    with pytest.raises(ValueError, match="^a node has a child below 0$"):
        CTree(words(2), ("S",), ((0, -2),))


def test_lexical_heads_need_head_children() -> None:
    with pytest.raises(ValueError) as error:
        replace(GAP, head_children=None).lexical_heads()
    assert str(error.value) == "this c-tree has no head children; apply head rules first"


@given(ctrees())
def test_the_drawn_trees_are_trees(tree: CTree) -> None:
    n = len(tree.tokens)
    assert tree.yields()[tree.root] == tuple(range(n))
    assert sorted(kid for kids in tree.children for kid in kids) == list(range(tree.root))
    for node, kids in enumerate(tree.children, n):
        assert max(kids) < node
        firsts = [tree.yields()[kid][0] for kid in kids]
        assert firsts == sorted(firsts)
        assert tree.head_children is not None and tree.head_children[node - n] in kids


@given(ctrees())
def test_continuous_by_definition(tree: CTree) -> None:
    assert tree.is_continuous() == all(y == tuple(range(y[0], y[-1] + 1)) for y in tree.yields())


@given(ctrees(gaps=False, unaries=False))
def test_the_options_of_the_strategy_hold(tree: CTree) -> None:
    assert tree.is_continuous() and tree.is_unaryless()


def test_depth_is_no_limit() -> None:
    n = 20_000
    children = [[0, 1], *([n + k, k + 2] for k in range(n - 2))]
    tree = build_ctree(words(n), ["X"] * (n - 1), children, 2 * n - 2, [kids[0] for kids in children])
    assert tree == canonical(tree) and hash(tree) == hash(canonical(tree))
    assert set(tree.lexical_heads()[n:]) == {0}
    assert tree.is_continuous() and tree.is_unaryless()


@given(ctrees())
def test_blocks_are_the_runs_of_yields(tree: CTree) -> None:
    for blocks, below in zip(tree.blocks(), tree.yields(), strict=True):
        assert tuple(token for begin, end in blocks for token in range(begin, end)) == below
        assert all(end < begin for (_, end), (begin, _) in zip(blocks, blocks[1:], strict=False))
