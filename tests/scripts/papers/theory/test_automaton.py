"""What an oracle may propose: all trees of the grammar are reached, and no arc parser stops dead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from papers.theory.automaton import END, Applicable, Automaton, Configuration, classes_for
from papers.theory.grammars import CFG, START, Steps, arc_eager, arc_standard, heads_of
from papers.theory.latent import parse_trees

GRAMMARS = {
    "arc-standard": arc_standard("a"),
    "arc-eager": arc_eager("a"),
    "arc-eager, unrestricted": arc_eager("a", restricted=False),
}


def automaton_of(grammar: CFG) -> Automaton:
    """One that does all that it may."""
    classes = classes_for(grammar, ())
    applicable = Applicable(grammar, classes)
    return Automaton(grammar, classes, lambda *place: dict.fromkeys(applicable(*place), 1.0))


def configurations(machine: Automaton, w: str) -> Iterator[tuple[Configuration, Steps]]:
    """All that are reached, by every computation."""
    agenda: list[tuple[Configuration, Steps]] = [(machine.start(w), ())]
    while agenda:
        configuration, steps = agenda.pop()
        yield configuration, steps
        for rule in machine.proposals(configuration):
            agenda.append((machine.step(configuration, rule), (*steps, rule)))


@pytest.mark.parametrize("name", GRAMMARS)
def test_no_stack_is_dead(name: str) -> None:
    machine = automaton_of(GRAMMARS[name])
    for configuration, _ in configurations(machine, "aaaa"):
        assert machine.proposals(configuration) or machine.accepts(configuration)


@pytest.mark.parametrize("name", GRAMMARS)
def test_s_and_late_bars_wait_for_the_end(name: str) -> None:
    machine = automaton_of(GRAMMARS[name])
    late = {rule for rule, where in machine.grammar.where.items() if where.end}
    used = set()
    for configuration, _ in configurations(machine, "aaaa"):
        proposed = late & machine.proposals(configuration).keys()
        assert not proposed or configuration.rest[0] == END
        assert len(configuration.stack) == 1 or not any(rule.left == START for rule in proposed)
        used |= {rule.left.name for rule in proposed}
    assert used == ({"S", "Ā"} if name == "arc-eager" else {"S"})


@pytest.mark.parametrize("name", ["arc-standard", "arc-eager, unrestricted"])
def test_all_trees_of_the_grammar_have_a_computation(name: str) -> None:
    machine = automaton_of(GRAMMARS[name])
    accepted = [steps for n in range(1, 5) for steps, _ in machine.computations("a" * n)]
    assert len(set(accepted)) == len(accepted)
    assert set(accepted) == set(parse_trees(machine.grammar, 4))


def test_late_bars_add_computations_but_no_dtrees() -> None:
    machine = automaton_of(arc_eager("a"))
    accepted = {steps for steps, _ in machine.computations("aaaa")}
    early = {steps for steps in parse_trees(arc_eager("a", late=False), 4) if len(heads_of(steps)) == 4}
    assert early < accepted
    assert {heads_of(steps) for steps in accepted} == {heads_of(steps) for steps in early}


def test_equal_probabilities_are_decided_by_the_number_of_the_rule() -> None:
    machine = automaton_of(arc_standard("a"))
    steps = machine.parse("aaa")
    assert steps is not None and heads_of(steps) == (3, 3, 0)  # shifts, then left-arcs
