"""All trees of a small grammar, with or without latent symbols: what tests compare with, and what docs show.

The trees of each nonterminal with each number of tokens are enumerated once. Exponential in that number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from d2c.automata.theory.grammars import CFG, Rule, Steps


class Production(NamedTuple):
    """A rule of a grammar whose trees are enumerated.

    left:   its nonterminal, of whatever type
    right:  the children's nonterminals, none of a terminal
    rule:   what it adds to the steps of a tree, if anything
    weight: its factor in the weight of a tree
    """

    left: Hashable
    right: tuple[Hashable, ...]
    rule: Rule | None
    weight: float


Trees = list[tuple[Steps, float]]  # with their weights


def parse_trees(grammar: CFG, length: int) -> Iterator[Steps]:
    """Yield all parse trees of a grammar with at most `length` tokens. ValueError: see `derivations`."""
    productions = [Production(rule.left, rule.children, rule, 1.0) for rule in grammar.rules]
    return (steps for steps, _ in derivations(productions, grammar.start, length))


def derivations(
    productions: Sequence[Production], start: Hashable, length: int
) -> Iterator[tuple[Steps, float]]:
    """Yield all trees of a nonterminal with at most `length` tokens, with their weights.

    Raises ValueError where unary rules run in a circle, so that there are infinitely many.
    """
    by_left: dict[Hashable, list[Production]] = {}
    for production in productions:
        by_left.setdefault(production.left, []).append(production)
    known: dict[tuple[Hashable, int], Trees | None] = {}  # None: being enumerated

    def trees(left: Hashable, n: int) -> Trees:
        if (left, n) not in known:
            known[left, n] = None
            known[left, n] = [tree for rule in by_left.get(left, ()) for tree in _trees_by(rule, n, trees)]
        if (found := known[left, n]) is None:
            raise ValueError("the unary rules run in a circle: there are infinitely many trees")
        return found

    for n in range(1, length + 1):
        yield from trees(start, n)


def _trees_by(
    production: Production, n: int, trees: Callable[[Hashable, int], Trees]
) -> Iterator[tuple[Steps, float]]:
    """Yield the trees of n tokens with this rule at the root."""
    step = () if production.rule is None else (production.rule,)
    if not production.right and n == 1:
        yield step, production.weight
    for lengths in _compositions(n, len(production.right)):
        parts = list[Trees]()
        for part in zip(production.right, lengths, strict=True):
            if not (of_part := trees(*part)):
                break
            parts.append(of_part)
        else:
            for children in product(*parts):
                steps: Steps = ()
                weight = production.weight
                for child, factor in children:
                    steps, weight = steps + child, weight * factor
                yield steps + step, weight


@cache
def _compositions(n: int, k: int) -> list[tuple[int, ...]]:
    """Return all ways to write n as a sum of k positive numbers."""
    if k < 2:
        return [(n,)] if k and n else []
    return [(first, *rest) for first in range(1, n) for rest in _compositions(n - first, k - 1)]
