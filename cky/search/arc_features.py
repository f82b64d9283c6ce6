"""What is learned of packed arcs: features of an arc, and of what its label says, beside those of parts.

An arc has the same weight table as parts have. Its features are how probable it is, in bins and as a
logarithm, its rank among the likely heads of its word and whether the d-parser chose it, with the words around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.search.layout import Observed
from d2c.forests.forest import Floats, Ints
from d2c.linear.kernels import kernel
from d2c.linear.templates import Longs, Rows, atom_of, rows
from d2c.packed.arcs import PackedArcs

BINS = np.log([0.003, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995]).astype(np.float32)
DISTANCES = np.array([1, 2, 3, 4, 6, 9, 14, 20])
FIELDS = ("bin", "rank", "own", "tag[m]", "tag[h]", "word[m]", "word[h]", "distance", "best", "among")
ARC = (
    "", "tag[m]",  # with the logarithm
    "bin", "bin rank own", "bin tag[m]", "bin tag[h]", "bin tag[m] tag[h]", "bin distance", "bin word[m]", "bin own among",
    "rank own tag[m] distance",
)
VALUED = 2
SYMBOL = ("", "", "bin", "bin best", "best own", "bin rank")  # the first two with the logarithm
ARCS, SYMBOLS = 5, 6  # salts
TABLES = rows(ARC, FIELDS), rows(SYMBOL, FIELDS)


class ArcSlots(NamedTuple):
    """arcs: [A, F]; symbols [A, S, G]; first are those whose value is a logarithm, others' is 1."""

    arcs: Longs
    symbols: Longs


@kernel
def slots_of(observed: Observed, begin: Ints, heads: Ints, logs: Floats, own: Ints, labels: Floats, bins: Floats, distances: Longs, table: Rows, of_symbols: Rows, mask: int):
    numbers = np.zeros(11, np.int64)
    size = labels.shape[1]
    arcs, symbols = np.empty((len(heads), len(table)), np.int64), np.empty((len(labels), size, len(of_symbols)), np.int64)
    for m in range(len(begin) - 1):
        for a in range(begin[m], begin[m + 1]):
            h = heads[a]
            rank = 0
            for b in range(begin[m], begin[m + 1]):
                rank += int(logs[b] > logs[a])
            numbers[0] = np.searchsorted(bins, logs[a])
            numbers[1], numbers[2] = min(rank, 3), int(own[m] == h)
            numbers[3], numbers[4] = observed["tag"][m + 1], observed["tag"][h]
            numbers[5], numbers[6] = observed["word"][m + 1], observed["word"][h]
            far = abs(h - m - 1)
            distance = 0
            for one in distances:
                distance += int(far > one)
            numbers[7] = 0 if h == 0 else (1 + 2 * distance + int(h > m))
            numbers[8] = 0
            numbers[9] = min(4, begin[m + 1] - begin[m])
            for t in range(len(table)):
                arcs[a, t] = atom_of(numbers, table, np.uint64(t), 5) & mask
            if size:
                best = labels[a].max()
                for s in range(size):
                    numbers[0] = np.searchsorted(bins, labels[a, s])
                    numbers[8] = int(labels[a, s] > best - 0.001)
                    for t in range(len(of_symbols)):
                        atom = atom_of(numbers, of_symbols, np.uint64(t), 6)
                        symbols[a, s, t] = (atom + (s + 1) * int(t > 0 and t != 4)) & mask
    return arcs, symbols


@kernel
def score_slots(slots: Longs, logs: Floats, valued: int, weights: Floats) -> Floats:
    scores = np.zeros(len(slots), np.float32)
    for i in range(len(slots)):
        for t in range(slots.shape[1]):
            scores[i] += weights[slots[i, t]] * (logs[i] if t < valued else np.float32(1.0))
    return scores


def arc_slots(observed: Observed, arcs: PackedArcs, own: NDArray, labels: Floats, mask: int) -> ArcSlots:
    return ArcSlots(*slots_of(observed, arcs.begin, arcs.heads, arcs.logs, np.asarray(own, np.int32), labels, BINS, DISTANCES, *TABLES, mask))
