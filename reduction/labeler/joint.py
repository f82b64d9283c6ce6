"""Labels of one head that never need repairs: Viterbi in the order of attachment, beyond the paper.

Left modifiers l1, l2, ... and right ones r1, r2, ..., numbered outward, are taken in the order of attachment,
within an event the left ones first. Once la and rb are the last ones taken, the state is (a, b, label of la,
label of rb, difference of their events). The next modifier either joins the last event, whose symbol it then
has, or makes the next event. Every path is a nested order whose events are 1, 2, ... without gaps, each with
one symbol.

The score is that of `d2c.reduction.labeler.sequence`, except that a pair across the head consists of two
modifiers that follow each other in this order, the left or the right one first. O(|L| |R| C^3) at worst, far
less in practice, as the numbers of labels leave few states; heads with very many modifiers get a beam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Floats, Ints, Longs
from d2c.learning.kernels import inner
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.features import pair_atoms
from d2c.reduction.labeler.scores import (
    ACROSS_LEFT,
    ACROSS_RIGHT,
    NO_LABEL,
    HeadScores,
    LabelScorer,
    LabelTable,
    pair_score,
)

_CAPACITY = 1 << 17  # states of one head
_INDICES = 1 << 20  # indices of states in a cell, at most
_LEAST_BEAM = 4
_TAKES_LEFT = 1 << 30  # beside the number of the state before


class JointStates(NamedTuple):
    """Buffers for the states of one head.

    entries: [_CAPACITY, 4] candidates of la and rb, their distance in events, the previous state
    scores:  [_CAPACITY]
    cells:   [_CAPACITY / _LEAST_BEAM, 2] where the states of each cell begin and end
    numbers: [_INDICES] the state of a cell by `_index`; 0, which is the start, where there is none
    across:  scores of one pair across the sides, by its labels; valid where `known` is `turn`, its number
    narrowed: [1] how many heads had a full cell, so that their paths may not be the best
    """

    entries: Longs
    scores: Floats
    cells: Longs
    numbers: Ints
    across: Floats
    known: Longs
    turn: Longs
    narrowed: Longs

    @classmethod
    def new(cls, table: LabelTable) -> JointStates:
        """Return buffers for any head; most of their pages are never touched."""
        most = int(np.diff(table.begin).max() + 1)  # candidates of a modifier
        pairs = min(most * most, _INDICES)
        entries, scores = np.empty((_CAPACITY, 4), np.int64), np.empty(_CAPACITY, np.float32)
        cells = np.empty((_CAPACITY // _LEAST_BEAM, 2), np.int64)
        across, known = np.empty(2 * pairs, np.float32), np.zeros(2 * pairs, np.int64)
        numbers, turn = np.zeros(_INDICES, np.int32), np.zeros(1, np.int64)
        return cls(entries, scores, cells, numbers, across, known, turn, np.zeros(1, np.int64))


class Cell(NamedTuple):
    """A cell while it is filled: the states in which la and rb are the last modifiers taken.

    begin, beam: its first state, and how many states it may have
    left, right: first candidates of la and rb; 0 where there is no such modifier
    rights:      how many candidates rb has, and one more for none
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
    """Return by how many events a modifier is above the one before it on its side: if it joins the last event
    (-1: it cannot), and if not. A left modifier joins only left ones, a right modifier those on either side.

    left, first: on which side it is, and whether it is the first there
    apart: how far the event of the last left modifier is above that of the last right one
    """
    if left:
        return (0 if apart > 0 else -1), max(1 - apart, 1)
    return (-1 if first and apart <= 0 else max(apart, 0)), max(apart, 0) + 1


@inner
def rise_of_label(
    constraint: Constraint, first: bool, number: int, before: int, same: bool, rises: tuple[int, int]
) -> int:
    """Return by how many events a label puts a modifier above the one before it on its side; -1: it cannot.

    number, before: of the label, and of the label before it
    same: whether the label has the symbol of the event that the modifier may join
    """
    rise = number if constraint.differences or first else number - before
    return rise if rise == rises[1] or (rise == rises[0] and same) else -1


@inner
def _index(cell: Cell, x: int, y: int, apart: int) -> int:
    """Return the index of a state in `JointStates.numbers`."""
    left, right = max(x - cell.left, -1) + 1, max(y - cell.right, -1) + 1
    return (left * cell.rights + right) * (2 * cell.span + 1) + apart + cell.span


# In what follows, loops see arrays as local variables and seldom pass one on: numba counts references to an
# array whenever it comes out of a tuple or goes into a function, which takes longer than the rest.


@inner
def _look_across(
    scorer: LabelScorer,
    arcs: Backbones,
    head: HeadScores,
    states: JointStates,
    other: int,
    m: int,
    left: bool,
) -> None:
    """Write the atoms of a pair across the sides; forget the scores in `across`, which are of another."""
    modifiers, kind = arcs.modifiers, ACROSS_LEFT if left else ACROSS_RIGHT
    pair_atoms(scorer.templates, arcs, head.h, modifiers[head.low + other], modifiers[head.low + m], kind)
    states.turn[0] += 1


@inner
def _state_for(
    scores: Floats, entries: Longs, states_of: Ints, cell: Cell, index: int, score: float, end: int
) -> int:
    """Return the worst state of a full cell, to be replaced by the one with this index; -1 where the latter
    is not better.

    scores, entries, states_of: [_CAPACITY], [_CAPACITY, 4] and [_INDICES] of `JointStates`
    """
    worst = cell.begin
    for state in range(cell.begin, end):
        if scores[state] < scores[worst]:
            worst = state
    if score <= scores[worst]:
        return -1
    states_of[_index(cell, entries[worst, 0], entries[worst, 1], entries[worst, 2])] = 0
    states_of[index] = worst
    return worst


@inner
def _take(
    scorer: LabelScorer,
    arcs: Backbones,
    head: HeadScores,
    states: JointStates,
    cell: Cell,
    prior: int,
    end: int,
    left: bool,
) -> int:
    """Extend the states of a prior cell by la or rb; return where the cell that is filled ends then."""
    of, numbers, symbols = head.labels, head.numbers, scorer.table.symbols
    arc_scores, pairs, across, known = head.scores, head.pairs, states.across, states.known
    entries, scores, states_of = states.entries, states.scores, states.numbers
    weights, atoms, constraint, a, b = scorer.weights, scorer.templates.atoms, head.constraint, cell.a, cell.b
    first, turns = (a if left else b) == 1, (b if left else a) > 0
    m, other = (a - 1, head.lefts + b - 1) if left else (head.lefts + b - 1, a - 1)
    low, high, inner_pairs = head.begin[m], head.begin[m + 1], head.before[m]
    low_before, low_across = 0 if first else head.begin[m - 1], head.begin[other] if turns else 0
    if turns:
        _look_across(scorer, arcs, head, states, other, m, left)
    turn, width = states.turn[0], high - low
    for state in range(states.cells[prior, 0], states.cells[prior, 1]):
        x, y, apart = entries[state, 0], entries[state, 1], entries[state, 2]
        own, opposite = (x, y) if left else (y, x)
        before, last = (-1, 0) if first else (of[own], numbers[own])
        event = of[x] if not left and apart > 0 else before
        rises, crosses = rises_of(left, first, apart), turns and (apart <= 0 if left else apart > 0)
        highest = rises[1] + (0 if constraint.differences else last)
        for c in range(low, high):
            if numbers[c] > highest:  # and so are those behind it
                break
            label = of[c]
            rise = rise_of_label(constraint, first, numbers[c], last, symbols[label] == symbols[event], rises)
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
                    across[pair] = pair_score(weights, atoms, len(symbols), of[opposite], label, joins)
                score += across[pair]
            x1, y1, apart1 = (c, y, apart + rise) if left else (x, c, apart - rise)
            index = _index(cell, x1, y1, apart1)
            new = np.int64(states_of[index])
            if new == 0 and end - cell.begin < cell.beam:
                states_of[index] = new = np.int64(end)
                end += 1
            elif new == 0:
                new = np.int64(_state_for(scores, entries, states_of, cell, index, score, end))
            elif score <= scores[new]:
                new = np.int64(-1)
            if new >= 0:
                entries[new, 0], entries[new, 1], entries[new, 2] = x1, y1, apart1
                scores[new], entries[new, 3] = score, state | _TAKES_LEFT if left else state
    return end


@inner
def best_joint(
    scorer: LabelScorer, arcs: Backbones, head: HeadScores, states: JointStates, best: Longs
) -> bool:
    """Write the labels of the best path to `best` [positions]; return False where there is no path, or the
    head has too many modifiers or candidates."""
    lefts, rights, begin, size = head.lefts, head.rights, head.begin, head.lefts + head.rights
    count = (lefts + 1) * (rights + 1)
    beam, widest, full = _CAPACITY // count, np.int64(0), 0
    for i in range(size):
        widest = max(widest, begin[i + 1] - begin[i] + 1)
    if beam < _LEAST_BEAM or widest * widest * (2 * size + 1) > _INDICES:
        return False
    entries, scores, cells, states_of = states.entries, states.scores, states.cells, states.numbers
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
            full |= int(end - start == beam)
            for state in range(start, end):
                states_of[_index(cell, entries[state, 0], entries[state, 1], entries[state, 2])] = 0
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
    states.narrowed[0] += full
    return True


@inner
def joint_order(
    scorer: LabelScorer,
    arcs: Backbones,
    h: int,
    constraint: Constraint,
    labels: Longs,
    order: Longs,
    joins: Longs,
) -> bool:
    """Write the order of attachment [modifiers of h], as indices into `Backbones.modifiers`, and which right
    modifiers join the event of a left one; return False where labels [positions] break the constraint."""
    numbers, symbols, modifiers = scorer.table.numbers, scorer.table.symbols, arcs.modifiers
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    events = np.empty(end - begin + 1, np.int64)
    for i in range(begin, end):
        events[i - begin] = numbers[labels[modifiers[i]]]
        if constraint.differences and i != begin and i != middle:
            events[i - begin] += events[i - begin - 1]
    a, b, apart = begin, middle, 0
    for k in range(end - begin):
        last_left = labels[modifiers[a - 1]] if a > begin else NO_LABEL
        last_right = labels[modifiers[b - 1]] if b > middle else NO_LABEL
        left = a < middle and (b == end or events[a - begin] <= events[b - begin])
        i, last, first = (a, last_left, a == begin) if left else (b, last_right, b == middle)
        label, event = labels[modifiers[i]], last_left if apart > 0 else last
        same, rises = symbols[label] == symbols[event], rises_of(left, first, apart)
        rise = rise_of_label(constraint, first, numbers[label], numbers[last], same, rises)
        if rise < 0:
            return False
        order[k], joins[k] = i, int(not left and 0 < apart == rise)
        a, b, apart = (a + 1, b, apart + rise) if left else (a, b + 1, apart - rise)
    return True
