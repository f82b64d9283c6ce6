"""Section 7: probabilities of computations are those of the grammar's trees, and what these add up to."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from papers.theory.automaton import Applicable, Automaton, classes_for
from papers.theory.grammars import CFG, Steps, arc_eager, arc_standard, terminals_of
from papers.theory.latent import LatentGrammar, damped, latent_grammar, partition, proper, total
from tests.scripts.papers.theory.theorem import probabilistic_oracle, strings

SYSTEMS: dict[str, Callable[[], CFG]] = {
    "arc-standard": lambda: arc_standard("ab"),
    "arc-eager": lambda: arc_eager("ab"),
    "arc-eager, unrestricted": lambda: arc_eager("ab", restricted=False),
}


@cache
def machine(name: str, lookahead: int = 1, dead: float = 0.0) -> Automaton:
    """An automaton with up to two rules for each class."""
    grammar = SYSTEMS[name]()
    classes = classes_for(grammar, (), lookahead)
    oracle = probabilistic_oracle(Applicable(grammar, classes), random.Random(1), most=2, dead=dead)
    return Automaton(grammar, classes, oracle)


@cache
def grammar_of(name: str, lookahead: int = 1, dead: float = 0.0) -> LatentGrammar:
    return latent_grammar(machine(name, lookahead, dead)).reduced()


def probabilities(grammar: LatentGrammar, longest: int) -> dict[Steps, float]:
    found: dict[Steps, float] = {}
    for steps, weight in grammar.trees(longest):
        assert steps not in found, "the grammar is unambiguous but for surface symbols"
        found[steps] = weight
    return found


@pytest.mark.parametrize(
    ("name", "lookahead", "dead"),
    [
        *((name, 1, 0.0) for name in SYSTEMS),
        ("arc-standard", 2, 0.0),
        ("arc-standard", 1, 0.2),
        ("arc-eager", 1, 0.2),
    ],
)
def test_trees_are_as_probable_as_computations(name: str, lookahead: int, dead: float) -> None:
    trees = probabilities(grammar_of(name, lookahead, dead), 4)
    for w in strings(4):
        computations = dict(machine(name, lookahead, dead).computations(w))
        assert computations.keys() == {steps for steps in trees if terminals_of(steps) == w}
        assert all(abs(trees[steps] - p) < 1e-12 for steps, p in computations.items())
        if dead:
            assert sum(computations.values()) <= 1 + 1e-12
        else:
            assert sum(computations.values()) == pytest.approx(1, abs=1e-12)


def test_where_states_are_dead_probability_is_lost() -> None:
    lost = [1 - sum(p for _, p in machine("arc-standard", dead=0.2).computations(w)) for w in strings(4)]
    assert max(lost) > 0.1


@pytest.mark.parametrize("x", [0.5, 0.9])
@pytest.mark.parametrize("name", ["arc-standard", "arc-eager"])
def test_damped_weights_add_up_to_a_geometric_series(name: str, x: float) -> None:
    assert total(damped(grammar_of(name), x / 2)) == pytest.approx(x / (1 - x), abs=1e-9)


def test_a_proper_grammar_has_the_same_conditional_probabilities() -> None:
    grammar = damped(grammar_of("arc-standard"), 0.45)
    normal = proper(grammar)
    sums = np.zeros(len(normal.nonterminals))
    for rule in normal.rules:
        sums[rule.left] += rule.weight
    assert sums == pytest.approx(1, abs=1e-12)
    assert partition(normal) == pytest.approx(1, abs=1e-9)
    before, after = probabilities(grammar_of("arc-standard"), 4), probabilities(normal, 4)
    assert before.keys() == after.keys()
    for w in strings(4):
        of_string = [steps for steps in after if terminals_of(steps) == w]
        mass = sum(after[steps] for steps in of_string)
        assert mass == pytest.approx(0.45 ** len(w) / 9, abs=1e-12)  # x/(1 - x) = 9
        for steps in of_string:
            assert after[steps] / mass == pytest.approx(before[steps], abs=1e-9)


@pytest.mark.parametrize("rho", [1.0, 0.5, 0.0, -0.1, float("nan")])
def test_rho_must_be_small(rho: float) -> None:
    with pytest.raises(ValueError, match=r"below 1/\|Σ\| = 0.5"):
        damped(grammar_of("arc-standard"), rho)


def test_without_rho_the_sum_is_infinite() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        partition(grammar_of("arc-standard"))


def test_a_grammar_without_trees_cannot_be_proper() -> None:
    with pytest.raises(ValueError, match="no trees"):
        proper(LatentGrammar([None], []))
