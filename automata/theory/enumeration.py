"""All trees of a small grammar, with or without latent symbols: what tests compare with, and what docs show.

Bottom-up by the number of tokens, and only those trees that fit into a whole one. Exponential in that number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
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
    """All parse trees of a grammar with at most `length` tokens. ValueError: see `derivations`."""
    productions = [Production(rule.left, rule.children, rule, 1.0) for rule in grammar.rules]
    return (steps for steps, _ in derivations(productions, grammar.start, length))


def derivations(
    productions: Sequence[Production], start: Hashable, length: int
) -> Iterator[tuple[Steps, float]]:
    """All trees of a nonterminal with at most `length` tokens, with their weights.

    ValueError: unary rules run in a circle, so there are infinitely many.
    """
    room = _room(productions, start, length)
    by_left: dict[Hashable, list[Production]] = {left: [] for left in room}
    for production in productions:
        if room.keys() >= {production.left, *production.right}:
            by_left[production.left].append(production)
    order = _unaries_upward(by_left)
    found: dict[tuple[Hashable, int], Trees] = {}
    for n in range(1, length + 1):
        for left in order:
            if n <= room[left]:
                found[left, n] = [tree for rule in by_left[left] for tree in _trees_by(rule, n, found)]
        yield from found.get((start, n), ())


def _room(productions: Sequence[Production], start: Hashable, length: int) -> dict[Hashable, int]:
    """How many tokens each nonterminal may have at most, in trees of `length` tokens; others are in none."""
    shortest: dict[Hashable, int] = {}  # the fewest tokens
    changed = True
    while changed:
        changed = False
        for left, right, _, _ in productions:
            tokens = sum(shortest.get(child, length + 1) for child in right) if right else 1
            if tokens < shortest.get(left, length + 1):
                shortest[left], changed = tokens, True
    room = {start: length} if start in shortest else {}
    changed = True
    while changed:
        changed = False
        for left, right, _, _ in reversed(productions):
            if left in room and shortest.keys() >= set(right):
                spare = room[left] - sum(shortest[child] for child in right)
                for child in right:
                    if spare >= 0 and room.get(child, 0) < shortest[child] + spare:
                        room[child], changed = shortest[child] + spare, True
    return room


def _unaries_upward(by_left: Mapping[Hashable, Sequence[Production]]) -> list[Hashable]:
    graph = {left: [r.right[0] for r in rules if len(r.right) == 1] for left, rules in by_left.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError:
        raise ValueError("the unary rules run in a circle: there are infinitely many trees") from None


def _trees_by(
    production: Production, n: int, found: Mapping[tuple[Hashable, int], Trees]
) -> Iterator[tuple[Steps, float]]:
    """The trees of n tokens with this rule at the root."""
    step = () if production.rule is None else (production.rule,)
    right = production.right
    if not right and n == 1:
        yield step, production.weight
    for lengths in _compositions(n, len(right)):
        parts = [found.get(part) for part in zip(right, lengths, strict=True)]
        for children in product(*[part or () for part in parts]) if all(parts) else ():
            steps: Steps = ()
            weight = production.weight
            for child, factor in children:
                steps, weight = steps + child, weight * factor
            yield steps + step, weight


@cache
def _compositions(n: int, k: int) -> list[tuple[int, ...]]:
    """All ways to write n as a sum of k positive numbers."""
    if k < 2:
        return [(n,)] if k and n else []
    return [(first, *rest) for first in range(1, n) for rest in _compositions(n - first, k - 1)]
