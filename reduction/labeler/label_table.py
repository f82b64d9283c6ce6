"""The labels that a head's modifiers may have, and the keys of their features (section 4.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Longs
from d2c.learning.kernels import inner
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.backbones import Backbones

FREE = Constraint()  # what the labels of the root's modifiers must fulfil, and of heads with gaps
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

    A pair of tags that was not seen has the row of the head's tag; a tag that was not, that of all labels.

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
    """Return the key of a pair of `count` labels; joins: whether both attach in one event."""
    size = count + 1
    return 3 * size + ((before + 1) * size + label + 1) * 2 + joins


@inner
def joins_before(table: LabelTable, constraint: Constraint, before: int, label: int) -> int:
    """Return whether a modifier joins the event of the one before it on its side."""
    return int(table.numbers[label] == (0 if constraint.differences else table.numbers[before]))
