"""Which labels a head's modifiers may have, and the scores of arcs and pairs (section 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.reduction.labeler.features import (
    ARC_ATOMS,
    PAIR_ATOMS,
    Ints,
    Longs,
    Sentence,
    arc_atoms,
    outward,
    pair_atoms,
)

FREE, NESTED, DIRECT, DELTA = range(4)
LEFT, RIGHT, ACROSS_LEFT, ACROSS_RIGHT, START_LEFT, START_RIGHT, STOP_LEFT, STOP_RIGHT = range(8)

Floats = NDArray[np.float32]


class Labels(NamedTuple):
    """L labels, and which of them a modifier may have.

    symbols, numbers: [L] of each label
    rows:       [tags, tags, 2] row of candidates for the tags of head and modifier, and the side
    wide:       [tags, 2] a longer row for the tag of the head, and the side
    begin:      [rows + 1] where a row begins in `candidates`
    candidates: labels, in each row by number
    """

    symbols: Ints
    numbers: Ints
    rows: Ints
    wide: Ints
    begin: Ints
    candidates: Ints


class Head(NamedTuple):
    """A head with its modifiers, l1, l2, ..., r1, r2, ..., and all scores but those across the sides.

    lefts:  how many modifiers are on the left
    begin:  [modifiers + 1] where their candidates begin
    labels: candidates, `numbers` of each, and `arcs` their scores, start and stop included
    before: [modifiers + 1] where in `pairs` each one's scores with the one before on its side begin
    pairs:  for each modifier [candidates of the one before, its own candidates]
    """

    place: int
    chain: Ints
    lefts: int
    begin: Ints
    labels: Ints
    numbers: Ints
    arcs: Floats
    before: Ints
    pairs: Floats


@njit(cache=True, nogil=True, inline="always")
def pair_key(count: int, before: int, label: int, joins: int) -> int:
    """The key of a pair of `count` labels, -1 for start and stop; joins: whether both attach in one event."""
    size = count + 1
    return 3 * size + ((before + 1) * size + label + 1) * 2 + joins


@njit(cache=True, nogil=True, inline="always")
def symbol_key(labels: Labels, label: int) -> int:
    """The key of a label's symbol; the label's own key is its number."""
    return len(labels.symbols) + 1 + labels.symbols[label]


@njit(cache=True, nogil=True)
def pair_score(count: int, weights: Floats, atoms: Longs, before: int, label: int, joins: int) -> np.float32:
    """The score of a pair with the atoms of `pair_atoms`; count: of labels."""
    key, mask, total = pair_key(count, before, label, joins), len(weights) - 1, np.float32(0.0)
    for atom in atoms:
        total += weights[(atom + key) & mask]
    return total


@njit(cache=True, nogil=True, inline="always")
def joins_before(labels: Labels, mode: int, before: int, label: int) -> int:
    """Whether a modifier joins the event of the one before it on its side."""
    return int(labels.numbers[label] == (0 if mode == DELTA else labels.numbers[before]))


@njit(cache=True, nogil=True)
def prepare(s: Sentence, h: int, labels: Labels, weights: Floats, mode: int, wide: bool) -> Head:
    """A head with its modifiers' candidates and scores."""
    size = s.begin[h + 1] - s.begin[h]
    chain, begin = np.empty(size, np.int32), np.zeros(size + 1, np.int32)
    before = np.zeros(size + 1, np.int32)
    lefts, rights = outward(s, h, chain)
    rows = np.empty(size, np.int32)
    for at in range(size):
        side = int(at >= lefts)
        rows[at] = labels.wide[s.tags[h], side] if wide else labels.rows[s.tags[h], s.tags[chain[at]], side]
        count = labels.begin[rows[at] + 1] - labels.begin[rows[at]]
        begin[at + 1] = begin[at] + count
        inner = 0 if at == 0 or at == lefts else begin[at] - begin[at - 1]
        before[at + 1] = before[at] + inner * count
    candidates, arcs = np.empty(begin[size], np.int32), np.zeros(begin[size], np.float32)
    pairs = np.empty(before[size], np.float32)
    atoms, of_pair = np.empty(ARC_ATOMS, np.int64), np.empty(PAIR_ATOMS, np.int64)
    mask, count = len(weights) - 1, len(labels.symbols)
    for at in range(size):
        right, m, low, high = int(at >= lefts), chain[at], begin[at], begin[at + 1]
        candidates[low:high] = labels.candidates[labels.begin[rows[at]] : labels.begin[rows[at] + 1]]
        if high - low > 1:
            for number in range(arc_atoms(s, h, chain, lefts, rights, at, atoms)):
                one = atoms[number]
                for c in range(low, high):
                    label = candidates[c]
                    shared = weights[(one + symbol_key(labels, label)) & mask]
                    arcs[c] += shared + weights[(one + label) & mask]
        if at == 0 or at == lefts:
            pair_atoms(s, h, 0, m, START_LEFT + right, of_pair)
            for c in range(low, high):
                arcs[c] += pair_score(count, weights, of_pair, -1, candidates[c], 0)
        else:
            pair_atoms(s, h, chain[at - 1], m, LEFT + right, of_pair)
            place = before[at]
            for b in range(begin[at - 1], low):
                for c in range(low, high):
                    joins = joins_before(labels, mode, candidates[b], candidates[c])
                    pairs[place] = pair_score(count, weights, of_pair, candidates[b], candidates[c], joins)
                    place += 1
        if at + 1 == lefts or at + 1 == size:
            pair_atoms(s, h, m, 0, STOP_LEFT + right, of_pair)
            for c in range(low, high):
                arcs[c] += pair_score(count, weights, of_pair, candidates[c], -1, 0)
    return Head(h, chain, lefts, begin, candidates, labels.numbers[candidates], arcs, before, pairs)
