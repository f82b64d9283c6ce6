"""Theorem 1: the grammar of an oracle automaton has the automaton's trees, by enumerating both.

    D2C_STRESS=9 pytest -n 0 -s -m stress tests/scripts/papers/theory/test_theorem.py

verifies so many oracles of each kind, and prints what docs/automata.md shows: the greatest sizes of all. A
mismatch is a string of which the grammar has other trees than the automaton, or more, or none.
"""

from __future__ import annotations

import os
import random
from itertools import product

import pytest

from papers.theory.automaton import Applicable, Automaton, classes_for
from papers.theory.grammars import CFG, START, Rule, Steps, Symbol, cfg, terminals_of
from papers.theory.latent import TOP, Latent, LatentGrammar, LatentRule, Saturation, latent_grammar
from tests.scripts.papers.theory.theorem import (
    FEATURES,
    Kind,
    automaton,
    kinds,
    random_oracle,
    strings,
    summed,
    trees_by_string,
    verify,
)

RANDOM = [kind for kind in kinds(learned=False) if kind.lookahead == 1 and kind.features != "children"]


class AsPrinted(Saturation):
    """Rule 3 with Ω(τ_k, a0), as the paper has it."""

    def asked(self, last: Latent) -> int:
        return last.left


def is_tree_of(grammar: CFG, steps: Steps) -> bool:
    """Whether these steps are a parse tree of a grammar."""
    stack: list[Symbol] = []
    for rule in steps:
        k = len(rule.children)
        if rule not in grammar.rules or tuple(stack[len(stack) - k :]) != rule.children:
            return False
        del stack[len(stack) - k :]
        stack.append(rule.left)
    return stack == [grammar.start]


@pytest.mark.parametrize("learned", [False, True])
def test_the_grammar_has_the_automatons_trees_and_no_others(learned: bool) -> None:
    chosen = kinds(learned=True) if learned else RANDOM
    found = summed(verify(automaton(kind, seed=0)) for kind in chosen)
    assert found.mismatches == 0
    assert found.strings == len(chosen) * 126
    assert found.accepted > (1500 if learned else 40)


@pytest.mark.stress
@pytest.mark.parametrize("learned", [False, True])
def test_the_theorem_holds_for_many_oracles(learned: bool) -> None:
    seeds = range(int(os.environ.get("D2C_STRESS", "3")))
    found = [verify(automaton(kind, seed)) for kind in kinds(learned) for seed in seeds]
    print("learned" if learned else "random", len(found), summed(found))
    assert summed(found).mismatches == 0


def test_children_of_trees_too() -> None:
    kind = Kind("arc-standard", "children", lookahead=1, learned=False)
    found = verify(automaton(kind, seed=1))
    assert found.accepted and not found.mismatches


def test_rule_3_as_printed_loses_trees() -> None:
    chosen = [Kind(*rest, learned=True) for rest in product(("arc-standard", "arc-eager"), FEATURES, (1, 2))]
    machines = [automaton(kind, seed=1) for kind in chosen]
    right, printed = (summed(verify(m, saturation=how) for m in machines) for how in (Saturation, AsPrinted))
    assert right.mismatches == 0
    assert printed.accepted == right.accepted > 500
    assert printed.mismatches == printed.accepted


def test_all_trees_are_trees_of_the_context_free_grammar() -> None:
    for kind in kinds(learned=True):
        machine = automaton(kind, seed=2)
        for w in strings(4):
            steps = machine.parse(w)
            assert steps is None or (is_tree_of(machine.grammar, steps) and terminals_of(steps) == w)


def test_reducing_changes_no_tree_and_rules_for_classes_that_are_not_reached_change_none() -> None:
    for kind in RANDOM[::3]:
        machine = automaton(kind, seed=3)
        whole = latent_grammar(machine)
        trees = trees_by_string(whole.reduced(), 4)
        assert trees_by_string(whole, 4) == trees
        more = Saturation(machine)
        for stack in _some_stacks(machine):
            more.reach(stack)
        more.reach(machine.classes.empty)
        assert len(more.grammar().rules) > len(whole.rules)
        assert trees_by_string(more.grammar().reduced(), 4) == trees


def _some_stacks(machine: Automaton) -> set[int]:
    """Classes of stacks, the oracle's or not."""
    rng = random.Random(0)
    leaves = [r for r in machine.grammar.rules if not r.children]
    symbols = sorted({rule.left for rule in machine.grammar.rules} - {START})
    trees = [machine.classes.trees.leaf(rule.left, str(rule.right)) for rule in leaves]
    for _ in range(10):
        trees.append(machine.classes.trees.build(rng.choice(symbols), tuple(rng.choices(trees, k=2))))
    stacks = {machine.classes.empty}
    for _ in range(40):
        stacks.add(machine.classes.push(rng.choice(sorted(stacks)), rng.choice(trees)))
    return stacks


def test_reducing_drops_what_no_tree_has() -> None:
    b, c, d = (Symbol(name) for name in "BCD")
    latent = [None, *(Latent(symbol, 0, 0, ("$",)) for symbol in (START, b, c, d))]
    rules = [
        LatentRule(TOP, (1,), None, 1.0),
        LatentRule(1, (2,), Rule(START, (b,)), 1.0),
        LatentRule(2, (), Rule(b, "a"), 1.0),
        LatentRule(2, (3, 2), Rule(b, (c, b)), 1.0),  # C derives itself only
        LatentRule(3, (3,), Rule(c, (c,)), 1.0),
        LatentRule(4, (), Rule(d, "a"), 1.0),  # nothing derives D
    ]
    reduced = LatentGrammar(latent, rules).reduced()
    assert reduced.nonterminals == latent[:3]
    assert list(reduced.rules) == rules[:3]
    assert LatentGrammar(latent, rules[1:]).reduced() == LatentGrammar([None], [])


def test_unary_rules_that_run_in_a_circle_fail() -> None:
    b, c = Symbol("B"), Symbol("C")
    back = Rule(b, (c,))
    grammar = cfg("a", [Rule(START, (b,)), Rule(c, (b,)), back, Rule(b, "a")])
    classes = classes_for(grammar, ())
    circle = {rule.right: rule for rule in grammar.rules if rule.left != START}
    applicable = Applicable(grammar, classes)
    machine = Automaton(
        grammar, classes, lambda q, u: {r: 1.0 for r in applicable(q, u) if r in circle.values()}
    )
    assert machine.parse("a") is None
    assert latent_grammar(machine).reduced().rules == []


def test_the_same_oracle_gives_the_same_grammar() -> None:
    kind = Kind("arc-eager", "roots", lookahead=1, learned=False)
    assert latent_grammar(automaton(kind, 0)) == latent_grammar(automaton(kind, 0))


def test_a_long_sentence_takes_no_recursion() -> None:
    grammar = automaton(Kind("arc-standard", "roots", 1, learned=False), 0).grammar
    classes = classes_for(grammar, ())
    applicable = Applicable(grammar, classes)

    def last(stack: int, lookahead: tuple[str, ...]) -> dict[Rule, float]:
        rules = applicable(stack, lookahead)
        return {(rules[0] if lookahead[0] != "$" else rules[-1]): 1.0} if rules else {}

    machine = Automaton(grammar, classes, last)
    steps = machine.parse("ab" * 1500)
    assert steps is not None and len(steps) == 6000
    assert random_oracle(applicable, random.Random(0))(classes.empty, ("$",)) == {}
