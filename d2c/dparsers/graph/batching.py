"""Sentences as a network takes them: numbers of pieces and units, in batches of sentences of like lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from d2c.base.arrays import Longs
from d2c.dparsers.graph.encoder_file import windows
from d2c.dparsers.graph.inputs import columns, pieces, simplified
from d2c.dparsers.graph.network_file import ROOT_UNIT, NetworkFile
from d2c.trees.ctree import Tokens

# Pieces of a batch, padding included: for each new number OpenVINO makes code, which takes as long as the
# batch, and keeps it. With these, sentences are padded by a tenth at most where they are not short.
_SIZES = 672, 720, 768
_STEP = 4  # their widths are multiples of it


class PieceBatch(NamedTuple):
    """A batch of sentences, each with the root before its words; those of the root alone are the last ones,
    and nothing is found in them.

    pieces, there: [windows, pieces] numbers of pieces, and whether there are any
    places:        [sentences, words + 1, 2] window and place of the last piece of each word
    columns:       of each table [sentences, words + 1] numbers of units
    lengths:       [sentences] words, and 1 for the root
    """

    pieces: Longs
    there: Longs
    places: Longs
    columns: Mapping[str, Longs]
    lengths: Longs


class SentenceRows(NamedTuple):
    """The numbers of one sentence.

    pieces: with the marks around them; last: [words + 1] place of the last piece of each word, 0 for the root
    units:  of each table, the root's first
    """

    pieces: list[int]
    last: list[int]
    units: list[list[int]]


class Batching:
    """Makes batches.

    file:      of the network
    tokenizer: of the library `tokenizers`
    window:    pieces that the encoder takes at once
    """

    def __init__(self, file: NetworkFile, tokenizer: Any, window: int) -> None:
        self.joint, self.tables, self.tokenizer, self.window = file.joint, file.tables, tokenizer, window
        self._numbers = [file.numbers(name) for name in file.tables]

    def batches(self, sentences: Sequence[Tokens]) -> Iterator[tuple[list[int], PieceBatch]]:
        """Yield batches of sentences, each of at least one word, and which sentences are in them."""
        rows = self._rows(sentences)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i].pieces), reverse=True)
        while order:
            longest = len(rows[order[0]].pieces)
            width, height = _shape(longest)
            if longest <= self.window:
                width = min(width, self.window)
            while height >= 2 * len(order):  # few: a size that others have, too
                height //= 2
            part, order = order[:height], order[height:]
            yield part, self._batch([rows[i] for i in part], height, width)

    def _rows(self, sentences: Sequence[Tokens]) -> list[SentenceRows]:
        seen = [columns(tokens, self.joint) for tokens in sentences]
        seen = [one._replace(word=[*map(simplified, one.word)]) for one in seen]
        cut = pieces(self.tokenizer, [one.word for one in seen])
        return [
            SentenceRows(*own, [self._units(i, getattr(one, name)) for i, name in enumerate(self.tables)])
            for own, one in zip(cut, seen, strict=True)
        ]

    def _units(self, table: int, units: Sequence[str]) -> list[int]:
        known, small = self._numbers[table]
        return [ROOT_UNIT, *map(known.__getitem__, map(str.lower, units) if small else units)]

    def _batch(self, rows: Sequence[SentenceRows], height: int, width: int) -> PieceBatch:
        """Return a batch of so many sentences, of so many pieces."""
        absent = height - len(rows)
        of_pieces = [len(row.pieces) for row in rows] + [1] * absent
        numbers = _table([row.pieces for row in rows], height, width)
        there = np.arange(width) < np.array(of_pieces)[:, None]
        if width > self.window:  # which is of pieces; words have their own
            width, _ = _shape(max(len(row.last) for row in rows))
        at = _table([row.last for row in rows], height, width)
        of = np.broadcast_to(np.arange(height)[:, None], at.shape)
        places = np.stack([of, at], 2)
        if max(of_pieces) > self.window:
            row, column, back = windows(of_pieces, self.window)
            numbers, there = numbers[row.clip(min=0), column], row >= 0
            places = np.stack([one[of, at] for one in back], 2)
        tables = {
            name: _table([row.units[i] for row in rows], height, width) for i, name in enumerate(self.tables)
        }
        lengths = np.array([len(row.last) for row in rows] + [1] * absent)
        return PieceBatch(numbers, there.astype(np.int64), places, tables, lengths)


@cache
def _shape(number: int) -> tuple[int, int]:
    """Return how wide a batch of sentences of so many pieces is, or words, and how many sentences it has."""
    width = number + -number % _STEP
    while width <= _SIZES[-1]:
        for size in _SIZES:
            if size % width == 0:
                return width, size // width
        width += _STEP
    return number + -number % _SIZES[0], 1


def _table(rows: Sequence[Sequence[int]], height: int, width: int) -> Longs:
    """Return [height, width] rows with zeros behind them, and rows of zeros."""
    made = np.zeros((height, width), np.int64)
    for own, row in zip(made, rows, strict=False):
        own[: len(row)] = row
    return made
