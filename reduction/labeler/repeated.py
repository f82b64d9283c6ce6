"""Heads that come again in several d-trees over one sentence, so that their labels are found once.

What features see of a head's modifiers is the same where it has the same head and the same modifiers, with
the same words below them and as many modifiers of their own on either side. Of the best d-trees over packed
arcs most heads are such.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Longs
from d2c.reduction.labeler.backbones import Backbones

_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class Repeated(NamedTuple):
    """Which heads come again.

    heads:  [H] the tokens and gaps with modifiers, where they come first
    trees:  [M] the d-tree of each token and gap with modifiers
    first:  [M] which of `heads` it is
    source: [n] the modifier whose labels each one has, in the order of `Backbones.modifiers`
    """

    heads: Longs
    trees: Longs
    first: Longs
    source: Longs

    @classmethod
    def of(cls, backbones: Backbones, sentences: Longs, gold: Longs | None = None) -> Self:
        """Return those of K d-trees.

        sentences: [K] equal numbers for d-trees of one sentence
        gold:      [positions] labels; heads whose modifiers have other ones are not the same
        """
        begin, middle, m = backbones.begin, backbones.middle, backbones.modifiers
        heads = backbones.with_modifiers()
        gaps, size = np.flatnonzero(backbones.tags == 0), len(backbones.tags)
        start, trees = np.repeat(gaps, np.diff(np.append(gaps, size))), backbones.sentences_of(heads)
        below = backbones.first[m] - start[m], backbones.last[m] - start[m]
        labels = np.zeros(len(m), np.int64) if gold is None else gold[m]
        of_modifiers = _hashed(m - start[m], *below, middle[m] - begin[m], begin[m + 1] - middle[m], labels)
        of_heads = heads - start[heads], backbones.heads[heads] - start[heads], sentences[trees]
        same = _hashed(np.add.reduceat(of_modifiers, begin[heads]), *of_heads)  # of 64 bits: never by chance
        _, index, first = np.unique(same, return_index=True, return_inverse=True)
        lengths = begin[heads + 1] - begin[heads]
        shift = np.repeat(begin[heads[index[first]]] - begin[heads], lengths)
        return cls(heads[index], trees, first, m[np.arange(len(m)) + shift])


def _hashed(*columns: NDArray[np.int64 | np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each row."""
    hashed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        hashed = (hashed + column.astype(np.uint64)) * _FACTOR
        hashed ^= hashed >> _HALF
    return hashed
