"""The two ways of section 3.2 to make the constrained chart smaller, estimated from derivations.

Method 1 lets a rule apply only to head words with tags that it was seen with. Method 2 fixes the side of the
next dependent where p(side | tag(h), tag(m), tag(m')) > γ, m and m' being the next dependents on either side.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.learning.svm import Examples
from d2c.cky.search.chart import Constraints, side_key
from d2c.cky.search.layout import Ints, lay_out
from d2c.trees.binarization import LEFT, UNARY

METHODS = ("none", "1", "2", "1+2")


def unpruned() -> Constraints:
    """Everything is allowed."""
    return Constraints(np.zeros((0, 0), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int32))


def estimate(examples: Examples, kinds: Ints, tags: int, gamma: float) -> Constraints:
    """What both methods allow. kinds: [R] of the grammar's rules; tags: the highest number of a tag."""
    by_tag = np.zeros((tags + 1, len(kinds)), np.bool_)
    keys, sides = _count(examples, kinds, by_tag)
    distinct, which = np.unique(keys, return_inverse=True)
    total = np.bincount(which, minlength=len(distinct))
    left = np.bincount(which, sides == LEFT, len(distinct))
    share = np.maximum(left, total - left) / np.maximum(1, total)
    certain = share > gamma
    return Constraints(by_tag, distinct[certain], np.where(2 * left > total, 0, 1)[certain].astype(np.int32))


def restrict(both: Constraints, method: str) -> Constraints:
    """The constraints of one of METHODS."""
    none = unpruned()
    return Constraints(
        both.by_tag if "1" in method else none.by_tag,
        both.sides if "2" in method else none.sides,
        both.next_side if "2" in method else none.next_side,
    )


@njit(cache=True, nogil=True)
def _count(examples: Examples, kinds: Ints, by_tag: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Ints]:
    """Marks each head tag's rules in by_tag; the key and the side of every choice between both sides."""
    keys, sides = np.empty(len(examples.rules), np.int64), np.empty(len(examples.rules), np.int32)
    count = 0
    for number in range(len(examples.begin) - 1):
        begin, end = examples.begin[number], examples.begin[number + 1]
        tags, layout = examples.tags[begin:end], lay_out(examples.heads[begin:end])
        for h in range(end - begin):
            left, right = layout.begin[h], layout.middle[h]
            for at in range(examples.steps[begin + h], examples.steps[begin + h + 1]):
                rule = examples.rules[at]
                by_tag[tags[h], rule] = True
                if kinds[rule] == UNARY:
                    continue
                if left < layout.middle[h] and right < layout.end[h]:
                    dependents = layout.dependents
                    keys[count] = side_key(tags[h], tags[dependents[left]], tags[dependents[right]])
                    sides[count] = kinds[rule]
                    count += 1
                if kinds[rule] == LEFT:
                    left += 1
                else:
                    right += 1
    return keys[:count], sides[:count]
