"""Algorithms 1 and 2 on trees converted by hand; their properties are in test_propositions.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from d2c.trees.conversion import to_constituents, to_dependencies, to_labelled_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from tests.strategies import words

PUBLIC = Tokens(("The", "public", "is", "still", "cautious", "."), ("DT", "NN", "VBZ", "RB", "JJ", "."))
PUBLIC_HEADS = DTree(PUBLIC, (2, 3, 0, 3, 3, 3), ("NP", "S", "", "VP", "VP", "S"), (1, 2, 0, 1, 1, 2))

# "It came nothing interesting": the NP "Es ... nichts Interessantes" has a gap.
NOTHING = Tokens(("Es", "kam", "nichts", "Interessantes", "."), ("PPER", "VVFIN", "PIS", "NN", "$."))
NOTHING_TREE = CTree(
    NOTHING, ("NP", "NP", "S", "VROOT"), ((2, 3), (0, 5), (6, 1), (7, 4)), head_children=(2, 5, 1, 7)
)
NOTHING_HEADS = DTree(NOTHING, (3, 0, 2, 3, 2), ("NP", "", "S", "NP", "VROOT"), (2, 0, 1, 1, 2))


def test_a_continuous_tree_by_hand() -> None:
    tree = parse_bracket(
        "(S (NP (DT The) (NN public)) (VP (VBZ is) (ADVP (RB still)) (ADJP (JJ cautious))) (. .))"
    )
    headed = load_head_rules("collins").apply(tree)
    assert to_dependencies(headed) == PUBLIC_HEADS
    labels = ("NP", "S", "root", "VP", "VP", "S")
    assert to_labelled_dependencies(headed) == replace(PUBLIC_HEADS, labels=labels)
    assert PUBLIC_HEADS.is_projective() and PUBLIC_HEADS.is_nested()
    flat = CTree(PUBLIC, ("NP", "VP", "S"), ((0, 1), (2, 3, 4), (6, 7, 5)), head_children=(1, 2, 7))
    assert to_constituents(PUBLIC_HEADS) == flat


def test_a_tree_with_a_gap_by_hand() -> None:
    assert to_dependencies(NOTHING_TREE) == NOTHING_HEADS
    assert to_constituents(NOTHING_HEADS) == NOTHING_TREE
    assert not NOTHING_HEADS.is_projective()


def test_a_projective_tree_that_is_not_nested() -> None:
    # The farther modifier comes first: node A has a gap.
    dtree = DTree(words(3), (0, 1, 1), ("", "B", "A"), (0, 2, 1))
    tree = CTree(words(3), ("A", "B"), ((0, 2), (3, 1)), head_children=(0, 3))
    assert (to_constituents(dtree), to_dependencies(tree)) == (tree, dtree)
    assert dtree.is_projective() and not dtree.is_nested() and not tree.is_continuous()


def test_a_nested_tree_that_is_not_projective() -> None:
    # The arc from 1 to 3 crosses the root's: node A has a gap.
    dtree = DTree(words(3), (2, 0, 1), ("B", "", "A"), (1, 0, 1))
    tree = CTree(words(3), ("A", "B"), ((0, 2), (3, 1)), head_children=(0, 1))
    assert (to_constituents(dtree), to_dependencies(tree)) == (tree, dtree)
    assert dtree.is_nested() and not dtree.is_projective() and not tree.is_continuous()


def test_three_structures_of_one_plain_tree() -> None:
    # Figure 2: "really needs caution" as a flat, a left- and a right-branching VP.
    heads = (2, 0, 2)
    yields = {}
    for events in ((1, 0, 1), (1, 0, 2), (2, 0, 1)):
        tree = to_constituents(DTree(words(3), heads, ("VP", "", "VP"), events))
        yields[events] = tree.yields()[3:]
    assert yields == {
        (1, 0, 1): [(0, 1, 2)],
        (1, 0, 2): [(0, 1), (0, 1, 2)],
        (2, 0, 1): [(1, 2), (0, 1, 2)],
    }


def test_one_token() -> None:
    tree = CTree(words(1), (), (), ())
    dtree = DTree(words(1), (0,), ("",), (0,))
    assert (to_dependencies(tree), to_constituents(dtree)) == (dtree, tree)
    assert to_constituents(dtree, "TOP") == replace(tree, top="TOP")
    assert to_dependencies(CTree(words(1), ("NP", "S"), ((0,), (1,)), (0, 1))) == dtree


@pytest.mark.parametrize(
    ("heads", "symbols", "events", "message"),
    [
        ((2, 1), ("A", "A"), (1, 1), "these heads form no tree"),
        ((0, 0), ("", ""), (0, 0), "these heads form no tree"),
        ((0, 7), ("", "A"), (0, 1), "these heads form no tree"),
        ((0, -1), ("", "A"), (0, 1), "these heads form no tree"),
        ((0, 1), ("", "A"), (0, 0), "token 2 has no event, or another symbol than its event"),
        ((0, 1), ("", "A"), (0, -3), "token 2 has the event -3"),
        ((0, 1, 1), ("", "A", "B"), (0, 1, 1), "token 3 has no event, or another symbol than its event"),
        ((0, 1), None, (0, 1), "this d-tree has no symbols and event indices"),
        ((0, 1), ("", "A"), None, "this d-tree has no symbols and event indices"),
    ],
)
def test_what_is_no_ordered_tree(
    heads: tuple[int, ...], symbols: tuple[str, ...] | None, events: tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(ValueError) as error:
        to_constituents(DTree(words(len(heads)), heads, symbols, events))
    assert str(error.value) == message


def test_head_children_are_needed() -> None:
    with pytest.raises(ValueError) as error:
        to_dependencies(CTree(words(2), ("A",), ((0, 1),)))
    assert str(error.value) == "this c-tree has no head children; apply head rules first"


@pytest.mark.parametrize("rules", ["leftmost", "rightmost"])
def test_depth_is_no_limit(rules: str) -> None:
    n = 20_000
    children = ((n - 2, n - 1), *((n - 3 - k, n + k) for k in range(n - 2)))
    tree = load_head_rules(rules).apply(CTree(words(n), ("X",) * (n - 1), children))
    dtree = to_dependencies(tree)
    if rules == "leftmost":  # each token hangs from the one before it
        assert dtree.heads == tuple(range(n)) and set(dtree.events or ()) == {0, 1}
    else:  # all hang from the last, the nearest first
        assert dtree.heads == (*[n] * (n - 1), 0) and dtree.events == tuple(range(n - 1, -1, -1))
    assert dtree.is_tree() and dtree.is_projective() and dtree.is_nested()
    assert to_constituents(dtree) == tree


def test_a_dtree_of_lists() -> None:
    words, tags, heads = ["They", "slept"], ["PRP", "VBD"], [2, 0]
    tokens = Tokens(tuple(words), tuple(tags))
    assert DTree.of(words, tags, heads) == DTree(tokens, (2, 0))
    assert DTree.of(words, tags, heads, ["nsubj", "root"]) == DTree(tokens, (2, 0), labels=("nsubj", "root"))
    for wrong in (
        ([], tags, heads),
        (words, tags, [0]),
        (words, ["PRP"], heads),
        (words, tags, heads, ["x"]),
    ):
        with pytest.raises(ValueError, match="^words, tags, heads and labels are equally many$"):
            DTree.of(*wrong)


def test_whether_heads_that_form_no_tree_are_nested_is_not_asked() -> None:
    with pytest.raises(ValueError, match="^these heads form no tree$"):
        DTree(words(2), (0, 9), ("", "X"), (0, 1)).is_nested()
