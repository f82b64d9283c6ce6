"""What routes learn of packed arcs: features of an arc and of what its label says, beside their own.

They stand in the same table of weights. An arc is seen by its probability, in bins, with its rank among the
likely heads of its word, with the two words, and with how far it reaches; a symbol that it makes, by the
probability that the arc's labels give it. The first two templates of either kind have the logarithm of the
probability as their value, all others 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Ints, Longs
from d2c.learning.adagrad import Gradient, add
from d2c.learning.kernels import inner, kernel, lean
from d2c.learning.templates import atom_of, names_in, rows
from d2c.packed.arcs import PackedArcs

# bin: of the probability; rank: how many arcs of the word are more probable; own: whether the arc is in the
# d-parser's tree; heads: how many arcs the word has; far: how far, and in which direction, the arc reaches;
# likely: whether no symbol has a more probable label
FIELDS = ("bin", "rank", "own", "heads", "far", "likely", "tag[m]", "tag[h]", "word[m]")
_BIN, _RANK, _OWN, _HEADS, _FAR, _LIKELY, _TAG_M, _TAG_H, _WORD_M = range(len(FIELDS))
VALUED = 2  # templates of either kind with the logarithm as their value
ARC_TEMPLATES = rows(
    names_in(
        "-, tag[m], bin, bin rank own, bin own heads, bin far, rank own tag[m] far,"
        "bin tag[m], bin tag[h], bin tag[m] tag[h], bin word[m]"
    ),
    FIELDS,
)
# Conjoined with the symbol, except the first and the last
SYMBOL_TEMPLATES = rows(names_in("-, -, bin, bin likely, bin rank, likely own"), FIELDS)
_BINS = np.log(
    [0.003, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995]
).astype(np.float32)
_FARTHEST = np.array([1, 2, 3, 4, 6, 9, 14, 20])  # upper bounds of the first eight of the nine distances
_MOST_RANK, _MOST_HEADS, _NEAR = 3, 4, np.float32(0.001)
_OF_ARC, _OF_SYMBOL = 5, 6  # salts; parts have others, and pairs of the labeler greater keys

# What features see of a token: its word, its tag, its head in the d-parser's own tree (1..n, 0 = root). A
# sentence has a token of zeros before and after it; `d2c.cky.search.skeleton.TOKEN` has more fields
OBSERVED_TOKEN = np.dtype([(name, np.int32) for name in ("word", "tag", "head")], align=True)
ObservedTokens = NDArray[np.void]  # [n + 2]


class ArcFeatures(NamedTuple):
    """The features of A arcs, as slots of the table of weights, and their values.

    arcs:    [A, features] slots of each arc
    logs:    [A] logarithms of the probabilities of arcs
    symbols: [A, S, features] slots of each symbol that an arc may make; [0, 0, features] without labels
    labels:  [A, S] logarithms of the probabilities that an arc's labels give to symbols, or [0, 0]
    """

    arcs: Longs
    logs: Floats
    symbols: Longs
    labels: Floats

    @classmethod
    def of(cls, observed: ObservedTokens, arcs: PackedArcs, labels: Floats, size: int) -> ArcFeatures:
        """Return the features of the arcs of a sentence.

        observed: [n + 2] tokens with the d-parser's own heads
        labels:   [A, S] as in the attribute, or [0, 0]
        size:     of the table of weights
        """
        slots = _slots(observed, arcs.begin, arcs.heads, arcs.logs, labels, size - 1)
        return cls(slots[0], arcs.logs, slots[1], labels)

    def scores(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return what each arc adds to a score [A], and what each symbol that it may make adds [A, S]."""
        flat = self.symbols.reshape(-1, self.symbols.shape[-1])
        of_symbols = _totals(flat, self.labels.ravel(), weights)
        return _totals(self.arcs, self.logs, weights), of_symbols.reshape(self.labels.shape)


@lean
def _bin(log: np.float32) -> int:
    """Return the number of a probability's bin."""
    number = 0
    for bound in _BINS:
        number += int(bound < log)
    return number


@lean
def _fill_numbers(
    observed: ObservedTokens, begin: Ints, heads: Ints, logs: Floats, place: tuple[int, int], numbers: Longs
) -> None:
    """Write the fields of an arc into `numbers` [fields + 1].

    observed: [n + 2] tokens; begin: [n + 1]; heads, logs: [A]
    place:    the word that the arc leads to, and the number of the arc
    """
    m, arc = place
    h, rank, distance = heads[arc], 0, 0
    for other in range(begin[m], begin[m + 1]):
        rank += int(logs[other] > logs[arc])
    for bound in _FARTHEST:
        distance += int(bound < abs(h - m - 1))
    numbers[_BIN], numbers[_LIKELY] = _bin(logs[arc]), 0
    numbers[_RANK], numbers[_HEADS] = min(rank, _MOST_RANK), min(begin[m + 1] - begin[m], _MOST_HEADS)
    numbers[_OWN] = int(observed[m + 1]["head"] == h)
    numbers[_FAR] = 0 if h == 0 else 1 + 2 * distance + int(h > m)
    numbers[_TAG_M], numbers[_TAG_H] = observed[m + 1]["tag"], observed[np.int64(h)]["tag"]
    numbers[_WORD_M] = observed[m + 1]["word"]


@lean
def _fill_symbols(labels: Floats, mask: int, numbers: Longs, slots: Longs) -> None:
    """Write the `slots` [S, features] of the symbols that an arc may make. labels: [S] of this arc"""
    most, last = labels[0], len(SYMBOL_TEMPLATES) - 1
    for log in labels:
        most = max(most, log)
    for symbol in range(len(labels)):
        if symbol and labels[symbol] == labels[symbol - 1]:  # as of most symbols that no label names
            for template in range(last + 1):
                key = 1 if 0 < template < last else 0
                slots[symbol, template] = (slots[symbol - 1, template] + key) & mask
            continue
        numbers[_BIN] = _bin(labels[symbol])
        numbers[_LIKELY] = int(labels[symbol] > most - _NEAR)
        for template in range(last + 1):
            key = symbol + 1 if 0 < template < last else 0
            atom = atom_of(numbers, SYMBOL_TEMPLATES, np.uint64(template), _OF_SYMBOL)
            slots[symbol, template] = (atom + key) & mask


@kernel
def _slots(
    observed: ObservedTokens, begin: Ints, heads: Ints, logs: Floats, labels: Floats, mask: int
) -> tuple[Longs, Longs]:
    """Return the slots of the features of arcs [A, features], and of symbols [A, S, features].

    observed: [n + 2] tokens; begin: [n + 1]; heads, logs: [A]; labels: [A, S], or [0, 0]
    """
    arcs = np.empty((len(heads), len(ARC_TEMPLATES)), np.int64)
    symbols = np.empty((*labels.shape, len(SYMBOL_TEMPLATES)), np.int64)
    numbers = np.zeros(len(FIELDS) + 1, np.int64)
    for m in range(len(begin) - 1):
        for arc in range(begin[m], begin[m + 1]):
            _fill_numbers(observed, begin, heads, logs, (m, arc), numbers)
            for template in range(len(ARC_TEMPLATES)):
                arcs[arc, template] = atom_of(numbers, ARC_TEMPLATES, np.uint64(template), _OF_ARC) & mask
            if len(labels):
                _fill_symbols(labels[arc], mask, numbers, symbols[arc])
    return arcs, symbols


@kernel
def _totals(slots: Longs, logs: Floats, weights: Floats) -> Floats:
    """Return the sums [N] of weights times values. slots: [N, features]; logs: [N]"""
    totals = np.zeros(len(slots), np.float32)
    for i in range(len(slots)):
        for feature in range(slots.shape[1]):
            value = logs[i] if feature < VALUED else np.float32(1.0)
            totals[i] += value * weights[slots[i, feature]]
    return totals


@inner
def _add_all(gradient: Gradient, slots: Longs, log: float, sign: float) -> None:
    """Add the features in these slots [features] to a gradient."""
    for feature in range(len(slots)):
        add(gradient, slots[feature], sign * log if feature < VALUED else sign)


@kernel
def add_arcs(gradient: Gradient, features: ArcFeatures, places: Longs, symbols: Longs, sign: float) -> None:
    """Add the features of the arcs of a derivation to a gradient.

    places: [P] the arc of each part, or -1; symbols: [P] the symbol that it makes, or -1
    """
    for i in range(len(places)):
        place, symbol = places[i], symbols[i]
        if place >= 0:
            _add_all(gradient, features.arcs[place], features.logs[place], sign)
            if symbol >= 0 and len(features.labels):
                log = features.labels[place, symbol]
                _add_all(gradient, features.symbols[place, symbol], log, sign)
