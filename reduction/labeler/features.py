"""What the labeler sees of an arc, and of two modifiers of one head: hashed atoms (section 4.2).

A feature is an atom conjoined with a label, with its symbol, or with a pair of labels (`d2c.linear.hashing`).
The atoms of an arc are of TurboParser's kinds: words and tags of head and modifier and beside them,
direction, distance, valency, siblings, grandparent, tags between, edges of the modifier's span; and the whole
frame, that is the tags of all modifiers of the head. A pair has the tags of head and both modifiers, and the
three versions with a word in place of one of the tags.

A token's place in its sentence counts from 1; place 0 is the artificial root, the gap before the sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.linear.hashing import atom

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

ARC_ATOMS = 96  # room for the atoms of an arc, of which those of tags between come last
PAIR_ATOMS = 5
_BETWEEN = 24  # different tags between head and modifier that are looked at
_PAIRS = 512  # templates of pairs begin here
LONGEST = np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30])  # upper bounds of the bins of distances


class Corpus(NamedTuple):
    """N sentences with their heads in a row, a gap with zeros before each of them and behind the last.

    begin: [N + 1] the gap before each sentence, and the last one
    heads: [positions] 0..n, counted in the sentence
    words, tags: [positions] numbers from 1 on, below 2^24 and 2^12
    given: [positions] numbers from 1 on of the labels that the d-parser gave; 0: none
    """

    begin: Longs
    heads: Ints
    words: Ints
    tags: Ints
    given: Ints


class Sentence(NamedTuple):
    """One d-tree of n tokens; all arrays are by place 0..n.

    heads, words, tags, given: as in `Corpus`; words and tags have another zero behind the sentence
    begin:       [n + 2] where the modifiers of each place begin in `modifiers`
    modifiers:   [n] left to right
    middle:      [n + 1] where its right modifiers begin
    first, last: [n + 1] the outermost tokens of what descends from it
    """

    heads: Ints
    words: Ints
    tags: Ints
    begin: Ints
    modifiers: Ints
    middle: Ints
    first: Ints
    last: Ints
    given: Ints


@njit(cache=True, nogil=True)
def lay_out(corpus: Corpus, number: int) -> Sentence:
    """Sentence `number` of a corpus; linear time but for the spans of deep trees."""
    start, end = corpus.begin[number], corpus.begin[number + 1]
    n = end - start - 1
    heads = corpus.heads[start:end]
    tags = corpus.tags[start : end + 1]
    begin, middle = np.zeros(n + 2, np.int32), np.zeros(n + 1, np.int32)
    first, last = np.arange(n + 1).astype(np.int32), np.arange(n + 1).astype(np.int32)
    for m in range(1, n + 1):
        begin[heads[m] + 1] += 1
        middle[heads[m]] += m < heads[m]
        # Where m is seen below a place, it is seen below all that are above: also the end for a cycle.
        h = heads[m]
        while h and (m < first[h] or m > last[h]):
            first[h], last[h] = min(m, first[h]), max(m, last[h])
            h = heads[h]
    for h in range(n + 1):
        begin[h + 1] += begin[h]
        middle[h] += begin[h]
    modifiers = np.empty(n, np.int32)
    filled = begin.copy()
    for m in range(1, n + 1):
        h = heads[m]
        modifiers[filled[h]] = m
        filled[h] += 1
    words, given = corpus.words[start : end + 1], corpus.given[start:end]
    return Sentence(heads, words, tags, begin, modifiers, middle, first, last, given)


@njit(cache=True, nogil=True)
def outward(sentence: Sentence, h: int, chain: Ints) -> tuple[int, int]:
    """Writes a head's left and then its right modifiers, from the head outward; how many are on each side."""
    begin, middle, end = sentence.begin[h], sentence.middle[h], sentence.begin[h + 1]
    for at in range(begin, middle):
        chain[middle - 1 - at] = sentence.modifiers[at]
    for at in range(middle, end):
        chain[at - begin] = sentence.modifiers[at]
    return middle - begin, end - middle


@njit(cache=True, nogil=True, inline="always")
def _add(atoms: Longs, n: int, base: int, first: int, second: int) -> int:
    atoms[n] = atom(base + 2 * n, first, second)
    return n + 1


@njit(cache=True, nogil=True)
def arc_atoms(
    s: Sentence, h: int, chain: Ints, lefts: int, rights: int, at: int, atoms: NDArray[np.int64]
) -> int:
    """Writes the atoms of the arc from h to chain[at], a chain of `outward`; returns how many there are."""
    m, right = chain[at], int(at >= lefts)
    place, siblings = (at - lefts, rights) if right else (at, lefts)
    inner = chain[at - 1] if place else 0
    outer = chain[at + 1] if place + 1 < siblings else 0
    opposite = 0 if right else lefts
    opposites = lefts if right else rights
    near = chain[opposite] if opposites else 0
    far = chain[opposite + opposites - 1] if opposites else 0
    w, t, g, i, j = s.words, s.tags, s.heads[h] if h else 0, s.first[m], s.last[m]
    th, tm, tg = np.int64(t[h]), np.int64(t[m]), np.int64(t[g])
    before_h, after_h, before_m, after_m = t[h - 1] if h else 0, t[h + 1], t[m - 1], t[m + 1]
    both = (th << 12) | tm
    distance = np.searchsorted(LONGEST, abs(h - m))
    valency = min(siblings, 7) * 8 + min(opposites, 7)
    own = s.middle[m] - s.begin[m], s.begin[m + 1] - s.middle[m]
    standing = (min(place, 7) * 2 + int(outer == 0)) * 2 + int(opposites == 0)
    base = right
    n = 0
    # 0: head and modifier
    n = _add(atoms, n, base, 0, 0)
    n = _add(atoms, n, base, th, 0)
    n = _add(atoms, n, base, tm, 0)
    n = _add(atoms, n, base, both, 0)
    n = _add(atoms, n, base, w[h], 0)
    n = _add(atoms, n, base, w[m], 0)
    n = _add(atoms, n, base, w[h], tm)
    n = _add(atoms, n, base, w[m], th)
    n = _add(atoms, n, base, w[h], w[m])
    # 9: neighbours
    n = _add(atoms, n, base, both, before_m)
    n = _add(atoms, n, base, both, after_m)
    n = _add(atoms, n, base, both, before_h)
    n = _add(atoms, n, base, both, after_h)
    n = _add(atoms, n, base, tm, (before_m << 12) | after_m)
    n = _add(atoms, n, base, both, (before_m << 12) | before_h)
    n = _add(atoms, n, base, both, (before_m << 12) | after_h)
    n = _add(atoms, n, base, both, (after_m << 12) | before_h)
    n = _add(atoms, n, base, both, (after_m << 12) | after_h)
    n = _add(atoms, n, base, w[m - 1], tm)
    n = _add(atoms, n, base, w[m + 1], tm)
    n = _add(atoms, n, base, w[h - 1] if h else 0, th)
    n = _add(atoms, n, base, w[h + 1], th)
    # 22: distance and valency
    n = _add(atoms, n, base, both, distance)
    n = _add(atoms, n, base, w[m], distance)
    n = _add(atoms, n, base, both, valency)
    n = _add(atoms, n, base, both, standing)
    n = _add(atoms, n, base, both, valency * 64 + standing)
    n = _add(atoms, n, base, w[h], standing)
    n = _add(atoms, n, base, w[m], standing)
    n = _add(atoms, n, base, both, min(own[0], 3) * 4 + min(own[1], 3))
    # 30: siblings
    n = _add(atoms, n, base, both, t[inner])
    n = _add(atoms, n, base, both, t[outer])
    n = _add(atoms, n, base, both, (t[inner] << 12) | t[outer])
    n = _add(atoms, n, base, both, w[inner])
    n = _add(atoms, n, base, both, w[outer])
    n = _add(atoms, n, base, both, (t[near] << 12) | t[far])
    n = _add(atoms, n, base, tm, w[near])
    n = _add(atoms, n, base, tm, w[far])
    # 38: grandparent
    n = _add(atoms, n, base, both, (tg << 1) | int(g > h))
    n = _add(atoms, n, base, both, w[g])
    n = _add(atoms, n, base, tm, (tg << 1) | int(g > h))
    # 41: the modifier's span
    n = _add(atoms, n, base, both, w[i])
    n = _add(atoms, n, base, both, w[j])
    n = _add(atoms, n, base, th, w[i])
    n = _add(atoms, n, base, both, (t[i] << 12) | t[j])
    n = _add(atoms, n, base, both, (t[i - 1] << 12) | t[j + 1])
    n = _add(atoms, n, base, both, w[i - 1])
    n = _add(atoms, n, base, both, w[j + 1])
    n = _add(atoms, n, base, tm, (t[i - 1] << 12) | t[i])
    n = _add(atoms, n, base, tm, (t[j] << 12) | t[j + 1])
    n = _add(atoms, n, base, tm, np.searchsorted(LONGEST, j - i))
    # 51: the d-parser's labels
    if s.given[m]:
        label, label_h, outside = s.given[m], s.given[h], (s.given[inner] << 12) | s.given[outer]
        n = _add(atoms, n, base, label, 0)
        n = _add(atoms, n, base, label, both)
        n = _add(atoms, n, base, label, w[m])
        n = _add(atoms, n, base, label, w[h])
        n = _add(atoms, n, base, label, label_h)
        n = _add(atoms, n, base, label, outside)
        n = _add(atoms, n, base, label, standing)
        n = _add(atoms, n, base, both, outside)
    seen, low, high = np.int64(0), min(h, m) + 1, max(h, m)
    for k in range(low, min(high, low + _BETWEEN)):
        bit = np.int64(1) << (t[k] & 63)
        if not seen & bit:
            seen |= bit
            atoms[n] = atom(base + 200, both, t[k])
            n += 1
    atoms[n] = atom(base + 202, both, seen)
    return n + 1


@njit(cache=True, nogil=True)
def pair_atoms(s: Sentence, h: int, m: int, m2: int, code: int, atoms: NDArray[np.int64]) -> None:
    """Writes the atoms of a modifier m2 of h after m; code: their sides, or start or stop (m or m2 is 0)."""
    w, t = s.words, s.tags
    base = _PAIRS + 8 * code
    atoms[0] = atom(base, t[h], 0)
    atoms[1] = atom(base + 1, (np.int64(t[h]) << 12) | t[m], t[m2])
    atoms[2] = atom(base + 2, (np.int64(t[m]) << 12) | t[m2], w[h])
    atoms[3] = atom(base + 3, (np.int64(t[h]) << 12) | t[m2], w[m])
    atoms[4] = atom(base + 4, (np.int64(t[h]) << 12) | t[m], w[m2])
