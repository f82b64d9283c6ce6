"""Static oracles: their actions apply one after the other, and build the gold tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.automata.static_oracles import built, constituent_actions, eager_actions, standard_actions
from d2c.automata.systems import (
    ACCEPT,
    GOAL,
    SHIFT,
    Action,
    System,
    arc_eager,
    arc_standard,
    constituents,
)
from d2c.trees.binarization import BINARIZATIONS, LEFT, RIGHT, UNARY, binarize
from d2c.trees.ctree import CTree
from d2c.trees.dtree import is_projective
from d2c.trees.repair import projectivize
from papers.shift_reduce import unbinarize
from tests.automata.stacks import Stack, applicable, take
from tests.strategies import ctrees, tree_heads

Oracle = Callable[[Sequence[int], Sequence[str]], Iterator[Action]]
LABELS = ("", "a", "b", "c")
ORACLES: dict[str, tuple[Oracle, System]] = {
    "standard": (standard_actions, arc_standard(LABELS, LABELS)),
    "eager": (eager_actions, arc_eager(LABELS, LABELS)),
}
BOTH = pytest.mark.parametrize("name", ORACLES)


def check_applicable(system: System, actions: Sequence[Action], tags: Sequence[str]) -> None:
    """Asserts that an automaton takes all actions and accepts at the last one."""
    stack: Stack = []
    left = len(tags)
    for action in actions:
        number = system.number_of[action]
        assert number in applicable(system, stack, left)
        left = take(system, stack, left, number, tags[-left] if left else "")
    assert left == 0 and stack == [(GOAL, 0)]


@BOTH
@given(heads=tree_heads(max_tokens=12).map(projectivize), data=st.data())
def test_actions_rebuild_the_d_tree(name: str, heads: list[int], data: st.DataObject) -> None:
    oracle, system = ORACLES[name]
    labels = [data.draw(st.sampled_from(LABELS)) for _ in heads]
    actions = list(oracle(heads, labels))
    check_applicable(system, actions, [""] * len(heads))
    assert built(actions)[:2] == (list(heads), labels)


def test_left_arcs_come_as_soon_and_right_arcs_as_late_as_can_be() -> None:
    heads, labels = [2, 0, 4, 2], ["a", "b", "c", "d"]
    begin = [Action(SHIFT), Action(SHIFT), Action(LEFT, "a"), Action(SHIFT), Action(SHIFT), Action(LEFT, "c")]
    assert list(standard_actions(heads, labels)) == [*begin, Action(RIGHT, "d"), Action(ACCEPT, "b")]
    committed = [Action(UNARY, "d"), Action(RIGHT)]
    assert list(eager_actions(heads, labels)) == [*begin, *committed, Action(ACCEPT, "b")]


@BOTH
@given(heads=tree_heads())
def test_crossing_arcs_are_refused(name: str, heads: tuple[int, ...]) -> None:
    oracle, _ = ORACLES[name]
    if is_projective(heads):
        assert next(oracle(heads, [""] * len(heads))) == Action(SHIFT)
    else:
        with pytest.raises(ValueError, match="crossing arcs"):
            next(oracle(heads, [""] * len(heads)))


@given(ctrees(gaps=False), st.sampled_from(sorted(BINARIZATIONS)))
def test_actions_rebuild_the_c_tree(ctree: CTree, name: str) -> None:
    scheme = BINARIZATIONS[name]
    actions = list(constituent_actions(ctree, scheme))
    found = built(actions)
    assert (found.heads, found.derivation) == binarize(ctree, scheme)
    assert unbinarize(ctree.tokens, found.heads, found.derivation, ctree.top) == ctree
    if ctree.labels:  # a bare token is not accepted
        steps = [step for steps in found.derivation for step in steps]
        longest = max(map(len, found.derivation))
        check_applicable(constituents(steps, ctree.tokens.tags, longest), actions, ctree.tokens.tags)


@given(ctrees())
def test_gaps_are_refused(ctree: CTree) -> None:
    if not ctree.is_continuous():
        with pytest.raises(ValueError, match="gaps"):
            next(constituent_actions(ctree))


@BOTH
def test_long_sentences_take_linear_time(name: str) -> None:
    oracle, _ = ORACLES[name]
    for heads in (list(range(5_000)), [*range(2, 5_001), 0], [0] + [1] * 4_999):
        assert built(oracle(heads, [""] * len(heads))).heads == heads
