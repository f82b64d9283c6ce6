"""What the routes of the reduction are given, and what becomes of them beside decoding."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket

ONE = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBZ eats) (NP (NN fish))) (. .)))")
TWO = parse_bracket("(TOP (S (NP (NN cat)) (VP (VBZ eats)) (. .)))")
GAPS = CTree(Tokens(tuple("abcd"), tuple("ABCD")), ("X", "Y", "S"), ((0, 2), (1, 3), (4, 5)))
ROUTES = [Reduction, TwoStage]


def test_each_c_tree_has_its_d_tree() -> None:
    dtrees = list(map(Reduction().encode, (ONE, TWO)))
    with pytest.raises(ValueError, match="2 c-trees, but 1 d-tree: sentence 2 lacks one"):
        TwoStage().fit([ONE, TWO], dtrees=dtrees[:1])
    with pytest.raises(ValueError, match="1 c-tree, but 2 d-trees: sentence 2 lacks one"):
        TwoStage().fit([ONE], dtrees=dtrees)
    with pytest.raises(ValueError, match="sentence 1 has a c-tree of 5 tokens, but a d-tree of 3"):
        TwoStage().fit([ONE, TWO], dtrees=dtrees[::-1])


@pytest.mark.parametrize("route", ROUTES)
def test_a_refit_route_forgets_the_gaps_of_the_first_treebank(route: type[Reduction]) -> None:
    fitted = route(head_rules="leftmost").fit([GAPS] * 3)
    assert fitted.gaps_ and not fitted.is_continuous
    assert not fitted.fit([ONE] * 3).gaps_ and fitted.is_continuous


@pytest.mark.parametrize("route", ROUTES)
def test_a_sentence_without_words_is_refused(route: type[Reduction]) -> None:
    fitted, empty = route().fit([ONE] * 3), DTree(Tokens((), ()), ())
    with pytest.raises(ValueError, match="a sentence without words has no c-tree"):
        fitted.decode(empty)
    with pytest.raises(ValueError, match="a sentence without words has no c-tree"):
        list(fitted.confidences_all([fitted.encode(ONE), empty]))


@pytest.mark.parametrize("route", ROUTES)
def test_routes_are_pickled_after_encode(route: type[Reduction]) -> None:
    fitted = route().fit([ONE, TWO] * 3)
    dtrees = [fitted.encode(ONE), fitted.encode(TWO)]
    copied = pickle.loads(pickle.dumps(fitted))
    assert [copied.encode(ONE), copied.encode(TWO)] == dtrees
    assert list(copied.decode_all(dtrees)) == list(fitted.decode_all(dtrees))


@pytest.mark.parametrize(
    "changes",
    [
        *({"rate": float("nan")}, {"rate": 0}, {"epochs": -3}, {"epochs": 1.5}, {"table_bits": 0}),
        *({"table_bits": 60}, {"penalty": -1.0}, {"seed": -1}, {"encoding": "indirect"}),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=name):
        Labeler(**changes)


def test_the_route_refuses_settings_out_of_range() -> None:
    for changes in ({"seed": -1}, {"continuous": "no"}, {"head_rules": 3}):
        (name,) = changes
        with pytest.raises(ValueError, match=name):
            Reduction(**changes)  # type: ignore[arg-type]
