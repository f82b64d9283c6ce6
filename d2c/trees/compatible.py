"""The most valuable yields that form a tree together, from candidates with values; minimum Bayes risk.

Two yields fit into one tree if one is inside the other or they have no token in common; otherwise they cross.
Sagae and Lavie, "Parser Combination by Reparsing" (NAACL 2006), find the best tree over voted spans with a
chart. The recursion here is the same, but over the voted yields alone, with or without gaps: inside a yield
it chooses the best disjoint yields, each with the best inside it. A yield is a number whose bits are tokens.

With Y yields that cross others, the time is at most cubic in Y if none has a gap. If many have gaps that
cross in all ways, choosing disjoint yields is a hard problem: only the WIDTH best partial choices are kept.

Goodman, "Parsing Algorithms and Metrics" (ACL 1996): with posteriors in place of votes, the result is the
tree of minimum Bayes risk, the one with the greatest expected number of right constituents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

WIDTH = 1024
_LITTLE = 1e-9  # the value of a required constituent with too little support


class Constituent(NamedTuple):
    """A label over a set of tokens, as bits; below: how many nodes below have the same label and tokens."""

    label: str
    tokens: int
    below: int = 0


class Packing(NamedTuple):
    """Disjoint yields as a list linked from the last to the first, and their value with all inside them."""

    value: float = 0.0
    last: int = 0
    others: Packing | None = None


def minimum_bayes_risk(
    support: Mapping[Constituent, float],
    threshold: float,
    required: Iterable[int] = (),
    favour: Callable[[Constituent], float] = lambda _: 0.0,
) -> list[Constituent]:
    """Return the constituents, no two of which cross, with the greatest sum of support above a threshold.

    support:  from 0 to 1. If it is a probability, the sum is the expected number of right constituents minus
              `threshold` times the number of constituents chosen
    required: sets of tokens over which the best label is a candidate even if none has enough support
    favour:   a bonus that decides between equally good choices; far below all differences in support
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
    """Return whether two yields cross: they cannot be in one tree."""
    return a & b not in (0, a, b)


def best_compatible(values: Mapping[int, float]) -> set[int]:
    """Return the yields, no two of which cross, with the greatest sum of values, which are above 0."""
    disputed = {yield_ for pair in combinations(values, 2) if cross(*pair) for yield_ in pair}
    in_order = sorted(disputed, key=lambda one: (_first_token(one), one))
    worth: dict[int, float] = {}  # the value of a yield with the best yields inside it
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
    """Return the most valuable choice of disjoint yields; `yields` are ordered by their first tokens.

    Each yield in turn is left out or taken. Later yields depend only on which of their tokens are already
    taken: none where there are no gaps.
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
