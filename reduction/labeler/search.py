"""Viterbi over the labels of one head's modifiers, under the constraint of the encoding (section 4.2).

Three ways to walk over the left modifiers l1, l2, ... and right modifiers r1, r2, ..., numbered outward:

free:   ..., l2, l1, r1, r2, ..., as they stand in the sentence: the paper's sequence model, which takes any
        label after any other.
rising: the same, but numbers never fall outward on either side: all that the spine encoding asks of one head.
joint:  in the order of attachment, within an event the left ones first. So what was taken is a left and b
        right ones, and a state is (a, b, label of la, label of rb, difference of their events). The next
        modifier joins the last event, and then has its symbol, or makes the next one. Every path is a nested
        order whose events are 1, 2, ... without gaps, and has one symbol for each: no repairs.

The score is a sum over arcs, over pairs of consecutive modifiers of one side, and over pairs that follow each
other in the walk from one side to the other. Exact: O(k C^2) for k modifiers and C candidate labels in a
sequence; joint O(|L| |R| C^3) at worst and far less in fact, as the numbers of labels leave few states; heads
with very many modifiers get a beam there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.linear.kernels import inner
from d2c.linear.templates import Ints
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.arcs import Arcs, Floats, Longs
from d2c.reduction.labeler.features import pair_atoms
from d2c.reduction.labeler.scores import ACROSS_LEFT, ACROSS_RIGHT, Head, Labels, Scorer, pair_score

_CAPACITY = 1 << 17  # states of one head
_FOUND = 1 << 20  # room to look one up, at most
_LEAST_BEAM = 4
_TAKES_LEFT = 1 << 30  # beside the number of the state before


class States(NamedTuple):
    """Buffers for the states of one head.

    entries: [_CAPACITY, 4] candidates of la and rb, their distance in events, state before
    scores:  [_CAPACITY]
    cells:   [_CAPACITY / _LEAST_BEAM, 2] where the states of each cell begin and end
    found:   [_FOUND] the state of a cell by `_index`; 0, which is in none, where there is none
    across:  scores of a pair across the sides, of those labels where `known` is `turn`, its number
    """

    entries: Longs
    scores: Floats
    cells: Longs
    found: Ints
    across: Floats
    known: Longs
    turn: Longs

    @classmethod
    def new(cls, labels: Labels) -> States:
        """Buffers for any head; of most of their pages no use is made."""
        pairs = min(
            int(np.diff(labels.begin).max() + 1) ** 2, _FOUND
        )  # of candidates; `viterbi` takes no more
        entries, scores = np.empty((_CAPACITY, 4), np.int64), np.empty(_CAPACITY, np.float32)
        cells = np.empty((_CAPACITY // _LEAST_BEAM, 2), np.int64)
        across, known = np.empty(2 * pairs, np.float32), np.zeros(2 * pairs, np.int64)
        found, turn = np.zeros(_FOUND, np.int32), np.zeros(1, np.int64)
        return cls(entries, scores, cells, found, across, known, turn)


class Cell(NamedTuple):
    """A cell while it is filled: what was taken is a left and b right modifiers.

    begin, beam: its first state, and how many it may have
    left, right: first candidates of la and rb; 0 where there is none
    rights:      how many candidates rb has, and none
    span:        how far events may be apart
    """

    a: int
    b: int
    begin: int
    beam: int
    left: int
    right: int
    rights: int
    span: int


@inner
def rises_of(left: bool, first: bool, apart: int) -> tuple[int, int]:
    """By how many events a modifier is above the one before it: if it joins the last event (-1: it cannot),
    and if not. A right modifier may also join the event of the right one before it.

    left, first: on which side it is, and whether the first one there
    apart: how far the event of the last left modifier is above that of the last right one
    """
    if left:
        return (0 if apart > 0 else -1), max(1 - apart, 1)
    return (-1 if first and apart <= 0 else max(apart, 0)), max(apart, 0) + 1


@inner
def step(
    constraint: Constraint, first: bool, number: int, before: int, same: bool, rises: tuple[int, int]
) -> int:
    """By how many events a label puts a modifier above the one before it on its side, jointly; -1: it cannot.

    number, before: of the label and of the one before it
    same: whether it has the symbol of the event that it may join
    """
    rise = number if constraint.differences or first else number - before
    return rise if rise == rises[1] or (rise == rises[0] and same) else -1


@inner
def _index(cell: Cell, x: int, y: int, apart: int) -> int:
    """Of a state in `found`."""
    left, right = max(x - cell.left, -1) + 1, max(y - cell.right, -1) + 1
    return (left * cell.rights + right) * (2 * cell.span + 1) + apart + cell.span


@inner
def _worst(states: States, begin: int, end: int) -> int:
    """The worst state of a full cell."""
    scores, worst = states.scores, begin
    for state in range(begin, end):
        if scores[state] < scores[worst]:
            worst = state
    return worst


# In what follows, loops see arrays as local variables and seldom pass one on: numba counts references to an
# array whenever it comes out of a tuple or goes into a function, which takes longer than the rest.


@inner
def _take(
    scorer: Scorer, arcs: Arcs, head: Head, states: States, cell: Cell, prior: int, end: int, left: bool
) -> int:
    """Adds to a cell what comes of a prior one's states by taking la or rb; where the cell ends then."""
    of, numbers, symbols = head.labels, head.numbers, scorer.labels.symbols
    arc_scores, pairs, across, known = head.scores, head.pairs, states.across, states.known
    entries, scores, found = states.entries, states.scores, states.found
    constraint, a, b = head.constraint, cell.a, cell.b
    first = (a if left else b) == 1
    m, other = (a - 1, head.lefts + b - 1) if left else (head.lefts + b - 1, a - 1)
    turns = (b if left else a) > 0
    low, high, inner_pairs = head.begin[m], head.begin[m + 1], head.before[m]
    low_before, low_across = 0 if first else head.begin[m - 1], head.begin[other] if turns else 0
    if turns:
        modifiers = arcs.modifiers
        kind = ACROSS_LEFT if left else ACROSS_RIGHT
        pair_atoms(scorer.templates, arcs, head.h, modifiers[head.low + other], modifiers[head.low + m], kind)
        states.turn[0] += 1  # none of its scores is known
    turn, width = states.turn[0], high - low
    worst = np.int64(-1)  # state of the cell, looked for once it is full; -1: not known
    for state in range(states.cells[prior, 0], states.cells[prior, 1]):
        x, y, apart = entries[state, 0], entries[state, 1], entries[state, 2]
        own, opposite = (x, y) if left else (y, x)
        before, last = (-1, 0) if first else (of[own], numbers[own])
        event = of[x] if not left and apart > 0 else before
        rises = rises_of(left, first, apart)
        base = 0 if constraint.differences or first else last
        # numbers that `step` may allow
        least, most = base + (rises[0] if rises[0] >= 0 else rises[1]), base + rises[1]
        crosses = turns and (apart <= 0 if left else apart > 0)
        for c in range(low, high):
            if numbers[c] < least:
                continue
            if numbers[c] > most:
                break
            label = of[c]
            rise = step(constraint, first, numbers[c], last, symbols[label] == symbols[event], rises)
            if rise < 0:
                continue
            score = scores[state] + arc_scores[c]
            if not first:
                score += pairs[inner_pairs + (own - low_before) * width + c - low]
            if crosses:
                joins = int(not left and rise == apart)
                pair = 2 * ((opposite - low_across) * width + c - low) + joins
                if known[pair] != turn:
                    known[pair] = turn
                    across[pair] = pair_score(scorer, of[opposite], label, joins)
                score += across[pair]
            x1, y1 = (c, y) if left else (x, c)
            apart1 = apart + rise if left else apart - rise
            index = _index(cell, x1, y1, apart1)
            new = found[index]
            if new:
                if score <= scores[new]:
                    continue
                if new == worst:
                    worst = np.int64(-1)
            elif end - cell.begin < cell.beam:
                new = found[index] = end
                end += 1
            else:
                if worst < 0:
                    worst = np.int64(_worst(states, cell.begin, end))
                if score <= scores[worst]:
                    continue
                new, worst = worst, np.int64(-1)
                found[_index(cell, entries[new, 0], entries[new, 1], entries[new, 2])] = 0
                found[index] = new
            entries[new, 0], entries[new, 1], entries[new, 2] = x1, y1, apart1
            scores[new], entries[new, 3] = score, state | _TAKES_LEFT if left else state
    return end


@inner
def viterbi(scorer: Scorer, arcs: Arcs, head: Head, states: States, best: Longs) -> bool:
    """Writes the labels of the best path to `best`, by position; False where there is no path."""
    if head.constraint.joint:
        return _best_joint(scorer, arcs, head, states, best)
    return _best_sequence(scorer, arcs, head, best)


@inner
def in_sentence(lefts: int, size: int) -> Longs:
    """[size] a head's modifiers, numbered as in `Head`, as they stand in the sentence."""
    order = np.arange(size)
    for i in range(lefts):
        order[i] = lefts - 1 - i
    return order


@inner
def _best_sequence(scorer: Scorer, arcs: Arcs, head: Head, best: Longs) -> bool:
    """`viterbi` over the modifiers in the order of the sentence."""
    lefts, begin, labels, numbers, pairs = head.lefts, head.begin, head.labels, head.numbers, head.pairs
    size, modifiers, rising = lefts + head.rights, arcs.modifiers, head.constraint.rising
    order, totals, back = in_sentence(lefts, size), head.scores, np.full(len(labels), -1, np.int64)
    for place in range(1, size):
        i, before = order[place], order[place - 1]
        across, outer, inner_one = before == 0 and i == lefts, max(i, before), min(i, before)
        width, first = begin[outer + 1] - begin[outer], head.before[outer]
        if across:
            m, m2 = modifiers[head.low], modifiers[head.low + i]
            pair_atoms(scorer.templates, arcs, head.h, m, m2, ACROSS_RIGHT)
        for c in range(begin[i], begin[i + 1]):
            found = np.float32(-np.inf)
            for b in range(begin[before], begin[before + 1]):
                far, near = (c, b) if i == outer else (b, c)
                if rising and not across and numbers[far] < numbers[near]:
                    continue
                if across:
                    total = totals[b] + pair_score(scorer, labels[b], labels[c], 0)
                else:
                    pair = first + (near - begin[inner_one]) * width + far - begin[outer]
                    total = totals[b] + pairs[pair]
                if total > found:
                    found, back[c] = total, b
            totals[c] += found
    last = order[size - 1]
    state = begin[last] + np.argmax(totals[begin[last] : begin[last + 1]])
    if totals[state] == -np.inf:
        return False
    for place in range(size - 1, -1, -1):
        best[modifiers[head.low + order[place]]] = labels[state]
        state = back[state]
    return True


@inner
def _best_joint(scorer: Scorer, arcs: Arcs, head: Head, states: States, best: Longs) -> bool:
    """`viterbi` in the order of attachment."""
    lefts, rights, begin, size = head.lefts, head.rights, head.begin, head.lefts + head.rights
    count = (lefts + 1) * (rights + 1)
    beam, widest = _CAPACITY // count, np.int64(0)
    for i in range(size):
        widest = max(widest, begin[i + 1] - begin[i] + 1)
    if beam < _LEAST_BEAM or widest * widest * (2 * size + 1) > _FOUND:
        return False
    entries, scores, cells, found = states.entries, states.scores, states.cells, states.found
    entries[0, 0], entries[0, 1], entries[0, 2], scores[0] = -1, -1, 0, 0.0
    cells[0, 0], cells[0, 1] = 0, 1
    row = rights + 1  # the cell (a, b) has the number a * row + b
    for a in range(lefts + 1):
        for b in range(rights + 1):
            if a + b == 0:
                continue
            number, r = a * row + b, lefts + b - 1
            start = end = cells[number - 1, 1]
            left, right = begin[a - 1] if a else 0, begin[r] if b else 0
            cell = Cell(a, b, start, beam, left, right, begin[r + 1] - begin[r] + 1 if b else 1, size)
            for takes_left in (True, False):
                if (a if takes_left else b) > 0:
                    prior = number - (row if takes_left else 1)
                    end = _take(scorer, arcs, head, states, cell, prior, end, takes_left)
            cells[number, 0], cells[number, 1] = start, end
            for state in range(start, end):
                found[_index(cell, entries[state, 0], entries[state, 1], entries[state, 2])] = 0
    start, end = cells[count - 1, 0], cells[count - 1, 1]
    if start == end:
        return False
    state = start
    for other in range(start, end):
        if scores[other] > scores[state]:
            state = other
    a, b, modifiers, low = lefts, rights, arcs.modifiers, head.low
    while a + b:
        back = entries[state, 3]
        if back & _TAKES_LEFT:
            a -= 1
            best[modifiers[low + a]] = head.labels[entries[state, 0]]
        else:
            b -= 1
            best[modifiers[low + lefts + b]] = head.labels[entries[state, 1]]
        state = back & ~_TAKES_LEFT
    return True
