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

from d2c.reduction.labeler.features import PAIR_ATOMS, Ints, Longs, Sentence, pair_atoms
from d2c.reduction.labeler.scores import (
    ACROSS_LEFT,
    ACROSS_RIGHT,
    DELTA,
    FREE,
    NESTED,
    Floats,
    Head,
    Labels,
    pair_score,
)

CAPACITY = 1 << 17  # states of one head
FOUND = 1 << 20  # places to look one up, at most
_LEAST_BEAM = 4
_ENDLESS = 1 << 30  # above every label's number
_TAKES_LEFT = np.int32(1 << 30)  # beside the number of the state before


class States(NamedTuple):
    """Room for CAPACITY states of one head.

    entries: [CAPACITY, 4] candidates of la and rb, their distance in events, state before
    scores:  [CAPACITY]
    found:   the state of a cell by `_place`; -1 between cells
    across:  scores of a pair across the sides, of those labels where `known` is `turn`, its number
    """

    entries: Ints
    scores: Floats
    found: Ints
    across: Floats
    known: Ints
    turn: Ints


@njit(cache=True, nogil=True)
def new_states(labels: Labels, longest: int) -> States:
    """Room for the states of one head at a time, in sentences of at most so many tokens."""
    pairs = (np.diff(labels.begin).max() + 1) ** 2  # of candidates
    entries, scores = np.empty((CAPACITY, 4), np.int32), np.empty(CAPACITY, np.float32)
    found = np.full(min(pairs * (2 * longest + 1), FOUND), np.int32(-1))
    across, known = np.empty(2 * pairs, np.float32), np.zeros(2 * pairs, np.int32)
    return States(entries, scores, found, across, known, np.zeros(1, np.int32))


@njit(cache=True, nogil=True, inline="always")
def rises_left(apart: int) -> tuple[int, int]:
    """By how many events a left modifier is above the one before it: if it joins the last event (-1: it
    cannot), and if not.

    apart: how far the event of the last left one is above that of the right
    """
    return (0 if apart > 0 else -1), max(1 - apart, 1)


@njit(cache=True, nogil=True, inline="always")
def rises_right(apart: int, first: bool) -> tuple[int, int]:
    """By how many events a right modifier is above the one before it; it may join that one's event, too."""
    return (-1 if first and apart <= 0 else max(apart, 0)), max(apart, 0) + 1


@njit(cache=True, nogil=True, inline="always")
def step(mode: int, first: bool, number: int, before: int, same: bool, rises: tuple[int, int]) -> int:
    """By how many events a label puts a modifier above the one before it on its side; -1: not allowed.

    number, before: of the label and of the one before it
    same: whether it has the symbol of the event that it may join
    """
    if mode <= NESTED:
        return 0 if mode == FREE or first or number >= before else -1
    rise = number if mode == DELTA or first else number - before
    return rise if rise == rises[1] or (rise == rises[0] and same) else -1


@njit(cache=True, nogil=True, inline="always")
def reach(mode: int, first: bool, before: int, rises: tuple[int, int]) -> tuple[int, int]:
    """The least and the greatest number of a label that `step` may allow."""
    if mode <= NESTED:
        return -1, _ENDLESS
    base = 0 if mode == DELTA or first else before
    return base + (rises[0] if rises[0] >= 0 else rises[1]), base + rises[1]


@njit(cache=True, nogil=True, inline="always")
def _place(shape: tuple[int, int, int, int], x: int, y: int, apart: int) -> int:
    """Of a state in `found`.

    shape: first candidates of left and right, how many of the right and none, span of distances
    """
    left, right = max(x - shape[0], -1) + 1, max(y - shape[1], -1) + 1
    return (left * shape[2] + right) * (2 * shape[3] + 1) + apart + shape[3]


@njit(cache=True, nogil=True)
def _worst(states: States, shape: tuple[int, int, int, int], start: int, end: int, score: float) -> int:
    """The place of the worst state of a full cell, where a better one is to stand; -1 where none is."""
    entries, scores = states.entries, states.scores
    worst = start + int(np.argmin(scores[start:end]))
    if score <= scores[worst]:
        return -1
    states.found[_place(shape, entries[worst, 0], entries[worst, 1], entries[worst, 2])] = -1
    return worst


# In what follows, loops see arrays as local variables and seldom pass one on: numba counts references to an
# array whenever it comes out of a tuple or goes into a function, which takes longer than the rest.


@njit(cache=True, nogil=True)
def _take(
    s: Sentence,
    head: Head,
    labels: Labels,
    weights: Floats,
    mode: int,
    states: States,
    prior: Ints,
    cell: tuple[int, int],
    shape: tuple[int, int, int, int],
    beam: int,
    a: int,
    b: int,
    left: bool,
) -> int:
    """Adds to the cell (a, b) what comes of the prior states by taking la or rb; where the cell ends then."""
    of, numbers, symbols, arcs, pairs = head.labels, head.numbers, labels.symbols, head.arcs, head.pairs
    entries, scores, found, across, known, _ = states
    count, walk, first = len(symbols), mode <= NESTED, (a if left else b) == 1
    m, other = (a - 1, head.lefts + b - 1) if left else (head.lefts + b - 1, a - 1)
    turns = (b if left else a) > 0 and (first or not walk)
    low, high, inner = head.begin[m], head.begin[m + 1], head.before[m]
    low_before, low_across = 0 if first else head.begin[m - 1], head.begin[other] if turns else 0
    atoms, turn = next_pair(s, head, other if turns else m, m, ACROSS_LEFT if left else ACROSS_RIGHT, states)
    (start, end), width = cell, high - low
    for state in range(prior[0], prior[1]):
        x, y, apart = entries[state, 0], entries[state, 1], entries[state, 2]
        own, opposite = (x, y) if left else (y, x)
        before, last = (-1, 0) if first else (of[own], numbers[own])
        event = of[x] if not left and apart > 0 else before
        rises = rises_left(apart) if left else rises_right(apart, first)
        least, most = reach(mode, first, last, rises)
        crosses = turns and (walk or (apart <= 0 if left else apart > 0))
        for c in range(low, high):
            if numbers[c] < least:
                continue
            if numbers[c] > most:
                break
            label = of[c]
            rise = step(mode, first, numbers[c], last, symbols[label] == symbols[event], rises)
            if rise < 0:
                continue
            score = scores[state] + arcs[c]
            if not first:
                score += pairs[inner + (own - low_before) * width + c - low]
            if crosses:
                joins = int(not left and not walk and rise == apart)
                slot = 2 * ((opposite - low_across) * width + c - low) + joins
                if known[slot] != turn:
                    known[slot] = turn
                    across[slot] = pair_score(count, weights, atoms, of[opposite], label, joins)
                score += across[slot]
            x1, y1 = (c, y) if left else (-1 if walk else x, c)
            apart1 = apart + rise if left else apart - rise
            place = _place(shape, x1, y1, apart1)
            at = found[place]
            if at >= 0:
                if score <= scores[at]:
                    continue
            elif end - start < beam:
                at = found[place] = end
                end += 1
            else:
                at = found[place] = _worst(states, shape, start, end, score)
                if at < 0:
                    continue
            entries[at, 0], entries[at, 1], entries[at, 2] = x1, y1, apart1
            scores[at], entries[at, 3] = score, state | _TAKES_LEFT if left else state
    return end


@njit(cache=True, nogil=True)
def next_pair(s: Sentence, head: Head, before: int, at: int, code: int, states: States) -> tuple[Longs, int]:
    """The atoms of a pair across the sides, and its number; none of its scores is known."""
    atoms = np.empty(PAIR_ATOMS, np.int64)
    pair_atoms(s, head.place, head.chain[before], head.chain[at], code, atoms)
    states.turn[0] += 1
    return atoms, states.turn[0]


@njit(cache=True, nogil=True)
def viterbi(
    s: Sentence, head: Head, labels: Labels, weights: Floats, mode: int, states: States, best: Ints
) -> bool:
    """Writes the labels of the best path to best, by place in the sentence; False where there is no path."""
    lefts, size, walk = head.lefts, len(head.chain), mode <= NESTED
    rights, begin = size - lefts, head.begin
    cells = size + 1 if walk else (lefts + 1) * (rights + 1)
    beam, span = CAPACITY // cells, 0 if walk else size
    widest = np.diff(begin).max() + 1
    if beam < _LEAST_BEAM or widest * widest * (2 * span + 1) > FOUND:
        return False
    entries, scores, found = states.entries, states.scores, states.found
    entries[0, 0], entries[0, 1], entries[0, 2], scores[0] = -1, -1, 0, 0.0
    cell = np.zeros((cells, 2), np.int32)
    cell[0, 1] = end = 1
    row = 1 if walk else rights + 1  # the cell (a, b) has the number a * row + b
    for a in range(lefts + 1):
        for b in range(rights + 1):
            if a + b == 0 or (walk and a < lefts and b > 0):
                continue
            at, r = a * row + b, lefts + b - 1
            cell[at, 0] = start = end
            shape = (
                int(begin[a - 1]) if a else 0,
                int(begin[r]) if b else 0,
                int(begin[r + 1] - begin[r]) + 1 if b else 1,
                span,
            )
            for left in (True, False):
                if (a > 0 and not (walk and b > 0)) if left else b > 0:
                    prior, so_far = cell[at - (row if left else 1)], (start, end)
                    end = _take(
                        s, head, labels, weights, mode, states, prior, so_far, shape, beam, a, b, left
                    )
            cell[at, 1] = end
            for state in range(start, end):
                found[_place(shape, entries[state, 0], entries[state, 1], entries[state, 2])] = -1
    start, end = cell[-1]
    if start == end:
        return False
    state = start + int(np.argmax(scores[start:end]))
    a, b = lefts, rights
    while a + b:
        back = entries[state, 3]
        if back & _TAKES_LEFT:
            a -= 1
            best[head.chain[a]] = head.labels[entries[state, 0]]
        else:
            b -= 1
            best[head.chain[lefts + b]] = head.labels[entries[state, 1]]
        state = back & ~_TAKES_LEFT
    return True
