"""The two ways of section 3.2 to make the constrained chart smaller, estimated from derivations.

Method 1 lets a rule apply only to head words with tags that it was seen with. Method 2 fixes the side of the
next dependent where p(side | tag(h), tag(m), tag(m')) > γ, m and m' being the next dependents on either side.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from d2c.cky.search.constraints import UNPRUNED, Constraints, side_key
from d2c.cky.search.sites import Parts
from d2c.forests.forest import Ints
from d2c.trees.binarization import LEFT, UNARY


def estimate(derivations: Iterable[tuple[Ints, Parts]], rules: int, tags: int, gamma: float) -> Constraints:
    """Return the constraints of both methods.

    derivations: [n] tags of the words, and the parts. rules: of the grammar. tags: the highest number of one
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


def restrict(both: Constraints, method: str) -> Constraints:
    """Return the constraints of one of `d2c.cky.settings.METHODS`."""
    first, second = ("1" in method, "2" in method)
    return Constraints(
        both.by_tag if first else UNPRUNED.by_tag,
        both.sides if second else UNPRUNED.sides,
        both.next_side if second else UNPRUNED.next_side,
    )
