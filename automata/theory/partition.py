"""Latent-variable grammars as proper PCFGs (section 7), which takes a factor that the paper leaves out.

An automaton gives each string a distribution of trees, so the weights of all trees of all strings add up to
the number of strings, infinity: there is nothing to normalize. With a factor ρ < 1/|Σ| on each shift the
trees of a string keep their proportions, and the sum is x/(1 - x), x = |Σ|ρ, if no state is dead. Then
weights become probabilities as in Chi (1999), "Statistical properties of probabilistic context-free
grammars".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from d2c.automata.theory.latent import TOP, LatentGrammar

_PASSES = 100_000
_CLOSE = 1e-15  # a change in one pass, relative to the greatest sum


def damped(grammar: LatentGrammar, rho: float) -> LatentGrammar:
    """The grammar with the factor rho on the weight of each shift.

    ValueError: rho is not between 0 and 1/|Σ|, so that the sum over all strings may be infinite.
    """
    terminals = {rule.rule.right for rule in grammar.rules if rule.rule and rule.is_shift}
    if not 0 < rho < 1 / len(terminals):
        raise ValueError(f"rho is {rho}; it must be above 0 and below 1/|Σ| = {1 / len(terminals):.4g}")
    rules = [r._replace(weight=r.weight * rho) if r.is_shift else r for r in grammar.rules]
    return LatentGrammar(grammar.nonterminals, rules)


def partition(grammar: LatentGrammar) -> NDArray[np.float64]:
    """[N] Z(A): the sum of the weights of all trees of each nonterminal, by fixed-point iteration.

    ValueError: it does not converge (see `damped`).
    """
    n = len(grammar.nonterminals)
    left, children, weights = _arrays(grammar)
    z = np.zeros(n + 1)
    z[n] = 1.0  # where a rule has fewer children than others
    for _ in range(_PASSES):
        with np.errstate(over="ignore"):
            new = np.bincount(left, weights * z[children].prod(axis=1), minlength=n)
        if not np.isfinite(new).all():
            break
        change, z[:n] = np.abs(new - z[:n]).max(), new
        if change <= _CLOSE * new.max():
            return z[:n]
    raise ValueError("the weights of all trees do not add up to a number")


def proper(grammar: LatentGrammar) -> LatentGrammar:
    """The grammar whose weights add up to 1 for each left-hand side: p(r) Π Z(B_i) / Z(A).

    Nonterminals without trees are left out, and rules with them. ValueError: no tree has any weight, or see
    `partition`.
    """
    grammar = LatentGrammar(grammar.nonterminals, [r for r in grammar.rules if r.weight > 0]).reduced()
    if not grammar.rules:
        raise ValueError("the grammar has no trees")
    z = partition(grammar)
    left, children, weights = _arrays(grammar)
    weights = weights * np.append(z, 1.0)[children].prod(axis=1) / z[left]
    rules = [r._replace(weight=float(weight)) for r, weight in zip(grammar.rules, weights, strict=True)]
    return LatentGrammar(grammar.nonterminals, rules)


def total(grammar: LatentGrammar) -> float:
    """Z(S†)"""
    return float(partition(grammar)[TOP])


def _arrays(grammar: LatentGrammar) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """[R] left-hand sides, [R, k] children, filled up with N, [R] weights."""
    longest = max((len(rule.right) for rule in grammar.rules), default=0)
    children = np.full((len(grammar.rules), longest), len(grammar.nonterminals), dtype=np.int64)
    for row, rule in zip(children, grammar.rules, strict=True):
        row[: len(rule.right)] = rule.right
    left = np.array([rule.left for rule in grammar.rules], dtype=np.int64)
    return left, children, np.array([rule.weight for rule in grammar.rules])
