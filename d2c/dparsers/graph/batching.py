"""Sentences as a network takes them: ids of pieces and units, in batches of sentences of similar lengths."""

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

# Pieces in a batch, padding included: for each new number OpenVINO makes code, which takes as long as the
# batch, and keeps it. With these numbers, sentences that are not short are padded by a tenth at most.
_SIZES = 672, 720, 768
_STEP = 4  # the width of a batch is a multiple of it


class PieceBatch(NamedTuple):
    """A batch of sentences, each with the root before its words. Sentences of the root alone, which have no
    results, come last.

    pieces, there: [windows, pieces] ids of pieces, and 1 where there is a piece, 0 for padding
    places:        [sentences, words + 1, 2] window and place of the last piece of each word
    columns:       for each table [sentences, words + 1] ids of units
    lengths:       [sentences] numbers of words, the root included
    """

    pieces: Longs
    there: Longs
    places: Longs
    columns: Mapping[str, Longs]
    lengths: Longs


class SentenceRows(NamedTuple):
    """The ids of one sentence.

    pieces: with the marks around them; last: [words + 1] place of the last piece of each word, 0 for the root
    units:  for each table the ids of units, the root's first
    """

    pieces: list[int]
    last: list[int]
    units: list[list[int]]


class Batching:
    """Makes batches of sentences.

    file:      that of the network
    tokenizer: an object of the library `tokenizers`
    window:    pieces that the encoder takes at once
    """

    def __init__(self, file: NetworkFile, tokenizer: Any, window: int) -> None:
        self.joint, self.tables, self.tokenizer, self.window = file.joint, file.tables, tokenizer, window
        self._numbers = [file.numbers(name) for name in file.tables]

    def batches(self, sentences: Sequence[Tokens]) -> Iterator[tuple[list[int], PieceBatch]]:
        """Yield for each batch the numbers of its sentences, and the batch; all sentences have words."""
        rows = self._rows(sentences)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i].pieces), reverse=True)
        while order:
            longest = len(rows[order[0]].pieces)
            width, height = _shape(longest)
            if longest <= self.window:
                width = min(width, self.window)
            while height >= 2 * len(order):  # few are left: a size that other batches have, too
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
        """Return a batch of `height` sentences, these rows first, padded to `width` pieces."""
        absent = height - len(rows)
        of_pieces = [len(row.pieces) for row in rows] + [1] * absent
        numbers = _table([row.pieces for row in rows], height, width)
        there = np.arange(width) < np.array(of_pieces)[:, None]
        if width > self.window:  # this width counts pieces; words have their own
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
    """Return the width of a batch whose longest sentence has so many pieces, or words, and its height."""
    width = number + -number % _STEP
    while width <= _SIZES[-1]:
        for size in _SIZES:
            if size % width == 0:
                return width, size // width
        width += _STEP
    return number + -number % _SIZES[0], 1


def _table(rows: Sequence[Sequence[int]], height: int, width: int) -> Longs:
    """Return [height, width] the rows, with zeros behind them, and rows of zeros."""
    made = np.zeros((height, width), np.int64)
    for own, row in zip(made, rows, strict=False):
        own[: len(row)] = row
    return made
