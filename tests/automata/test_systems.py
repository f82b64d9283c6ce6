"""Systems: the gold actions of static oracles apply, and no stack is dead that actions made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.automata.static_oracles import built
from d2c.automata.systems import (
    ACCEPT,
    GOAL,
    NOTHING,
    SHIFT,
    Action,
    System,
    arc_eager,
    arc_standard,
    constituents,
)
from d2c.trees.binarization import GLUE, LEFT, RIGHT, UNARY, Step, Symbol
from papers.theory import grammars
from papers.theory.automaton import Applicable, Automaton, classes_for
from tests.automata.stacks import Stack, applicable, take

GRAMMAR = [
    Step(RIGHT, Symbol("NP", "bar")),
    Step(LEFT, Symbol("NP")),
    Step(LEFT, Symbol("S")),
    Step(RIGHT, Symbol("PP")),
    Step(RIGHT, Symbol("NP", GLUE)),
    Step(UNARY, Symbol("S")),
]
SYSTEMS: dict[str, Callable[[], System]] = {
    "standard": lambda: arc_standard(["a", "b"], ["root"]),
    "eager": lambda: arc_eager(["a", "b"], ["root"]),
    "constituents": lambda: constituents(GRAMMAR, ["N", "V"], 2),
    "only right": lambda: constituents(GRAMMAR[3:4], ["N"], 1),
    "only unary": lambda: constituents(GRAMMAR[-1:], ["N"], 1),
}


MADE = {name: make() for name, make in SYSTEMS.items()}


@pytest.mark.parametrize("name", SYSTEMS)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8))
def test_no_stack_is_dead(name: str, seed: int, n: int) -> None:
    system, rng = MADE[name], random.Random(seed)
    stack: Stack = []
    left, steps = n, 0
    while not stack or stack[-1][0] != GOAL:
        actions = applicable(system, stack, left)
        assert actions, ([system.symbols[symbol] for symbol, _ in stack], left)
        left = take(system, stack, left, rng.choice(actions))
        steps += 1
    assert (left, len(stack)) == (0, 1)
    assert steps <= (2 * n) * (1 + system.tables.unaries)


def test_actions_of_one_kind_stand_together() -> None:
    for system in MADE.values():
        kinds = [action.kind for action in system.actions]
        assert kinds == sorted(kinds)
        assert system.tables.begin.tolist() == [sum(one < kind for one in kinds) for kind in range(6)]
        assert len(set(system.actions)) == len(kinds)


def test_what_applies_in_arc_eager() -> None:
    system = MADE["eager"]
    number = {symbol: i for i, symbol in enumerate(system.symbols)}
    leaf, right, bar = system.leaf(""), number[Symbol("r")], number[Symbol("a", "bar")]

    def names(second: int, top: int, left: int) -> set[Action]:
        return {system.actions[i] for i in applicable(system, [(second, 0), (top, 0)], left)}

    left_arcs, commitments = {Action(LEFT, "a"), Action(LEFT, "b")}, {Action(UNARY, "a"), Action(UNARY, "b")}
    assert names(leaf, leaf, 1) == {Action(SHIFT)} | left_arcs | commitments
    assert names(leaf, right, 1) == {Action(SHIFT)}  # it is no longer in the buffer
    assert names(leaf, right, 0) == commitments  # late
    assert names(leaf, bar, 1) == {Action(SHIFT), Action(RIGHT)}
    assert names(bar, leaf, 1) == {Action(SHIFT)} | commitments
    assert names(NOTHING, leaf, 0) == {Action(ACCEPT, "root")}


def sequences(system: System, n: int) -> Iterator[list[Action]]:
    """All sequences of actions that accept n tokens."""
    agenda: list[tuple[list[Action], Stack, int]] = [([], [], n)]
    while agenda:
        done, stack, left = agenda.pop()
        if stack and stack[-1][0] == GOAL:
            yield done
            continue
        for action in applicable(system, stack, left):
            after = list(stack)
            remaining = take(system, after, left, action)
            agenda.append(([*done, system.actions[action]], after, remaining))


@pytest.mark.parametrize(
    ("system", "grammar", "counts", "all_counts"),
    [
        (arc_standard([""], [""]), grammars.arc_standard("a"), [1, 2, 8, 40, 224], [1, 2, 8, 40, 224]),
        (arc_eager([""], [""]), grammars.arc_eager("a"), [1, 2, 7, 30, 143], [1, 2, 8, 38, 196]),
    ],
    ids=["standard", "eager"],
)
def test_actions_are_the_grammars_rules(
    system: System, grammar: grammars.CFG, counts: list[int], all_counts: list[int]
) -> None:
    """Parsers do what the oracle automata of these grammars may do, d-tree by d-tree.

    Without late commitments, these are the grammar's parse trees, by the number.
    """
    classes = classes_for(grammar, ())
    applicable = Applicable(grammar, classes)
    machine = Automaton(grammar, classes, lambda *place: dict.fromkeys(applicable(*place), 1.0))
    for n, count in enumerate(counts, 1):
        found = list(sequences(system, n))
        theirs = [steps for steps, _ in machine.computations("a" * n)]
        assert Counter(tuple(built(actions).heads) for actions in found) == Counter(
            map(grammars.heads_of, theirs)
        )
        assert len({tuple(actions) for actions in found}) == len(found) == all_counts[n - 1]
        assert len({tuple(built(actions).heads) for actions in found}) == [1, 2, 7, 30, 143][n - 1]
        early = [steps for steps in theirs if not any(map(is_late, steps))]
        assert len(early) == count


def is_late(rule: grammars.Rule) -> bool:
    return rule.left.name == "Ā" and rule.left.kind == grammars.RIGHT and len(rule.children) == 1
