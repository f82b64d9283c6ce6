"""What the labeler sees of an arc, and of two modifiers of one head: templates as tables (section 4.2 of
"Parsing as Reduction").

A feature is an atom (`d2c.learning.templates`) conjoined with a label, with its symbol, or with a pair of
labels. The templates of an arc are of TurboParser's kinds, which the paper takes over; a pair has the paper's
own, and beyond the paper `tag[h]`. All atoms of an arc know on which side of its head the modifier is.
"""

# What an index gives is a number in numba; numpy's types leave it open:
# pyright: reportArgumentType=false

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Longs
from d2c.learning.kernels import inner
from d2c.learning.templates import Rows, fields_of, fill_atoms, fill_each, look_up, names_in, rows
from d2c.reduction.labeler.backbones import Backbones

# POSITIONS are in the order of `ArcTokens`; behind their words and tags, FIELDS are in that of `ArcNumbers`
POSITIONS = names_in("h, h-1, h+1, m, m-1, m+1, g, inner, outer, near, far, i, i-1, j, j+1")
FIELDS = (
    *fields_of(("word", "tag"), POSITIONS),
    *names_in("label[h], label[m], label[inner], label[outer]"),
    *names_in("bin(h-m), bin(j-i), valency, number, modifiers[m], g>h, between, morph[h], morph[m]"),
)
ARC = {
    "head and modifier": names_in(
        "-, tag[h], tag[m], tag[h] tag[m], word[h], word[m],word[h] tag[m], tag[h] word[m], word[h] word[m]"
    ),
    "neighbours": names_in(
        "tag[h] tag[m] tag[m-1], tag[h] tag[m] tag[m+1],"
        "tag[h] tag[m] tag[h-1], tag[h] tag[m] tag[h+1], tag[m] tag[m-1] tag[m+1],"
        "tag[h] tag[m] tag[m-1] tag[h-1], tag[h] tag[m] tag[m-1] tag[h+1],"
        "tag[h] tag[m] tag[m+1] tag[h-1], tag[h] tag[m] tag[m+1] tag[h+1],"
        "word[m-1] tag[m], word[m+1] tag[m], word[h-1] tag[h], word[h+1] tag[h]"
    ),
    "distance and valency": names_in(
        "tag[h] tag[m] bin(h-m), word[m] bin(h-m),"
        "tag[h] tag[m] valency, tag[h] tag[m] number, tag[h] tag[m] valency number,"
        "word[h] number, word[m] number, tag[h] tag[m] modifiers[m]"
    ),
    "siblings": names_in(
        "tag[h] tag[m] tag[inner], tag[h] tag[m] tag[outer], tag[h] tag[m] tag[inner] tag[outer],"
        "tag[h] tag[m] word[inner], tag[h] tag[m] word[outer], tag[h] tag[m] tag[near] tag[far],"
        "tag[m] word[near], tag[m] word[far]"
    ),
    "grandparent": names_in("tag[h] tag[m] tag[g] g>h, tag[h] tag[m] word[g], tag[m] tag[g] g>h"),
    "the modifier's span": names_in(
        "tag[h] tag[m] word[i], tag[h] tag[m] word[j], tag[h] word[i], tag[h] tag[m] tag[i] tag[j],"
        "tag[h] tag[m] tag[i-1] tag[j+1], tag[h] tag[m] word[i-1], tag[h] tag[m] word[j+1],"
        "tag[m] tag[i-1] tag[i], tag[m] tag[j] tag[j+1], tag[m] bin(j-i)"
    ),
    "tags between": names_in("tag[h] tag[m] between"),  # the set; and each of its tags, with tag[h] tag[m]
}
STACKED = {
    "labels of the d-parser": names_in(
        "label[m], label[m] tag[h] tag[m], label[m] word[m], label[m] word[h], label[m] label[h],"
        "label[m] label[inner] label[outer], label[m] number, tag[h] tag[m] label[inner] label[outer]"
    ),
}
MORPHOLOGY = {  # where the treebank has it
    "morphology": names_in(
        "morph[h], morph[m], morph[h] tag[m], tag[h] morph[m], morph[h] morph[m],"
        "morph[m] number, morph[h] morph[m] bin(h-m)"
    ),
}
PAIR_FIELDS = fields_of(("word", "tag"), ("h", "m", "m'"))
PAIR = {
    "tag triplet": names_in("tag[h] tag[m] tag[m']"),
    "unilexical": names_in("word[h] tag[m] tag[m'], tag[h] word[m] tag[m'], tag[h] tag[m] word[m']"),
    "head": names_in("tag[h]"),  # beyond the paper
}
_PLAIN = list(chain(*ARC.values()))
_LABELLED = [*_PLAIN, *chain(*STACKED.values())]
_ARC_ROWS = rows([*_LABELLED, *chain(*MORPHOLOGY.values())], FIELDS)
_LABELS, _MORPHS = len(_PLAIN), len(_LABELLED)  # where the templates of labels, and of morphology, begin
_PAIR_ROWS = rows(list(chain(*PAIR.values())), PAIR_FIELDS)
PAIR_ATOMS = len(_PAIR_ROWS)
_BETWEEN = 24  # tokens between head and modifier, the leftmost, whose tags are looked at
_SIDES = 2  # smaller salts are those of arcs
_BINS = np.searchsorted([1, 2, 3, 4, 5, 7, 10, 15, 20, 30], np.arange(32))  # of distances


class ArcTokens(NamedTuple):
    """The positions that features of an arc see, with the tokens before and after some; 0: none.

    g:           head of h
    inner, outer: the modifiers before and after m on its side, from the head outward
    near, far:   the innermost and outermost modifiers on the other side
    i, j:        first and last word of m's subtree
    """

    h: int
    before_h: int
    after_h: int
    m: int
    before_m: int
    after_m: int
    g: int
    inner: int
    outer: int
    near: int
    far: int
    i: int
    before_i: int
    j: int
    after_j: int


class ArcNumbers(NamedTuple):
    """What features of an arc see besides words and tags.

    label_*:   the d-parser's labels
    distance, width: bins of |h - m| and j - i
    valency:   how many modifiers h has on m's side, and on the other
    number:    which modifier m is on its side, whether it is the last there, and whether the other has none
    modifiers: how many m has of its own on either side
    g_after_h: whether g is on the right of h
    between:   the set of tags between h and m
    morph_*:   morphology
    """

    label_h: int
    label_m: int
    label_inner: int
    label_outer: int
    distance: int
    width: int
    valency: int
    number: int
    modifiers: int
    g_after_h: int
    between: int
    morph_h: int
    morph_m: int


class LabelTemplates(NamedTuple):
    """The tables of templates, and buffers for what they see and give.

    arc, pair: as of `d2c.learning.templates.rows`
    positions, numbers, between: what is seen of one arc, or pair
    atoms:     of one arc, or pair
    """

    arc: Rows
    pair: Rows
    positions: Longs
    numbers: Longs
    between: Longs
    atoms: Longs

    @classmethod
    def new(cls) -> LabelTemplates:
        """Return all templates, with buffers of their own."""
        sizes = len(POSITIONS), len(FIELDS) + 1, _BETWEEN, len(_ARC_ROWS) + _BETWEEN
        return cls(_ARC_ROWS, _PAIR_ROWS, *(np.zeros(size, np.int64) for size in sizes))


@inner
def arc_atoms(templates: LabelTemplates, arcs: Backbones, h: int, i: int) -> int:
    """Write the atoms of the arc from h to modifiers[i], φ(h, m, ℓ) of section 4.2; return how many."""
    tags, predicted, modifiers = arcs.tags, arcs.predicted, arcs.modifiers
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    right = i >= middle
    low, high = (middle, end) if right else (begin, middle)
    other_low, other_high = (begin, middle) if right else (middle, end)
    m, g, first, last = modifiers[i], arcs.heads[h], arcs.first[modifiers[i]], arcs.last[modifiers[i]]
    one_sided = other_low == other_high
    seen = ArcTokens(
        h=h,
        before_h=h - 1 if g != h else 0,
        after_h=h + 1,
        m=m,
        before_m=m - 1,
        after_m=m + 1,
        g=g,
        inner=modifiers[i - 1] if i > low else 0,
        outer=modifiers[i + 1] if i + 1 < high else 0,
        near=0 if one_sided else modifiers[other_low],
        far=0 if one_sided else modifiers[other_high - 1],
        i=first,
        before_i=first - 1,
        j=last,
        after_j=last + 1,
    )
    middle_of_m = arcs.middle[m]
    set_between, different = _tags_between(tags, h, m, templates.between)
    others = ArcNumbers(
        label_h=predicted[h],
        label_m=predicted[m],
        label_inner=predicted[seen.inner],
        label_outer=predicted[seen.outer],
        distance=_BINS[min(abs(h - m), 31)],
        width=_BINS[min(last - first, 31)],
        valency=min(high - low, 7) * 8 + min(other_high - other_low, 7),
        number=(min(i - low, 7) * 2 + int(i + 1 == high)) * 2 + int(one_sided),
        modifiers=min(middle_of_m - arcs.begin[m], 3) * 4 + min(arcs.begin[m + 1] - middle_of_m, 3),
        g_after_h=int(g > h),
        between=set_between,
        morph_h=arcs.morphs[h],
        morph_m=arcs.morphs[m],
    )
    numbers, atoms, side = templates.numbers, templates.atoms, int(right)
    for field in range(len(seen)):
        templates.positions[field] = seen[field]
    known = look_up(tags, templates.positions, numbers, look_up(arcs.words, templates.positions, numbers, 0))
    for field in range(len(others)):
        numbers[known + field] = others[field]
    count = fill_atoms(numbers, templates.arc, 0, _MORPHS if others.label_m else _LABELS, side, atoms, 0)
    if others.morph_m:
        count = fill_atoms(numbers, templates.arc, _MORPHS, len(templates.arc), side, atoms, count)
    return fill_each((tags[h] << 12) | tags[m], templates.between[:different], side, atoms, count)


@inner
def _tags_between(tags: Longs, h: int, m: int, different: Longs) -> tuple[np.int64, int]:
    """Write the different tags of the first _BETWEEN tokens between h and m into `different` [_BETWEEN];
    return the set of them, in bits, and how many there are. Tags that are equal modulo 64 count as one.

    tags: [positions] of all tokens
    """
    count, bits, low, high = 0, np.int64(0), min(h, m), max(h, m)
    for k in range(low + 1, min(high, low + 1 + _BETWEEN)):
        bit = np.int64(1) << (tags[k] & 63)
        if not bits & bit:
            bits |= bit
            different[count] = tags[k]
            count += 1
    return bits, count


@inner
def pair_atoms(templates: LabelTemplates, arcs: Backbones, h: int, m: int, m2: int, kind: int) -> int:
    """Write the atoms of two consecutive modifiers of h, m and m2 (section 4.2: φ(h, m, m', ℓ, ℓ')).

    kind: the sides that they are on, or start or stop of a side (then m or m2 is 0)
    """
    positions, numbers = templates.positions[:3], templates.numbers
    for field, position in enumerate((h, m, m2)):
        positions[field] = position
    look_up(arcs.tags, positions, numbers, look_up(arcs.words, positions, numbers, 0))
    numbers[len(PAIR_FIELDS)] = 0
    return fill_atoms(numbers, templates.pair, 0, PAIR_ATOMS, _SIDES + kind, templates.atoms, 0)
