"""Viterbi over the labels of one head's modifiers, under the constraints of the encoding (section 4.2).

Three ways to walk over the left modifiers l1, l2, ... and right modifiers r1, r2, ..., each outward:

FREE:    l1, l2, ..., r1, r2, ...: the paper's sequence model, which takes any label after any other.
NESTED:  the same, but numbers never fall on either side: all that the spine encoding asks of one head.
DIRECT, DELTA: in the order of attachment, within an event the left ones first. So what was taken is a left
         and b right ones, and a state is (a, b, label of la, label of rb, difference of their events). The
         next modifier joins the last event, and then has its symbol, or makes the next one. Every path is a
         nested order whose events are 1, 2, ... without gaps, and has one symbol for each: no repairs.

The score is a sum over arcs, over pairs of consecutive modifiers of one side, and over pairs that follow each
other in the walk from one side to the other. Exact, O(|L| |R| C^3) for C candidate labels at worst and far
less in fact, as the numbers of labels leave few states; heads with very many modifiers get a beam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reduction.labeler_features import (
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
CAPACITY = 1 << 17  # states of one head
FOUND = 1 << 20  # places to look one up
_LEAST_BEAM = 4
_TAKES_LEFT = np.int32(1 << 30)  # beside the number of the state before

Floats = NDArray[np.float32]


class Labels(NamedTuple):
    """L labels and which of them come into question.

    symbols, numbers: [L] of each label
    rows:       [tags, tags, 2] row of candidates for the tags of head and modifier, and the side
    wide:       [tags, 2] a longer row for the tag of the head, and the side
    begin:      [rows + 1] where a row begins in `candidates`
    candidates: labels
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
    labels: candidates, and `arcs` their scores, start and stop included
    before: [modifiers + 1] where in `pairs` each one's scores with the one before on its side begin
    pairs:  for each modifier [candidates of the one before, its own candidates]
    """

    place: int
    chain: Ints
    lefts: int
    begin: Ints
    labels: Ints
    arcs: Floats
    before: Ints
    pairs: Floats


class States(NamedTuple):
    """Room for CAPACITY states: candidates of la and rb, their distance in events, score, state before.

    found: [FOUND] the state of a cell by `_place`; -1 between cells
    """

    left: Ints
    right: Ints
    apart: Ints
    scores: Floats
    back: Ints
    found: Ints


@njit(cache=True, nogil=True)
def new_states() -> States:
    """Room for the states of one head."""
    ints = np.empty((4, CAPACITY), np.int32)
    scores, found = np.empty(CAPACITY, np.float32), np.full(FOUND, np.int32(-1))
    return States(ints[0], ints[1], ints[2], scores, ints[3], found)


@njit(cache=True, nogil=True, inline="always")
def pair_key(labels: Labels, before: int, label: int, joins: int) -> int:
    """The key of a pair of labels, -1 for start and stop; joins: whether both attach in one event."""
    size = len(labels.symbols) + 1
    return 3 * size + ((before + 1) * size + label + 1) * 2 + joins


@njit(cache=True, nogil=True, inline="always")
def symbol_key(labels: Labels, label: int) -> int:
    """The key of a label's symbol; the label's own key is its number."""
    return len(labels.symbols) + 1 + labels.symbols[label]


@njit(cache=True, nogil=True, inline="always")
def pair_score(
    labels: Labels, weights: Floats, atoms: Longs, before: int, label: int, joins: int
) -> np.float32:
    """The score of a pair with the atoms of `pair_atoms`."""
    key, mask, total = pair_key(labels, before, label, joins), len(weights) - 1, np.float32(0.0)
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
    chain, begin, before = (
        np.empty(size, np.int32),
        np.zeros(size + 1, np.int32),
        np.zeros(size + 1, np.int32),
    )
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
    mask = len(weights) - 1
    for at in range(size):
        right, m, low, high = int(at >= lefts), chain[at], begin[at], begin[at + 1]
        candidates[low:high] = labels.candidates[labels.begin[rows[at]] : labels.begin[rows[at] + 1]]
        if high - low > 1:
            for number in range(arc_atoms(s, h, chain, lefts, rights, at, atoms)):
                one, symbol = atoms[number], -1
                shared = np.float32(0.0)
                for c in range(low, high):  # candidates of one symbol stand together
                    label = candidates[c]
                    if labels.symbols[label] != symbol:
                        symbol = labels.symbols[label]
                        shared = weights[(one + symbol_key(labels, label)) & mask]
                    arcs[c] += shared + weights[(one + label) & mask]
        if at == 0 or at == lefts:
            pair_atoms(s, h, 0, m, START_LEFT + right, of_pair)
            for c in range(low, high):
                arcs[c] += pair_score(labels, weights, of_pair, -1, candidates[c], 0)
        else:
            pair_atoms(s, h, chain[at - 1], m, LEFT + right, of_pair)
            place = before[at]
            for b in range(begin[at - 1], low):
                for c in range(low, high):
                    joins = joins_before(labels, mode, candidates[b], candidates[c])
                    pairs[place] = pair_score(labels, weights, of_pair, candidates[b], candidates[c], joins)
                    place += 1
        if at + 1 == lefts or at + 1 == size:
            pair_atoms(s, h, m, 0, STOP_LEFT + right, of_pair)
            for c in range(low, high):
                arcs[c] += pair_score(labels, weights, of_pair, candidates[c], -1, 0)
    return Head(h, chain, lefts, begin, candidates, arcs, before, pairs)


@njit(cache=True, nogil=True)
def step_left(mode: int, first: bool, number: int, before: int, same: bool, apart: int) -> int:
    """By how many events a left modifier may stand above the one before it, -1 for not at all.

    number, before: of its label and of the label before it
    same:  whether both have one symbol
    apart: how far the event of the last left one is above that of the right
    """
    if mode == FREE or (mode == NESTED and (first or number >= before)):
        return 0
    if mode == NESTED:
        return -1
    rise = number if mode == DELTA or first else number - before
    if apart > 0:
        return rise if rise == 1 or (rise == 0 and same) else -1
    return rise if rise == 1 - apart else -1


@njit(cache=True, nogil=True)
def step_right(mode: int, first: bool, number: int, before: int, same: bool, apart: int) -> int:
    """The same for a right modifier.

    same: whether it has the symbol of the last left one where that is above, else of the one before it
    """
    if mode == FREE or (mode == NESTED and (first or number >= before)):
        return 0
    if mode == NESTED:
        return -1
    rise = number if mode == DELTA or first else number - before
    above = max(apart, 0)
    if rise == above + 1:
        return rise
    joins = rise == above and same and (apart > 0 or not first)
    return rise if joins else -1


@njit(cache=True, nogil=True, inline="always")
def _put(
    states: States, cell: Ints, shape: Ints, x: int, y: int, apart: int, score: float, back: int
) -> None:
    """Adds a state to a cell, or betters the equal one, or in a full cell the worst.

    cell:  [2] where it begins and ends so far
    shape: [5] first candidates of left and right, candidates of right, span of distances, beam
    """
    place = _place(shape, x, y, apart)
    at = states.found[place]
    if at < 0:
        at = cell[1]
        if at - cell[0] < shape[4]:
            cell[1] += 1
        else:
            at = cell[0] + int(np.argmin(states.scores[cell[0] : at]))
            if score <= states.scores[at]:
                return
            states.found[_place(shape, states.left[at], states.right[at], states.apart[at])] = -1
        states.scores[at] = -np.inf
        states.found[place] = at
    if score > states.scores[at]:
        states.left[at], states.right[at], states.apart[at] = x, y, apart
        states.scores[at], states.back[at] = score, back


@njit(cache=True, nogil=True, inline="always")
def _place(shape: Ints, x: int, y: int, apart: int) -> int:
    """Of a state in `found`."""
    left, right = max(x - shape[0], -1) + 1, max(y - shape[1], -1) + 1
    return (left * shape[2] + right) * (2 * shape[3] + 1) + apart + shape[3]


@njit(cache=True, nogil=True)
def _take_left(
    s: Sentence,
    head: Head,
    labels: Labels,
    weights: Floats,
    mode: int,
    states: States,
    prior: Ints,
    cell: Ints,
    shape: Ints,
    a: int,
    b: int,
) -> None:
    """Adds to the cell (a, b) what comes from (a - 1, b), the prior states."""
    begin, of, m = head.begin, head.labels, a - 1
    low, high, symbols, numbers = begin[m], begin[m + 1], labels.symbols, labels.numbers
    if b > 0:
        r = head.lefts + b - 1
        atoms, across = across_cache(s, head, r, m, ACROSS_LEFT)
    for state in range(prior[0], prior[1]):
        x, y, apart = states.left[state], states.right[state], states.apart[state]
        before = of[x] if a > 1 else -1
        for c in range(low, high):
            label = of[c]
            same = symbols[label] == symbols[before]
            rise = step_left(mode, a == 1, numbers[label], numbers[before], same, apart)
            if rise < 0:
                continue
            score = states.scores[state] + head.arcs[c]
            if a > 1:
                score += head.pairs[head.before[m] + (x - begin[m - 1]) * (high - low) + c - low]
            if b > 0 and apart <= 0:
                slot = (y - begin[r]) * (high - low) + c - low
                if np.isnan(across[slot, 0]):
                    across[slot, 0] = pair_score(labels, weights, atoms, of[y], label, 0)
                score += across[slot, 0]
            _put(states, cell, shape, c, y, apart + rise, score, state | _TAKES_LEFT)


@njit(cache=True, nogil=True)
def _take_right(
    s: Sentence,
    head: Head,
    labels: Labels,
    weights: Floats,
    mode: int,
    states: States,
    prior: Ints,
    cell: Ints,
    shape: Ints,
    a: int,
    b: int,
) -> None:
    """Adds to the cell (a, b) what comes from (a, b - 1), the prior states."""
    begin, of, m = head.begin, head.labels, head.lefts + b - 1
    low, high, symbols, numbers = begin[m], begin[m + 1], labels.symbols, labels.numbers
    walk = mode <= NESTED
    turns = a > 0 and (b == 1 or not walk)
    if turns:
        atoms, across = across_cache(s, head, a - 1, m, ACROSS_RIGHT)
    for state in range(prior[0], prior[1]):
        x, y, apart = states.left[state], states.right[state], states.apart[state]
        before = of[y] if b > 1 else -1
        last_left = of[x] if x >= 0 else -1
        event = last_left if apart > 0 else before
        for c in range(low, high):
            label = of[c]
            same = symbols[label] == symbols[event]
            rise = step_right(mode, b == 1, numbers[label], numbers[before], same, apart)
            if rise < 0:
                continue
            score = states.scores[state] + head.arcs[c]
            if b > 1:
                score += head.pairs[head.before[m] + (y - begin[m - 1]) * (high - low) + c - low]
            if turns and (walk or apart > 0):
                joins = int(not walk and rise == apart)
                slot = (x - begin[a - 1]) * (high - low) + c - low
                if np.isnan(across[slot, joins]):
                    across[slot, joins] = pair_score(labels, weights, atoms, last_left, label, joins)
                score += across[slot, joins]
            _put(states, cell, shape, -1 if walk else x, c, apart - rise, score, state)


@njit(cache=True, nogil=True)
def across_cache(s: Sentence, head: Head, before: int, at: int, code: int) -> tuple[Longs, Floats]:
    """The atoms of a pair across the sides, and room for its scores, not known yet."""
    begin = head.begin
    atoms = np.empty(PAIR_ATOMS, np.int64)
    pair_atoms(s, head.place, head.chain[before], head.chain[at], code, atoms)
    size = (begin[before + 1] - begin[before]) * (begin[at + 1] - begin[at])
    return atoms, np.full((size, 2), np.float32(np.nan))


@njit(cache=True, nogil=True)
def viterbi(
    s: Sentence, head: Head, labels: Labels, weights: Floats, mode: int, states: States, best: Ints
) -> bool:
    """Writes the labels of the best path to best, by place in the sentence; False where there is no path."""
    lefts, size, walk = head.lefts, len(head.chain), mode <= NESTED
    rights = size - lefts
    cells = size + 1 if walk else (lefts + 1) * (rights + 1)
    shape = np.array([0, 0, 0, 0 if walk else size, CAPACITY // cells], np.int32)
    most = np.diff(head.begin).max() + 1
    if shape[4] < _LEAST_BEAM or most * most * (2 * shape[3] + 1) > FOUND:
        return False
    cell = np.zeros((cells, 2), np.int32)
    states.left[0], states.right[0], states.apart[0], states.scores[0] = -1, -1, 0, 0.0
    cell[0, 1] = end = 1
    row = 1 if walk else rights + 1  # the cell (a, b) has the number a * row + b
    for a in range(lefts + 1):
        for b in range(rights + 1):
            if a + b == 0 or (walk and a < lefts and b > 0):
                continue
            at = a * row + b
            cell[at] = end
            shape[0] = head.begin[a - 1] if a else 0
            shape[1] = head.begin[lefts + b - 1] if b else 0
            shape[2] = head.begin[lefts + b] - shape[1] + 1 if b else 1
            if a > 0 and not (walk and b > 0):
                _take_left(s, head, labels, weights, mode, states, cell[at - row], cell[at], shape, a, b)
            if b > 0:
                _take_right(s, head, labels, weights, mode, states, cell[at - 1], cell[at], shape, a, b)
            end = cell[at, 1]
            for state in range(cell[at, 0], end):
                states.found[_place(shape, states.left[state], states.right[state], states.apart[state])] = -1
    start, end = cell[-1]
    if start == end:
        return False
    state = start + int(np.argmax(states.scores[start:end]))
    a, b = lefts, rights
    while a + b:
        back = states.back[state]
        if back & _TAKES_LEFT:
            a -= 1
            best[head.chain[a]] = head.labels[states.left[state]]
        else:
            b -= 1
            best[head.chain[lefts + b]] = head.labels[states.right[state]]
        state = back & ~_TAKES_LEFT
    return True
