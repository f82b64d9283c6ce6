"""The constraints of pruning (section 3.2), as the kernels of charts look them up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.forests.forest import Ints
from d2c.linear.kernels import inner, lean


class Constraints(NamedTuple):
    """The constraints that method 1 and method 2 of section 3.2 put on derivations.

    by_tag: [T, R] whether rule r may apply to a head word with tag t; no rows: any may
    sides:  sorted keys (tag(h), tag(m), tag(m')) with the side that comes next for certain, see `side_key`
    next_side: [len(sides)] that side
    """

    by_tag: NDArray[np.bool_]
    sides: NDArray[np.int64]
    next_side: Ints


UNPRUNED = Constraints(np.zeros((0, 0), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int32))


def side_key(head_tag: Any, left_tag: Any, right_tag: Any) -> Any:
    """One number for the tags of a head word and of its next dependents on both sides, or [C] for many."""
    return (head_tag * (1 << 20) + left_tag) * (1 << 20) + right_tag


_side_key = inner(side_key)


@lean
def certain_side(constraints: Constraints, tags: Ints, h: int, left: int, right: int) -> int:
    """The side from which word h must take its next dependent, or -1. left, right: these dependents, or -1
    where there are no more."""
    if len(constraints.sides) == 0 or left < 0 or right < 0:
        return -1
    key = _side_key(tags[h], tags[left], tags[right])
    low, high = 0, len(constraints.sides)
    while low < high:
        middle = (low + high) // 2
        if constraints.sides[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < len(constraints.sides) and constraints.sides[low] == key:
        return constraints.next_side[low]
    return -1
