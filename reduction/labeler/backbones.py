"""Backbones as arrays: the arcs of many d-trees, head by head. Making them takes the time of sorting arcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Longs
from d2c.reduction.subtrees import spans

_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class Backbones(NamedTuple):
    """The arcs of d-trees in a row, with a gap before each of them and behind the last.

    A gap is the artificial root of the sentence behind it, with word and tag 0. Position 0 is the first gap,
    and also stands for "no token".

    words, tags: [positions] numbers from 1 on
    predicted:   [positions] numbers from 1 on of the labels that the d-parser gave; 0: none
    morphs:      [positions] numbers from 1 on of their morphology; 0: none
    tokens:      [n] positions of the tokens
    heads:       [positions] position of each token's head; a gap is its own
    modifiers:   [n] head by head, first its left modifiers, then the right ones, each from the head outward
    begin:       [positions + 1] where each head's modifiers begin
    middle:      [positions] where its right modifiers begin
    first, last: [positions] the outermost tokens of each token's subtree
    label_logs:  [positions, L] added to the score of each label besides its features; [0, 0]: nothing
    """

    words: Longs
    tags: Longs
    predicted: Longs
    morphs: Longs
    tokens: Longs
    heads: Longs
    modifiers: Longs
    begin: Longs
    middle: Longs
    first: Longs
    last: Longs
    label_logs: Floats

    @classmethod
    def of(cls, lengths: Longs, heads: Longs, columns: Sequence[Longs], label_logs: Floats) -> Backbones:
        """Return the arcs of sentences of these lengths; the other arguments have a value for each token.

        heads:      [n] counted from 1 in each sentence, 0 = root. Raises ValueError for heads out of range.
        columns:    [4, n] words, tags, predicted, morphs
        label_logs: [n, L], or [0, 0]
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
        spread = np.zeros((4, size), np.int64)
        spread[:, m] = columns
        first, last = spans(np.arange(size), np.arange(size), of)
        logs = np.zeros((size if len(label_logs) else 0, label_logs.shape[1]), np.float32)
        if len(label_logs):
            logs[m] = label_logs
        words, tags, predicted, morphs = spread
        return cls(words, tags, predicted, morphs, m, of, modifiers, begin, middle, first, last, logs)

    def with_modifiers(self) -> Longs:
        """Return the tokens and gaps that have modifiers [M]."""
        return np.flatnonzero(np.diff(self.begin))

    def sentences_of(self, heads: Longs) -> Longs:
        """Return the number, from 0, of the sentence that each token or gap [M] belongs to."""
        return np.searchsorted(np.flatnonzero(self.tags == 0)[1:-1], heads, side="right")

    def by_sentence(self) -> list[Longs]:
        """Return for each sentence which of its tokens and its gap have modifiers, [M] each."""
        heads = self.with_modifiers()
        return np.split(heads, np.searchsorted(heads, np.flatnonzero(self.tags == 0)[1:-1]))


class Repeated(NamedTuple):
    """Heads that recur in several d-trees over one sentence, so that their modifiers are labelled only once.

    Features see the same of a head's modifiers where it has the same head and the same modifiers, and these
    have the same first and last words below them and as many modifiers of their own on either side. In the
    best d-trees over packed arcs most heads recur.

    heads:  [H] the tokens and gaps with modifiers, each where it first occurs
    trees:  [M] the d-tree of each token and gap with modifiers
    first:  [M] its number in `heads`
    source: [n] for each of `Backbones.modifiers`, the modifier whose label it takes over
    """

    heads: Longs
    trees: Longs
    first: Longs
    source: Longs

    @classmethod
    def of(cls, backbones: Backbones, sentences: Longs, gold: Longs | None = None) -> Self:
        """Return the repeated heads of K d-trees.

        sentences: [K] equal numbers for d-trees of one sentence
        gold:      [positions] labels; heads whose modifiers differ in these are not the same
        """
        begin, middle, m = backbones.begin, backbones.middle, backbones.modifiers
        heads = backbones.with_modifiers()
        gaps, size = np.flatnonzero(backbones.tags == 0), len(backbones.tags)
        start, trees = np.repeat(gaps, np.diff(np.append(gaps, size))), backbones.sentences_of(heads)
        below = backbones.first[m] - start[m], backbones.last[m] - start[m]
        labels = np.zeros(len(m), np.int64) if gold is None else gold[m]
        of_modifiers = _hashed(m - start[m], *below, middle[m] - begin[m], begin[m + 1] - middle[m], labels)
        of_heads = heads - start[heads], backbones.heads[heads] - start[heads], sentences[trees]
        same = _hashed(np.add.reduceat(of_modifiers, begin[heads]), *of_heads)  # 64 bits: no collisions
        _, index, first = np.unique(same, return_index=True, return_inverse=True)
        lengths = begin[heads + 1] - begin[heads]
        shift = np.repeat(begin[heads[index[first]]] - begin[heads], lengths)
        return cls(heads[index], trees, first, m[np.arange(len(m)) + shift])


def _hashed(*columns: NDArray[np.int64 | np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each row of some columns [rows]."""
    hashed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        hashed = (hashed + column.astype(np.uint64)) * _FACTOR
        hashed ^= hashed >> _HALF
    return hashed
