"""Which arcs of a sentence are kept, in a kernel."""

from __future__ import annotations

import numpy as np

from d2c.base.arrays import Floats, Ints, Longs
from d2c.learning.kernels import kernel


@kernel
def kept_arcs(
    begin: Ints, heads: Ints, logs: Floats, trees: Longs, least: float
) -> tuple[Ints, Ints, Floats, Longs]:
    """Return `begin`, `heads`, `logs` as of `PackedArcs.kept`; the number of each arc, or -1: only in a tree.

    begin: [n + 1]; heads, logs: [A]; trees: [T, n] heads
    """
    n, most, count = len(begin) - 1, len(heads) + trees.size, 0
    bounds, kept, rows = np.zeros(n + 1, np.int32), np.empty(most, np.int32), np.empty(most, np.int64)
    exact = np.empty(most, np.float64)
    for m in range(n):
        first, lowest = count, np.float32(np.inf)
        for arc in range(begin[m], begin[m + 1]):
            stays, lowest = np.exp(np.float64(logs[arc])) >= least, min(lowest, logs[arc])
            for tree in range(len(trees)):
                stays = stays or trees[tree, m] == heads[arc]
            if stays:
                kept[count], exact[count], rows[count] = heads[arc], logs[arc], arc
                count += 1
        for tree in range(len(trees)):
            place = count
            while place > first and kept[place - 1] > trees[tree, m]:
                place -= 1
            if place == first or kept[place - 1] != trees[tree, m]:
                for i in range(count, place, -1):
                    kept[i], exact[i], rows[i] = kept[i - 1], exact[i - 1], rows[i - 1]
                kept[place], exact[place], rows[place] = trees[tree, m], lowest, -1
                count += 1
        total = -np.inf
        for i in range(first, count):
            total = np.logaddexp(total, exact[i])
        for i in range(first, count):
            exact[i] -= total
        bounds[m + 1] = count
    return bounds, kept[:count], exact[:count].astype(np.float32), rows[:count]
