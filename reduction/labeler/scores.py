"""The labels that a head's modifiers may have, and the scores of arcs and of consecutive modifiers with these
(section 4.2 of "Parsing as Reduction")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from d2c.base.arrays import Floats, Longs
from d2c.learning.kernels import inner
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.features import PAIR_ATOMS, LabelTemplates, arc_atoms, pair_atoms

FREE = Constraint()  # asks nothing: for the artificial root, and for all heads of treebanks with gaps
NO_LABEL, NO_TOKEN = np.int64(-1), np.int64(0)  # beyond a head's first and last modifier
ALONE = np.int64(0)  # such a pair joins no event
_MOST_LABELS = 1 << 14  # scores of their pairs take a gigabyte


class LabelTable(NamedTuple):
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
        """Raise ValueError unless this is a table of so many labels and tags."""
        if labels > _MOST_LABELS:
            raise ValueError(f"{labels:,} labels; the labeler takes {_MOST_LABELS:,} at most")
        rows = len(self.begin) - 1
        fits = (
            self.symbols.shape == self.numbers.shape == (labels,)
            and self.begin.ndim == self.candidates.ndim == 1
            and self.rows.shape == (tags, tags, 2)
            and self.wide.shape == (tags, 2)
            and rows > 0
            and all(bool(np.all((some >= 0) & (some < rows))) for some in (self.rows, self.wide))
            and rows <= self.rows.size + self.wide.size + 1
            and (self.begin[0], self.begin[-1]) == (0, len(self.candidates))
            and bool(np.all((np.diff(self.begin) > 0) & (np.diff(self.begin) <= labels)))
            and all(bool(np.all((some >= 0) & (some < labels))) for some in (self.candidates, self.symbols))
        )
        if not fits:
            raise ValueError("its arrays do not fit together")


def label_table_of(
    backbones: Backbones, gold: Longs, tags: int, labels: Sequence[tuple[object, int]]
) -> LabelTable:
    """Return the labels seen for each tag of a head, tag of a modifier, and side.

    A pair of tags that was not seen has the row of the head's tag and the side; where these were not seen
    either, the row of all labels except those of roots.

    gold:   [positions] labels
    tags:   how many numbers of tags there are
    labels: [L] what each label names, and its number
    """
    ids: dict[object, int] = {}
    symbols = [ids.setdefault(name, len(ids)) for name, _ in labels]
    every: set[int] = set()
    by_tags: defaultdict[tuple[int, int, int], set[int]] = defaultdict(set)
    by_head: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    m, h = backbones.tokens, backbones.heads[backbones.tokens]
    keys = np.stack([backbones.tags[h], backbones.tags[m], m > h, gold[m]], axis=1)
    for head_tag, tag, side, label in np.unique(keys, axis=0).tolist():
        by_tags[head_tag, tag, side].add(label)
        by_head[head_tag, side].add(label)
        if head_tag:
            every.add(label)
    distinct: dict[tuple[int, ...], int] = {}

    def row(candidates: Iterable[int]) -> int:
        ordered = sorted(candidates, key=lambda label: (labels[label][1], label))
        return distinct.setdefault(tuple(ordered), len(distinct))

    wide = np.full((tags, 2), row(every or {0}), np.int64)
    for (head_tag, side), candidates in by_head.items():
        wide[head_tag, side] = row(candidates)
    rows = np.repeat(wide[:, None, :], tags, axis=1)
    for (head_tag, tag, side), candidates in by_tags.items():
        rows[head_tag, tag, side] = row(candidates)
    begin = np.cumsum([0, *map(len, distinct)])
    columns = symbols, [number for _, number in labels], list(chain.from_iterable(distinct))
    symbols_of, numbers, candidates_of = (np.array(column, np.int64) for column in columns)
    table = LabelTable(symbols_of, numbers, rows, wide, begin, candidates_of)
    table.check(len(labels), tags)
    return table


@inner
def symbol_key(table: LabelTable, label: int) -> int:
    """Return the key of a label's symbol, behind those of the labels themselves."""
    return len(table.symbols) + 1 + table.symbols[label]


@inner
def pair_key(count: int, before: int, label: int, joins: int) -> int:
    """Return the key of a pair of labels, out of `count` labels; joins: whether both attach in one event."""
    size = count + 1
    return 3 * size + ((before + 1) * size + label + 1) * 2 + joins


@inner
def joins_before(table: LabelTable, constraint: Constraint, before: int, label: int) -> int:
    """Return whether a modifier joins the event of the one before it on its side."""
    return int(table.numbers[label] == (0 if constraint.differences else table.numbers[before]))


ON_LEFT, ON_RIGHT, ACROSS_LEFT, ACROSS_RIGHT, START_LEFT, START_RIGHT, STOP_LEFT, STOP_RIGHT = range(8)
CONSTRAINED, WIDE, UNCONSTRAINED = range(3)  # which labels are allowed, in turn
_MOST_PAIRS = 1 << 24  # of candidates of consecutive modifiers of one head: 64 MB


class LabelScorer(NamedTuple):
    """What labels are scored with: the labels, the weights, the constraint, and the templates."""

    table: LabelTable
    weights: Floats
    constraint: Constraint
    templates: LabelTemplates


class HeadScores(NamedTuple):
    """A head with its modifiers, l1, l2, ..., r1, r2, ..., and all scores but those across the sides.

    h, low: the head, and where its modifiers begin in `Backbones.modifiers`
    lefts, rights: how many modifiers are on each side
    constraint: what their labels must fulfil
    begin:  [modifiers + 1] where their candidates begin
    labels: candidates, `numbers` of each, and `scores` of their arcs, start and stop included
    before: [modifiers + 1] where in `pairs` each modifier's scores with the one before on its side begin
    pairs:  for each modifier [candidates of the one before, its own candidates]; arbitrary for pairs that the
            constraint never allows
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
def pair_score(weights: Floats, atoms: Longs, count: int, before: int, label: int, joins: int) -> np.float32:
    """Return the score of a pair of labels, out of `count`, with the atoms [PAIR_ATOMS] by `pair_atoms`."""
    total: Any = np.float32(0.0)
    key, mask = pair_key(count, before, label, joins), len(weights) - 1
    for i in range(PAIR_ATOMS):
        total += weights[(atoms[i] + key) & mask]
    return total


@inner
def constraint_of(scorer: LabelScorer, arcs: Backbones, h: int) -> Constraint:
    """Return what the labels of a head's modifiers must fulfil; FREE for the artificial root, which has only
    one modifier in a tree."""
    return scorer.constraint if arcs.tags[h] else FREE


@inner
def _end_of_row(table: LabelTable, row: int, constraint: Constraint, most: int) -> int:
    """Return the end, in `candidates`, of those labels of a row that a modifier may have.

    most: how many events there can be up to its own: where events have no gaps, no number is greater
    """
    end = table.begin[row + 1]
    if constraint.joint:
        while end > table.begin[row] and table.numbers[table.candidates[end - 1]] > most:
            end -= 1
    return end


@inner
def score_head(scorer: LabelScorer, arcs: Backbones, h: int, allowed: int) -> HeadScores:
    """Return the scores of the candidates of a head's modifiers; where all of them would make too many pairs,
    only of those that are best by their arcs alone."""
    table, modifiers, label_logs = scorer.table, arcs.modifiers, arcs.label_logs
    low, lefts, size = arcs.begin[h], arcs.middle[h] - arcs.begin[h], arcs.begin[h + 1] - arcs.begin[h]
    constraint = FREE if allowed == UNCONSTRAINED else constraint_of(scorer, arcs, h)
    begin, rows, none = np.zeros(size + 1, np.int64), np.empty(size, np.int64), np.empty(0, np.float32)
    for i in range(size):
        side, m = int(i >= lefts), modifiers[low + i]
        row = (
            table.wide[arcs.tags[h], side]
            if allowed == WIDE
            else table.rows[arcs.tags[h], arcs.tags[m], side]
        )
        others, inside = (lefts, i - lefts) if side else (size - lefts, i)
        most = 1 + others + (0 if constraint.differences else inside)
        count = _end_of_row(table, row, constraint, most) - table.begin[row]
        rows[i], begin[i + 1] = row, begin[i] + count
    labels, numbers = np.empty(begin[size], np.int64), np.empty(begin[size], np.int64)
    scores = np.empty(begin[size], np.float32)
    head = HeadScores(h, low, lefts, size - lefts, constraint, begin, labels, numbers, scores, begin, none)
    for i in range(size):
        start, offset = begin[i], table.begin[rows[i]] - begin[i]
        for c in range(start, begin[i + 1]):
            labels[c] = table.candidates[offset + c]
            numbers[c] = table.numbers[labels[c]]
            scores[c] = label_logs[modifiers[low + i], labels[c]] if len(label_logs) else np.float32(0.0)
        if begin[i + 1] - start > 1:
            _add_arc(scorer, arcs, head, i)
    before = _pairs_before(begin, lefts)
    if before[size] > _MOST_PAIRS:
        begin, kept = _best_of_each(begin, scores, int((_MOST_PAIRS / size) ** 0.5) + 1)
        for i in range(len(kept)):
            labels[i], numbers[i], scores[i] = labels[kept[i]], numbers[kept[i]], scores[kept[i]]
        before = _pairs_before(begin, lefts)
    pairs = np.empty(before[size], np.float32)
    head = HeadScores(h, low, lefts, size - lefts, constraint, begin, labels, numbers, scores, before, pairs)
    for i in range(size):
        _score_pairs(scorer, arcs, head, i)
    return head


@inner
def _pairs_before(begin: Longs, lefts: int) -> Longs:
    """Return where each modifier's pairs begin [modifiers + 1], see `HeadScores.before`."""
    before = np.zeros(len(begin), np.int64)
    for i in range(len(begin) - 1):
        others = 0 if i == 0 or i == lefts else begin[i] - begin[i - 1]
        before[i + 1] = before[i] + others * (begin[i + 1] - begin[i])
    return before


@inner
def _best_of_each(begin: Longs, scores: Floats, most: int) -> tuple[Longs, Longs]:
    """Return where the `most` best candidates of each modifier begin [modifiers + 1], and which these are, in
    their order; of equal ones the first."""
    ends, kept, n = np.zeros(len(begin), np.int64), np.empty(len(scores), np.int64), 0
    for i in range(len(begin) - 1):
        own = scores[begin[i] : begin[i + 1]]
        worst = np.sort(own)[max(0, len(own) - most)] if len(own) else np.float32(0.0)
        equal = most  # as many that equal the worst as there is room for
        for c in range(len(own)):
            equal -= int(own[c] > worst)
        for c in range(len(own)):
            if own[c] > worst or (own[c] == worst and equal > 0):
                equal -= int(own[c] == worst)
                kept[n], n = begin[i] + c, n + 1
        ends[i + 1] = n
    return ends, kept[:n]


@inner
def _add_arc(scorer: LabelScorer, arcs: Backbones, head: HeadScores, i: int) -> None:
    """Add the scores of an arc's features to those of its candidates."""
    count = arc_atoms(scorer.templates, arcs, head.h, head.low + i)
    weights, atoms, mask = scorer.weights, scorer.templates.atoms, len(scorer.weights) - 1
    labels, scores = head.labels, head.scores
    for c in range(head.begin[i], head.begin[i + 1]):
        label, key, total = labels[c], symbol_key(scorer.table, labels[c]), np.float32(0.0)
        for number in range(count):
            total += weights[(atoms[number] + key) & mask] + weights[(atoms[number] + label) & mask]
        scores[c] += total


@inner
def _score_pairs(scorer: LabelScorer, arcs: Backbones, head: HeadScores, i: int) -> None:
    """Score a modifier's candidates with those of the one before it, or as the first and last of its side."""
    templates, weights, atoms = scorer.templates, scorer.weights, scorer.templates.atoms
    labels, scores, modifiers, low, lefts = head.labels, head.scores, arcs.modifiers, head.low, head.lefts
    right, m, start, end = int(i >= lefts), modifiers[low + i], head.begin[i], head.begin[i + 1]
    count = len(scorer.table.symbols)
    if i == 0 or i == lefts:
        pair_atoms(templates, arcs, head.h, NO_TOKEN, m, START_LEFT + right)
        for c in range(start, end):
            scores[c] += pair_score(weights, atoms, count, NO_LABEL, labels[c], ALONE)
    else:
        pair_atoms(templates, arcs, head.h, modifiers[low + i - 1], m, ON_LEFT + right)
        _score_siblings(scorer, head, i)
    if i + 1 == lefts or i + 1 == lefts + head.rights:
        pair_atoms(templates, arcs, head.h, m, NO_TOKEN, STOP_LEFT + right)
        for c in range(start, end):
            scores[c] += pair_score(weights, atoms, count, labels[c], NO_LABEL, ALONE)


@inner
def _score_siblings(scorer: LabelScorer, head: HeadScores, i: int) -> None:
    """Score the pairs of a modifier and the one before it on its side that the constraint may allow."""
    weights, atoms, symbols = scorer.weights, scorer.templates.atoms, scorer.table.symbols
    labels, numbers, pairs, constraint = head.labels, head.numbers, head.pairs, head.constraint
    start, end, index, count = head.begin[i], head.begin[i + 1], head.before[i], len(symbols)
    highest = 1 + (head.lefts if i >= head.lefts else head.rights)  # by how many events the next may be above
    for b in range(head.begin[i - 1], start):
        base = 0 if constraint.differences else numbers[b]
        for c in range(start, end):
            rise = numbers[c] - base
            apart = rise < 0 or rise > highest or (rise == 0 and symbols[labels[b]] != symbols[labels[c]])
            if not (constraint.joint and apart):
                pairs[index] = pair_score(weights, atoms, count, labels[b], labels[c], int(rise == 0))
            index += 1
