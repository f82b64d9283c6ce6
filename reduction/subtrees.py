"""The first and the last token beneath each node, for all nodes of many trees at once."""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Longs


def spans(first: Longs, last: Longs, parents: Longs) -> tuple[Longs, Longs]:
    """Return the least of `first` and the greatest of `last` in each node's subtree [N]. Takes log(depth)
    rounds.

    parents: [N] of each node; a root's is itself. Where the parents form cycles, whatever comes of that.
    """
    first, last = first.copy(), last.copy()
    for _ in range(len(parents).bit_length()):
        # Now `parents` are the ancestors at distance 2^round, or roots.
        np.minimum.at(first, parents, first.copy())  # that values count twice does no harm
        np.maximum.at(last, parents, last.copy())
        further = parents[parents]
        if (further == parents).all():
            break
        parents = further
    return first, last
