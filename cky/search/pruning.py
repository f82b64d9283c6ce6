"""Pruning 1 and 2 (PAD, section 3.2): what makes the constrained chart smaller, learned from derivations.

Method 1 leaves to a head word the rules that were seen with its tag, or, in a closed grammar, the closure of
these. Method 2 fixes the side of the next dependent where p(side | tag(h), tag(m), tag(m')) > γ, m and m'
being the next dependents on either side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.cky.search.deduction import place_of
from d2c.cky.search.parts import Parts
from d2c.learning.kernels import inner, lean
from d2c.trees.binarization import LEFT, UNARY


class Constraints(NamedTuple):
    """The constraints that method 1 and method 2 put on derivations.

    by_tag: [T, R] whether rule r may apply to a head word with tag t; no rows: any may
    sides:  sorted keys (tag(h), tag(m), tag(m')) for which the next side is certain, see `side_key`
    next_side: [len(sides)] that side, LEFT or RIGHT
    """

    by_tag: NDArray[np.bool_]
    sides: NDArray[np.int64]
    next_side: Ints

    def of(self, method: str) -> Constraints:
        """Return the constraints of one of `d2c.cky.settings.METHODS`."""
        by_tag = self.by_tag if "1" in method else UNPRUNED.by_tag
        return self._replace(by_tag=by_tag) if "2" in method else UNPRUNED._replace(by_tag=by_tag)


UNPRUNED = Constraints(np.zeros((0, 0), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int32))


def side_key(head_tag: Any, left_tag: Any, right_tag: Any) -> Any:
    """Return one number, or [C], for the tags of a head word and of its next dependents on both sides."""
    return (head_tag * (1 << 20) + left_tag) * (1 << 20) + right_tag


_side_key = inner(side_key)


@lean
def certain_side(constraints: Constraints, tags: Ints, h: int, left: int, right: int) -> int:
    """Return the side from which word h must take its next dependent, or -1.

    tags: [n]; left, right: the next dependents, or -1 where there are no more
    """
    if len(constraints.sides) == 0 or left < 0 or right < 0:
        return -1
    key = _side_key(np.int64(tags[h]), np.int64(tags[left]), np.int64(tags[right]))
    place = place_of(constraints.sides, key)
    return int(constraints.next_side[place]) if place >= 0 else -1


def estimate(derivations: Iterable[tuple[Ints, Parts]], rules: int, tags: int, gamma: float) -> Constraints:
    """Return the constraints of both methods.

    derivations: tags [n] of words, and parts. rules: how many there are. tags: the highest number of a tag
    """
    by_tag = np.zeros((tags + 1, rules), np.bool_)
    keys, sides = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for tag, (sites, used) in derivations:
        by_tag[tag[sites["h"]], used] = True
        left = np.where(sites["side"] == LEFT, sites["m"], sites["next_left"])
        right = np.where(sites["side"] == LEFT, sites["next_right"], sites["m"])
        choice = (sites["side"] != UNARY) & (left >= 0) & (right >= 0)
        of = [tag[column[choice]].astype(np.int64) for column in (sites["h"], left, right)]
        keys.append(side_key(*of))
        sides.append(sites["side"][choice])
    distinct, which = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(which, minlength=len(distinct))
    lefts = np.bincount(which, np.concatenate(sides) == LEFT, len(distinct))
    certain = np.maximum(lefts, total - lefts) / np.maximum(1, total) > gamma
    side = np.where(2 * lefts > total, 0, 1)[certain].astype(np.int32)
    return Constraints(by_tag, distinct[certain], side)
