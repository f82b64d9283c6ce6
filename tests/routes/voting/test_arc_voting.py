"""Arcs voted on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.packed.arcs import ArcLabels, PackedDTree, arcs_of, packed_arcs, with_packed_arcs
from d2c.routes.voting.arc_voting import combine_arcs, learn_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree, is_tree
from tests.strategies import tree_heads, words


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.integers(-2, 7)] * 4), min_size=1, max_size=3))
def test_any_heads_become_a_tree(given_heads: list[tuple[int, ...]]) -> None:
    dtrees = [DTree(words(4), heads) for heads in given_heads]
    assert is_tree(combine_arcs(dtrees).heads) == any(max(heads) >= 0 for heads in given_heads)


def test_who_has_no_heads_does_not_vote() -> None:
    nothing = DTree(words(3), (-1, -1, -1))
    one, other = DTree(words(3), (2, 0, 2)), DTree(words(3), (2, 3, 0))
    assert combine_arcs([nothing, one, other]).heads == combine_arcs([None, one, other]).heads == one.heads
    assert combine_arcs([None, nothing]) is nothing


@given(tree_heads(max_tokens=7), st.data())
def test_a_majority_is_followed(heads: tuple[int, ...], data: st.DataObject) -> None:
    other = data.draw(tree_heads(len(heads), len(heads)))
    trees = [DTree(words(len(heads)), one) for one in (other, heads, heads)]
    assert combine_arcs(trees).heads == heads


def test_labels_are_those_of_the_chosen_arcs() -> None:
    tokens = words(3)
    given_trees = [
        DTree(tokens, (2, 0, 2), labels=("a", "root", "x")),
        DTree(tokens, (2, 0, 2), labels=("b", "root", "y")),
        DTree(tokens, (3, 0, 2), labels=("b", "root", "y")),
    ]
    voted = combine_arcs(given_trees)
    assert (voted.heads, voted.labels) == ((2, 0, 2), ("a", "root", "y"))
    bare = combine_arcs([*given_trees, DTree(tokens, (2, 0, 2))])
    assert bare.labels is None


def test_a_label_is_voted_on_as_it_is_probable() -> None:
    """Two are for y, one of them hardly; who says nothing of probabilities is sure of its own label."""
    tokens, own = words(2), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])

    def sure_of_x(share: float, label: str) -> DTree:
        labels = ArcLabels(("x", "y"), np.log(np.array([[share, 1 - share], [0.5, 0.5]], np.float32)))
        dtree = DTree(tokens, (2, 0), labels=(label, "x"))
        return with_packed_arcs(dtree, arcs_of(own, (2, 0))._replace(labels=labels))

    surely_x, hardly_y = sure_of_x(0.9, "x"), sure_of_x(0.4, "y")
    assert combine_arcs([hardly_y, surely_x, hardly_y]).labels == ("x", "x")
    assert combine_arcs([hardly_y, surely_x, DTree(tokens, (2, 0), labels=("y", "x"))]).labels == ("y", "x")
    assert combine_arcs([hardly_y, surely_x, DTree(tokens, (0, 1), labels=("z", "z"))]).labels == ("x", "x")


def test_what_is_said_of_labels_is_the_mean() -> None:
    tokens, own = words(2), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    shares = np.array([[0.9, 0.1], [0.5, 0.5]], np.float32)
    some = arcs_of(own, (2, 0))._replace(labels=ArcLabels(("x", "y"), np.log(shares)))
    other = arcs_of(own, (2, 0))._replace(labels=ArcLabels(("y",), np.zeros((2, 1), np.float32)))
    third = arcs_of(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (0, 1))
    pairs = [((2, 0), some), ((2, 0), other), ((0, 1), third)]
    dtrees = [with_packed_arcs(DTree(tokens, heads), arcs) for heads, arcs in pairs]
    arcs = packed_arcs(combine_arcs(dtrees))
    assert arcs is not None and arcs.labels is not None and arcs.labels.names == ("x", "y")
    assert arcs.heads.tolist() == [0, 2, 0, 1]
    expected = [[0.5, 0.5], [0.45, 0.55], [0.25, 0.75], [0.5, 0.5]]  # two arcs have nobody's labels
    assert np.exp(arcs.labels.logs) == pytest.approx(np.array(expected), abs=1e-5)
    bare = packed_arcs(combine_arcs(dtrees[2:]))
    assert bare is not None and bare.labels is None


def test_projective_trees_give_a_projective_one() -> None:
    """The best heads of the words are a tree with crossing arcs; no tree that votes has any."""
    trees = [DTree(words(4), heads) for heads in ((0, 4, 4, 1), (0, 4, 2, 1), (0, 3, 1, 1), (0, 1, 1, 1))]
    assert combine_arcs(trees).heads == (0, 4, 4, 1)
    crossing = [DTree(words(4), (0, 4, 1, 1))]
    assert combine_arcs(trees + crossing).heads == (0, 4, 1, 1)


def test_weights_know_who_is_right_about_which_tags() -> None:
    """The first parser is right about N, the second about V; alike, the first decides."""
    tokens = Tokens(("a", "b", "c"), ("D", "N", "V"))
    gold, first, second = (DTree(tokens, heads) for heads in ((2, 3, 0), (3, 3, 0), (2, 1, 0)))
    weights = learn_arcs([(gold, (first, second))] * 20)
    assert weights.kind == "arcs" and weights.parsers == 2
    assert combine_arcs((first, second)).heads == (3, 3, 0)
    assert combine_arcs((first, second), weights).heads == (2, 3, 0)


def test_packed_arcs_vote_as_they_are_probable() -> None:
    """Two hesitate between the heads of b, and agree on the rest; the second is surer."""
    tokens = words(3)
    first = np.array([[0, 0, 1, 0], [0.6, 0, 0, 0.4], [0, 0, 1, 0]])
    second = np.array([[0, 0, 1, 0], [0.1, 0, 0, 0.9], [0.2, 0, 0.8, 0]])
    given_trees = [
        PackedDTree(tokens, (2, 0, 2), arcs=arcs_of(first, (2, 0, 2))),
        PackedDTree(tokens, (2, 3, 0), arcs=arcs_of(second, (2, 3, 0))),
    ]
    voted = combine_arcs(given_trees)
    assert voted.heads == (2, 0, 2)  # 0.35 + 0.9 against 0.65 + 0.1
    assert isinstance(voted, PackedDTree)
    assert voted.arcs.heads.tolist() == [2, 0, 3, 0, 2]
    assert np.exp(voted.arcs.logs).round(4).tolist() == pytest.approx([1, 0.35, 0.65, 0.1, 0.9])
    assert packed_arcs(combine_arcs([given_trees[0], DTree(tokens, (2, 3, 0))])) is not None
    assert packed_arcs(combine_arcs([with_packed_arcs(dtree, None) for dtree in given_trees])) is None


def test_absent_d_trees_and_other_words() -> None:
    dtree = DTree(words(2), (2, 0), labels=("a", "root"))
    assert combine_arcs([None, dtree]) == dtree
    with pytest.raises(ValueError, match="same words"):
        combine_arcs([dtree, DTree(words(3), (2, 0, 2))])
