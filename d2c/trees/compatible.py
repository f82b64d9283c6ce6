"""The sets of tokens that make a tree together and are worth most, of some with values; minimum Bayes risk.

Two yields go together in a tree if one is inside the other or they have no token in common; else they cross.
Sagae and Lavie, "Parser Combination by Reparsing" (NAACL 2006), find the best tree over voted spans by a
chart. This is the same recursion over voted yields alone, whether they have gaps or not: inside a yield, the
best yields that are disjoint, each with the best inside it. Sets of tokens are bits of a number.

Of Y yields that cross others it takes time in Y³ at most where none has a gap. Where many have gaps that
cross in all ways, choosing disjoint ones is a hard problem; beyond WIDTH ways to go on, the best are kept.

Goodman, "Parsing Algorithms and Metrics" (ACL 1996): with posteriors in place of votes that is the tree of
minimum Bayes risk, the one with the greatest expected number of right constituents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

WIDTH = 1024
_LITTLE = 1e-9  # what a required constituent is worth that has too little support


class Constituent(NamedTuple):
    """A label over a set of tokens, as bits; below: how many of that label are below it over the same."""

    label: str
    tokens: int
    below: int = 0


class Packing(NamedTuple):
    """Disjoint yields, the last one first, and what they are worth with all inside them."""

    value: float = 0.0
    last: int = 0
    others: Packing | None = None


def minimum_bayes_risk(
    support: Mapping[Constituent, float],
    threshold: float,
    required: Iterable[int] = (),
    favour: Callable[[Constituent], float] = lambda _: 0.0,
) -> list[Constituent]:
    """Return the constituents, of which no two cross, that have the greatest sum of what their support is
    beyond a threshold.

    support:  from 0 to 1. Where it is a probability, the sum is the expected number of right constituents
              less `threshold` of all that are chosen
    required: sets of tokens of which one label is chosen, the best, even where none has enough support
    favour:   what decides between sets that are equally good; far below all differences of support
    """
    gains = {one: value - threshold for one, value in support.items() if value > threshold}
    enough = {one.tokens for one in gains}
    for tokens in {*required} - enough:
        over = [one for one in support if one.tokens == tokens]
        if over:
            gains[max(over, key=support.__getitem__)] = _LITTLE
    worth = defaultdict[int, float](float)
    for one, gain in gains.items():
        worth[one.tokens] += gain + favour(one)
    chosen = best_compatible(worth)
    return [one for one in gains if one.tokens in chosen]


def cross(a: int, b: int) -> bool:
    """Return whether two yields cannot be in one tree."""
    return a & b not in (0, a, b)


def best_compatible(values: Mapping[int, float]) -> set[int]:
    """Return the yields, of values above 0, of which no two cross and whose values have the greatest sum."""
    disputed = {yield_ for pair in combinations(values, 2) if cross(*pair) for yield_ in pair}
    in_order = sorted(disputed, key=lambda one: (_first_token(one), one))
    worth: dict[int, float] = {}  # of a yield with the best inside it
    inside: dict[int, Packing] = {}
    for whole in sorted(disputed, key=int.bit_count):
        inside[whole] = pack([one for one in in_order if one & whole == one != whole], worth)
        worth[whole] = values[whole] + inside[whole].value
    chosen, waiting = set(values) - disputed, [pack(in_order, worth)]
    while waiting:
        packed: Packing | None = waiting.pop()
        while packed and packed.last:
            chosen.add(packed.last)
            waiting.append(inside[packed.last])
            packed = packed.others
    return chosen


def pack(yields: Sequence[int], worth: Mapping[int, float]) -> Packing:
    """Return the disjoint ones of some yields, ordered by their first tokens, that are worth most.

    Each yield in turn is left out or taken. What comes later asks only which of its tokens are taken already:
    none where there are no gaps.
    """
    # ahead[i]: taken tokens that matter from yield i on → the best way to take these
    ahead: list[dict[int, Packing]] = [{} for _ in range(len(yields) + 1)]

    def put(i: int, taken: int, packed: Packing) -> None:
        while i < len(yields) and yields[i] & taken:
            i += 1
        first = _first_token(yields[i]) if i < len(yields) else taken.bit_length()
        taken = taken >> first << first
        if taken not in ahead[i] or packed.value > ahead[i][taken].value:
            ahead[i][taken] = packed

    put(0, 0, Packing())
    for i, one in enumerate(yields):
        ways = sorted(ahead[i].items(), key=lambda way: -way[1].value)[:WIDTH]
        for taken, packed in ways:
            put(i + 1, taken | one, Packing(packed.value + worth[one], one, packed))
            put(i + 1, taken, packed)
    return ahead[-1][0]


def _first_token(yield_: int) -> int:
    return (yield_ & -yield_).bit_length() - 1
