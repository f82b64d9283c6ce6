"""Backbones as arrays: the arcs of many d-trees, head by head. Sorting time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.reduction.subtrees import spans

Longs = NDArray[np.int64]
Floats = NDArray[np.float32]


class Arcs(NamedTuple):
    """The arcs of d-trees in a row, with a gap before each of them and behind the last.

    A gap is the artificial root of the sentence behind it, with word and tag 0. Position 0 is one, too, and
    stands for "no token".

    words, tags: [positions] numbers from 1 on
    given:       [positions] numbers from 1 on of the labels that the d-parser gave; 0: none
    morphs:      [positions] numbers from 1 on of their morphology; 0: none
    tokens:      [n] positions of all that are no gaps
    heads:       [positions] where the head stands; of a gap, the gap
    modifiers:   [n] first the left ones of a head, then the right ones, from the head outward
    begin:       [positions + 1] where each head's modifiers begin
    middle:      [positions] where its right modifiers begin
    first, last: [positions] the outermost tokens of what descends from each token
    said:        [positions, L] what speaks for each label beside the features; [0, 0]: nothing
    """

    words: Longs
    tags: Longs
    given: Longs
    morphs: Longs
    tokens: Longs
    heads: Longs
    modifiers: Longs
    begin: Longs
    middle: Longs
    first: Longs
    last: Longs
    said: Floats

    @classmethod
    def of(cls, lengths: Longs, heads: Longs, columns: Sequence[list[int]], said: Floats) -> Arcs:
        """The arcs of sentences of these lengths, of which the other arguments say something by token.

        heads:   [n] counted from 1 in each sentence, 0 = root. Raises ValueError for those out of range.
        columns: [4, n] words, tags, given, morphs
        said:    [n, L], or [0, 0]
        """
        if np.any((heads < 0) | (heads > np.repeat(lengths, lengths))):
            raise ValueError("a head is out of range; the labeler takes trees")
        size = int(lengths.sum()) + len(lengths) + 1
        gap = np.repeat(np.cumsum(lengths + 1) - lengths - 1, lengths)
        m = np.arange(len(heads)) + np.repeat(np.arange(len(lengths)), lengths) + 1
        h = gap + heads
        of = np.arange(size)
        of[m] = h
        modifiers = m[np.argsort((2 * h + (m > h)) * size + np.abs(m - h))]
        begin = np.append(0, np.cumsum(np.bincount(h, minlength=size)))
        middle = begin[:-1] + np.bincount(h[m < h], minlength=size)
        seen = np.zeros((4, size), np.int64)
        seen[:, m] = columns
        first, last = spans(np.arange(size), np.arange(size), of)
        words, tags, given, morphs = seen
        spread = np.zeros((size if len(said) else 0, said.shape[1]), np.float32)
        if len(said):
            spread[m] = said
        return cls(words, tags, given, morphs, m, of, modifiers, begin, middle, first, last, spread)

    def with_modifiers(self) -> Longs:
        """The tokens and gaps that have modifiers."""
        return np.flatnonzero(np.diff(self.begin))

    def by_sentence(self) -> list[Longs]:
        """The tokens and the gap of each sentence that have modifiers."""
        heads = self.with_modifiers()
        return np.split(heads, np.searchsorted(heads, np.flatnonzero(self.tags == 0)[1:-1]))
