"""Coordinate-wise search: one setting after the other, the others as they are in the best trial so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from d2c.tuning.space import TUNABLE, Settings


def climb(
    start: Settings, values: Mapping[str, Sequence[Any]], f1: Callable[[Settings], float], most: int
) -> Settings:
    """The best settings among those that it tries, beginning with `start`; the first of equally good ones.

    values: of each setting that is tried, in this order, again and again until a round finds nothing better
    f1:     makes a trial; most: so many of them at the most

    What is tried depends on the arguments and on what f1 returns, and on nothing else.
    """
    tried = {_key(start): f1(start)}
    best, before = start, None
    while best != before:
        before = best
        for name, choices in values.items():
            for value in choices:
                candidate = {**best, name: value}
                if _key(candidate) in tried or not TUNABLE[name].matters(candidate):
                    continue
                if len(tried) >= most:
                    return best
                tried[_key(candidate)] = f1(candidate)
                if tried[_key(candidate)] > tried[_key(best)]:
                    best = candidate
    return best


def _key(settings: Settings) -> tuple[Any, ...]:
    return tuple(settings.values())
