"""The first and the last token beneath each node, for all nodes of many trees at once."""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Longs


def spans(first: Longs, last: Longs, parents: Longs) -> tuple[Longs, Longs]:
    """Return the least of `first` and the greatest of `last` in each node's subtree [N]. Takes log(depth)
    rounds.

    parents: [N] of each node; a root is its own parent. Where parents form a cycle, the result is arbitrary.
    """
    first, last = first.copy(), last.copy()
    for _ in range(len(parents).bit_length()):
        # Now `parents` are the ancestors at distance 2^round, or roots.
        np.minimum.at(first, parents, first.copy())  # values that count twice do no harm
        np.maximum.at(last, parents, last.copy())
        further = parents[parents]
        if (further == parents).all():
            break
        parents = further
    return first, last
