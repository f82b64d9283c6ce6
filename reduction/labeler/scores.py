"""Which labels a head's modifiers may have, and the scores of arcs and pairs (section 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.linear.kernels import inner
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.arcs import Arcs, Floats, Longs
from d2c.reduction.labeler.features import Templates, arc_atoms, pair_atoms

LEFT, RIGHT, ACROSS_LEFT, ACROSS_RIGHT, START_LEFT, START_RIGHT, STOP_LEFT, STOP_RIGHT = range(8)
FREE = Constraint(False, False, False)  # what is asked of the root's modifiers, and of heads with gaps
CONSTRAINED, WIDE, UNCONSTRAINED = range(3)  # what is tried in turn
NO_LABEL, NO_TOKEN = np.int64(-1), np.int64(0)  # beyond a head's first and last modifier
ALONE = np.int64(0)  # such a pair joins no event
_MOST_LABELS = 1 << 14  # scores of their pairs take a gigabyte


class Labels(NamedTuple):
    """L labels, and which of them a modifier may have.

    symbols, numbers: [L] of each label
    rows:       [tags, tags, 2] row of candidates for the tags of head and modifier, and the side
    wide:       [tags, 2] a longer row for the tag of the head, and the side
    begin:      [rows + 1] where a row begins in `candidates`
    candidates: labels, in each row by number
    """

    symbols: Longs
    numbers: Longs
    rows: Longs
    wide: Longs
    begin: Longs
    candidates: Longs

    def check(self, labels: int, tags: int) -> None:
        """Raises ValueError unless this is a table of so many labels and tags."""
        if labels > _MOST_LABELS:
            raise ValueError(f"{labels:,} labels; the labeler takes {_MOST_LABELS:,} at most")
        rows = len(self.begin) - 1
        fits = (
            self.symbols.shape == self.numbers.shape == (labels,)
            and self.rows.shape == (tags, tags, 2)
            and self.wide.shape == (tags, 2)
            and rows > 0
            and all(bool(np.all((part >= 0) & (part < rows))) for part in (self.rows, self.wide))
            and rows <= self.rows.size + self.wide.size + 1
            and (self.begin[0], self.begin[-1]) == (0, len(self.candidates))
            and bool(np.all(self.begin[1:] > self.begin[:-1]))
            and bool(np.all(self.begin[1:] - self.begin[:-1] <= labels))
            and all(bool(np.all((part >= 0) & (part < labels))) for part in (self.candidates, self.symbols))
        )
        if not fits:
            raise ValueError("its arrays do not fit together")


class Scorer(NamedTuple):
    """What labels are scored with: the labels, the weights, the constraint, and the templates."""

    labels: Labels
    weights: Floats
    constraint: Constraint
    templates: Templates


class Head(NamedTuple):
    """A head with its modifiers, l1, l2, ..., r1, r2, ..., and all scores but those across the sides.

    h, low: the head, and where its modifiers begin in `Arcs.modifiers`
    lefts, rights: how many modifiers are on each side
    constraint: what their labels must fulfil
    begin:  [modifiers + 1] where their candidates begin
    labels: candidates, `numbers` of each, and `scores` of their arcs, start and stop included
    before: [modifiers + 1] where in `pairs` each one's scores with the one before on its side begin
    pairs:  for each modifier [candidates of the one before, its own candidates]
    """

    h: int
    low: int
    lefts: int
    rights: int
    constraint: Constraint
    begin: Longs
    labels: Longs
    numbers: Longs
    scores: Floats
    before: Longs
    pairs: Floats


@inner
def symbol_key(labels: Labels, label: int) -> int:
    """The key of a label's symbol, behind those of the labels themselves."""
    return len(labels.symbols) + 1 + labels.symbols[label]


@inner
def pair_key(count: int, before: int, label: int, joins: int) -> int:
    """The key of a pair of `count` labels; joins: whether both attach in one event."""
    size = count + 1
    return 3 * size + ((before + 1) * size + label + 1) * 2 + joins


@inner
def pair_score(scorer: Scorer, before: int, label: int, joins: int) -> np.float32:
    """The score of a pair with the atoms that `pair_atoms` wrote."""
    weights, atoms, total = scorer.weights, scorer.templates.atoms, np.float32(0.0)
    key, mask = pair_key(len(scorer.labels.symbols), before, label, joins), len(weights) - 1
    for i in range(len(scorer.templates.pair)):
        total += weights[(atoms[i] + key) & mask]
    return total


@inner
def joins_before(labels: Labels, constraint: Constraint, before: int, label: int) -> int:
    """Whether a modifier joins the event of the one before it on its side."""
    return int(labels.numbers[label] == (0 if constraint.differences else labels.numbers[before]))


@inner
def constraint_of(scorer: Scorer, arcs: Arcs, h: int) -> Constraint:
    """What a head's labels must fulfil; the artificial root has one modifier, or is no tree's."""
    return scorer.constraint if arcs.tags[h] else FREE


@inner
def prepare(scorer: Scorer, arcs: Arcs, h: int, attempt: int) -> Head:
    """A head with its modifiers' candidates and scores."""
    labels, weights, templates = scorer.labels, scorer.weights, scorer.templates
    modifiers, said = arcs.modifiers, arcs.said
    low, lefts, size = arcs.begin[h], arcs.middle[h] - arcs.begin[h], arcs.begin[h + 1] - arcs.begin[h]
    constraint = FREE if attempt == UNCONSTRAINED else constraint_of(scorer, arcs, h)
    begin, before, rows = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64), np.empty(size, np.int64)
    begin[0] = before[0] = 0
    for i in range(size):
        side = int(i >= lefts)
        m = modifiers[low + i]
        row = (
            labels.wide[arcs.tags[h], side]
            if attempt == WIDE
            else labels.rows[arcs.tags[h], arcs.tags[m], side]
        )
        count = labels.begin[row + 1] - labels.begin[row]
        rows[i] = row
        begin[i + 1] = begin[i] + count
        before[i + 1] = before[i] + (0 if i == 0 or i == lefts else begin[i] - begin[i - 1]) * count
    own, numbers = np.empty(begin[size], np.int64), np.empty(begin[size], np.int64)
    scores, pairs = np.empty(begin[size], np.float32), np.empty(before[size], np.float32)
    atoms, mask = templates.atoms, len(weights) - 1
    for i in range(size):
        right, m, start, end = int(i >= lefts), modifiers[low + i], begin[i], begin[i + 1]
        offset = labels.begin[rows[i]] - start
        for c in range(start, end):
            own[c] = labels.candidates[offset + c]
            numbers[c] = labels.numbers[own[c]]
            scores[c] = said[m, own[c]] if len(said) else np.float32(0.0)
        if end - start > 1:
            count = arc_atoms(templates, arcs, h, low + i)
            for c in range(start, end):
                key, total = symbol_key(labels, own[c]), np.float32(0.0)
                for number in range(count):
                    total += weights[(atoms[number] + key) & mask] + weights[(atoms[number] + own[c]) & mask]
                scores[c] += total
        first = i == 0 or i == lefts
        inner_sibling, kind = (NO_TOKEN, START_LEFT) if first else (modifiers[low + i - 1], LEFT)
        pair_atoms(templates, arcs, h, inner_sibling, m, kind + right)
        if first:
            for c in range(start, end):
                scores[c] += pair_score(scorer, NO_LABEL, own[c], ALONE)
        else:
            index = before[i]
            for b in range(begin[i - 1], start):
                for c in range(start, end):
                    joins = joins_before(labels, constraint, own[b], own[c])
                    pairs[index] = pair_score(scorer, own[b], own[c], joins)
                    index += 1
        if i + 1 == lefts or i + 1 == size:
            pair_atoms(templates, arcs, h, m, NO_TOKEN, STOP_LEFT + right)
            for c in range(start, end):
                scores[c] += pair_score(scorer, own[c], NO_LABEL, ALONE)
    return Head(h, low, lefts, size - lefts, constraint, begin, own, numbers, scores, before, pairs)
