"""What the labeler sees of an arc, and of two modifiers of one head: templates as tables (section 4.2).

A feature is an atom (`d2c.linear.templates`) conjoined with a label, with its symbol, or with a pair of
labels. The templates of an arc are of TurboParser's kinds, which the paper takes over; a pair has the paper's
own. All atoms of an arc know on which side of its head the modifier is.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from d2c.linear.kernels import inner
from d2c.linear.templates import Rows, fields_of, fill_atoms, fill_each, look_up, rows
from d2c.reduction.labeler.backbones import Backbones, Longs

# g: head of h; inner, outer: the modifiers before and after m on its side, from the head outward; near, far:
# the innermost and outermost ones of the other side; i, j: first and last word of what descends from m
POSITIONS = (
    *("h", "h-1", "h+1", "m", "m-1", "m+1", "g"),
    *("inner", "outer", "near", "far", "i", "i-1", "j", "j+1"),
)
# valency: modifiers of h on either side; number: which one m is on its side, whether the last, and whether
# the other side has none; modifiers[m]: its own on either side; between: the set of tags between h and m
FIELDS = (
    *fields_of(("word", "tag"), POSITIONS),
    *("label[h]", "label[m]", "label[inner]", "label[outer]"),
    *("bin(h-m)", "bin(j-i)", "valency", "number", "modifiers[m]", "g>h", "between"),
    *("morph[h]", "morph[m]"),
)
ARC = {
    "head and modifier": (
        *("", "tag[h]", "tag[m]", "tag[h] tag[m]", "word[h]", "word[m]"),
        *("word[h] tag[m]", "tag[h] word[m]", "word[h] word[m]"),
    ),
    "neighbours": (
        *("tag[h] tag[m] tag[m-1]", "tag[h] tag[m] tag[m+1]"),
        *("tag[h] tag[m] tag[h-1]", "tag[h] tag[m] tag[h+1]", "tag[m] tag[m-1] tag[m+1]"),
        *("tag[h] tag[m] tag[m-1] tag[h-1]", "tag[h] tag[m] tag[m-1] tag[h+1]"),
        *("tag[h] tag[m] tag[m+1] tag[h-1]", "tag[h] tag[m] tag[m+1] tag[h+1]"),
        *("word[m-1] tag[m]", "word[m+1] tag[m]", "word[h-1] tag[h]", "word[h+1] tag[h]"),
    ),
    "distance and valency": (
        *("tag[h] tag[m] bin(h-m)", "word[m] bin(h-m)"),
        *("tag[h] tag[m] valency", "tag[h] tag[m] number", "tag[h] tag[m] valency number"),
        *("word[h] number", "word[m] number", "tag[h] tag[m] modifiers[m]"),
    ),
    "siblings": (
        *("tag[h] tag[m] tag[inner]", "tag[h] tag[m] tag[outer]", "tag[h] tag[m] tag[inner] tag[outer]"),
        *("tag[h] tag[m] word[inner]", "tag[h] tag[m] word[outer]", "tag[h] tag[m] tag[near] tag[far]"),
        *("tag[m] word[near]", "tag[m] word[far]"),
    ),
    "grandparent": ("tag[h] tag[m] tag[g] g>h", "tag[h] tag[m] word[g]", "tag[m] tag[g] g>h"),
    "the modifier's span": (
        *("tag[h] tag[m] word[i]", "tag[h] tag[m] word[j]", "tag[h] word[i]", "tag[h] tag[m] tag[i] tag[j]"),
        *("tag[h] tag[m] tag[i-1] tag[j+1]", "tag[h] tag[m] word[i-1]", "tag[h] tag[m] word[j+1]"),
        *("tag[m] tag[i-1] tag[i]", "tag[m] tag[j] tag[j+1]", "tag[m] bin(j-i)"),
    ),
    "tags between": ("tag[h] tag[m] between",),  # and each of them, with tag[h] tag[m]
}
STACKED = {
    "labels of the d-parser": (
        *("label[m]", "label[m] tag[h] tag[m]", "label[m] word[m]", "label[m] word[h]", "label[m] label[h]"),
        *("label[m] label[inner] label[outer]", "label[m] number"),
        "tag[h] tag[m] label[inner] label[outer]",
    ),
}
MORPHOLOGY = {  # where the treebank has it
    "morphology": (
        *("morph[h]", "morph[m]", "morph[h] tag[m]", "tag[h] morph[m]", "morph[h] morph[m]"),
        *("morph[m] number", "morph[h] morph[m] bin(h-m)"),
    ),
}
PAIR_FIELDS = fields_of(("word", "tag"), ("h", "m", "m'"))
PAIR = {
    "tag triplet": ("tag[h] tag[m] tag[m']",),
    "unilexical": ("word[h] tag[m] tag[m']", "tag[h] word[m] tag[m']", "tag[h] tag[m] word[m']"),
    "head": ("tag[h]",),
}
_PLAIN = list(chain(*ARC.values()))
_LABELLED = [*_PLAIN, *chain(*STACKED.values())]
_ARC_ROWS = rows([*_LABELLED, *chain(*MORPHOLOGY.values())], FIELDS)
_LABELS, _MORPHS = len(_PLAIN), len(_LABELLED)  # where the templates of labels, and of morphology, begin
_PAIR_ROWS = rows(list(chain(*PAIR.values())), PAIR_FIELDS)
PAIR_ATOMS = len(_PAIR_ROWS)
_BETWEEN = 24  # different tags between head and modifier that are looked at
_SIDES = 2  # salts below are those of arcs
_BINS = np.searchsorted([1, 2, 3, 4, 5, 7, 10, 15, 20, 30], np.arange(32))  # of distances


class LabelTemplates(NamedTuple):
    """The tables of templates, and buffers for what they see and give.

    arc, pair: as of `d2c.linear.templates.rows`
    positions, numbers, between: what is seen of one arc, or pair
    atoms:     those of one arc, or pair
    """

    arc: Rows
    pair: Rows
    positions: Longs
    numbers: Longs
    between: Longs
    atoms: Longs

    @classmethod
    def new(cls) -> LabelTemplates:
        """All templates, with buffers of their own."""
        sizes = len(POSITIONS), len(FIELDS) + 1, _BETWEEN, len(_ARC_ROWS) + _BETWEEN
        return cls(_ARC_ROWS, _PAIR_ROWS, *(np.zeros(size, np.int64) for size in sizes))


@inner
def arc_atoms(templates: LabelTemplates, arcs: Backbones, h: int, i: int) -> int:
    """Writes the atoms of the arc from h to modifiers[i]; how many there are."""
    words, tags, predicted, modifiers = arcs.words, arcs.tags, arcs.predicted, arcs.modifiers
    positions, numbers, atoms = templates.positions, templates.numbers, templates.atoms
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    right = i >= middle
    low, high = (middle, end) if right else (begin, middle)
    other_low, other_high = (begin, middle) if right else (middle, end)
    m, g, first, last = modifiers[i], arcs.heads[h], arcs.first[modifiers[i]], arcs.last[modifiers[i]]
    inner_sibling = modifiers[i - 1] if i > low else 0
    outer_sibling = modifiers[i + 1] if i + 1 < high else 0
    positions[0], positions[1], positions[2] = h, h - 1 if g != h else 0, h + 1
    positions[3], positions[4], positions[5], positions[6] = m, m - 1, m + 1, g
    positions[7], positions[8] = inner_sibling, outer_sibling
    positions[9] = modifiers[other_low] if other_low < other_high else 0
    positions[10] = modifiers[other_high - 1] if other_low < other_high else 0
    positions[11], positions[12], positions[13], positions[14] = first, first - 1, last, last + 1
    n = look_up(tags, positions, numbers, look_up(words, positions, numbers, 0))
    numbers[n], numbers[n + 1] = predicted[h], predicted[m]
    numbers[n + 2], numbers[n + 3] = predicted[inner_sibling], predicted[outer_sibling]
    numbers[n + 4], numbers[n + 5] = _BINS[min(abs(h - m), 31)], _BINS[min(last - first, 31)]
    numbers[n + 6] = min(high - low, 7) * 8 + min(other_high - other_low, 7)
    numbers[n + 7] = (min(i - low, 7) * 2 + int(i + 1 == high)) * 2 + int(other_low == other_high)
    own_middle = arcs.middle[m]
    numbers[n + 8] = min(own_middle - arcs.begin[m], 3) * 4 + min(arcs.begin[m + 1] - own_middle, 3)
    numbers[n + 9] = int(g > h)
    different, seen = 0, np.int64(0)
    for k in range(min(h, m) + 1, min(max(h, m), min(h, m) + 1 + _BETWEEN)):
        bit = np.int64(1) << (tags[k] & 63)
        if not seen & bit:
            seen |= bit
            templates.between[different] = tags[k]
            different += 1
    numbers[n + 10] = seen
    numbers[n + 11], numbers[n + 12] = arcs.morphs[h], arcs.morphs[m]
    side = int(right)
    count = fill_atoms(numbers, templates.arc, 0, _MORPHS if predicted[m] else _LABELS, side, atoms, 0)
    if arcs.morphs[m]:
        count = fill_atoms(numbers, templates.arc, _MORPHS, len(templates.arc), side, atoms, count)
    return fill_each((tags[h] << 12) | tags[m], templates.between[:different], side, atoms, count)


@inner
def pair_atoms(templates: LabelTemplates, arcs: Backbones, h: int, m: int, m2: int, kind: int) -> int:
    """Writes the atoms of a modifier m2 of h after m; kind: their sides, or start or stop (m or m2 is 0)."""
    positions, numbers = templates.positions[:3], templates.numbers
    positions[0], positions[1], positions[2] = h, m, m2
    look_up(arcs.tags, positions, numbers, look_up(arcs.words, positions, numbers, 0))
    numbers[2 * 3] = 0
    return fill_atoms(numbers, templates.pair, 0, PAIR_ATOMS, _SIDES + kind, templates.atoms, 0)
