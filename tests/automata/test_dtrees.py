"""Systems of d-trees: the actions of their static oracles apply, and build the tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.automata.static_oracles import SYSTEMS, built
from d2c.automata.systems import GOAL
from d2c.automata.transition_parser import Labels
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.repair import projectivize
from tests.automata.stacks import Stack, applicable, take
from tests.strategies import tree_heads


@pytest.mark.parametrize("name", SYSTEMS)
@given(data=st.data())
def test_actions_apply_and_build_the_tree(name: str, data: st.DataObject) -> None:
    heads = projectivize(data.draw(tree_heads()))
    labels = [data.draw(st.sampled_from("ab")) if head else "root" for head in heads]
    system = SYSTEMS[name].make("ab", ["root"])
    actions = [*SYSTEMS[name].actions(heads, labels)]
    stack: Stack = []
    left = len(heads)
    for action in actions:
        assert system.number_of[action] in applicable(system, stack, left)
        left = take(system, stack, left, system.number_of[action])
    assert [symbol for symbol, _ in stack] == [GOAL] and left == 0
    assert built(actions)[:2] == (heads, labels)


def test_labels() -> None:
    dtrees = [
        DTree(Tokens(("a", "b"), ("A", "B")), (2, 0), labels=("x", "r")),
        DTree(Tokens(("a",), ("A",)), (0,), labels=("x",)),
    ]
    assert Labels.of(dtrees) == (("x",), ("r", "x"))
