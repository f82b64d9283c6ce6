"""The scoring function s(y; x, d) = θᵀ f(x, d, y) (PAD, section 4) over `d2c.cky.search.templates`.

All rules that apply at one site share its atoms. So each atom is hashed once, and a part's score is the sum
of the weights in the slots atom + key, for the keys of its rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Ints, Longs
from d2c.cky.search.deduction import COPY, GLUED, Chart
from d2c.cky.search.skeleton import Observed
from d2c.cky.search.templates import (
    BACKED_OFF,
    FIELDS,
    GROUPS,
    HEAD,
    MODIFIER,
    PARENT,
    POSITIONS,
    RULE,
    Positions,
    Templates,
)
from d2c.learning.kernels import inner, kernel, lean, summing
from d2c.learning.templates import atom_of, fill_each
from d2c.trees.binarization import LEFT, RIGHT, UNARY

MOST_WORDS = 100  # first words of a sentence, which tell what kind of text it is
ATOMS = 64 + MOST_WORDS  # room for the atoms of a site; FEATURES for the features of a part
FEATURES = 2 * ATOMS
BINS = np.array([1, 2, 3, 4, 5, 8, 12, 20, 35])  # bin(i) of Figure 4: the greatest i of nine of the ten bins
_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_POSITIONS, _FIELDS, _GROUPS = len(POSITIONS), len(FIELDS), len(GROUPS)


class Scorer(NamedTuple):
    """The templates, the keys of rules and the weights.

    keys:    [R, groups] of each rule, see `Grammar.keys`
    weights: [2^k]
    """

    templates: Templates
    keys: Longs
    weights: Floats


# Below, kernels get arrays one by one: numba counts references to an array that comes out of a tuple, which
# takes longer than all else.


@lean
def _fill_numbers(observed: Observed, site: np.void, positions: Longs, numbers: Longs) -> None:
    """Write the fields of a site into `numbers` [FIELDS + 1]; positions: [POSITIONS] room for these."""
    side, h, i, j, k = site["side"], site["h"] + 1, site["i"] + 1, site["j"] + 1, site["k"] + 1
    left, right = site["next_left"] + 1, site["next_right"] + 1
    inner_left, inner_right = site["inner_left"] + 1, site["inner_right"] + 1
    numbers[0], numbers[1] = (k, 0) if side == UNARY else (0, 0)
    for bound in BINS:
        numbers[1] += int(bound < j - i)
    if side == UNARY:
        k = 0
    inner, outer = (inner_left, left) if side == LEFT else (inner_right, right)
    m, g = site["m"] + 1, site["g"] + 0  # + 0: as wide as the others
    at = Positions(h, m, i, i - 1, j, j + 1, k, k + 1, g, left, right, inner_left, inner_right, inner, outer)
    for field in range(_POSITIONS):
        positions[field] = at[field]
        token = observed[positions[field]]
        numbers[2 + field], numbers[2 + _POSITIONS + field] = token["word"], token["tag"]
        numbers[2 + 2 * _POSITIONS + field] = token["label"]
    numbers[_FIELDS - 2], numbers[_FIELDS - 1] = observed[h]["morph"], observed[m]["morph"]


class SplitAtoms(NamedTuple):
    """The atoms of a site, and room for what they are made of.

    atoms:  [2, ATOMS] those of its arc alone, and the others, each group by group
    bounds: [2, groups + 1] where the atoms of each group begin, and at last where all atoms end
    positions, numbers: the fields of the site
    """

    atoms: Longs
    bounds: Longs
    positions: Longs
    numbers: Longs


@inner
def room_for_atoms() -> SplitAtoms:
    """Return room for the atoms of a site."""
    atoms, bounds = np.empty((2, ATOMS), np.int64), np.zeros((2, _GROUPS + 1), np.int64)
    return SplitAtoms(atoms, bounds, np.empty(_POSITIONS, np.int64), np.zeros(_FIELDS + 1, np.int64))


@lean
def fill_atoms_of_site(
    observed: Observed, site: np.void, templates: Templates, first: int, split: SplitAtoms
) -> None:
    """Write the atoms of a site, and where those of each group begin.

    observed: [n + 2]
    first: 0, or 1 where the atoms of the arc alone are there already
    """
    side, numbers, table, rows = np.int64(site["side"]), split.numbers, templates.table, templates.split
    _fill_numbers(observed, site, split.positions, numbers)
    for part in range(first, 2):
        begin, atoms, bounds = templates.parts[side, part], split.atoms[part], split.bounds[part]
        for i in range(begin[0], begin[_GROUPS]):
            atoms[i - begin[0]] = atom_of(numbers, table, np.uint64(rows[i]), side)
        for group in range(_GROUPS + 1):
            bounds[group] = begin[group] - begin[0]
    if templates.words and site["j"] - site["i"] == len(observed) - 3 and site["g"] == 0:
        words = observed["word"][1 : min(MOST_WORDS + 1, len(observed) - 1)]
        split.bounds[1, _GROUPS] = fill_each(0, words, side, split.atoms[1], split.bounds[1, _GROUPS])


@lean
def part_slots(keys: Longs, rule: int, split: SplitAtoms, mask: int, slots: Longs) -> int:
    """Write the slots of the features of a part with these atoms; return how many there are.

    keys: [R, groups]; slots: [FEATURES] room for these
    """
    features = 0
    for part in range(2):
        for group in range(_GROUPS):
            for i in range(split.bounds[part, group], split.bounds[part, group + 1]):
                slots[features] = (split.atoms[part, i] + keys[rule, group]) & mask
                features += 1
                if group == BACKED_OFF:
                    slots[features] = (split.atoms[part, i] + keys[rule, PARENT]) & mask
                    features += 1
    return features


@summing
def _total(weights: Floats, atoms: Longs, begin: int, end: int, key: int) -> np.float32:
    """Return the sum of the weights [2^k] of some atoms [ATOMS], conjoined with a key."""
    mask, total = np.uint64(len(weights) - 1), np.float32(0.0)
    for i in range(np.uint64(begin), np.uint64(end)):  # numba is slow with signed indices
        total += weights[(np.uint64(atoms[i]) + np.uint64(key)) & mask]
    return total


@lean
def _of_rule(weights: Floats, atoms: Longs, bounds: Longs, keys: Longs, rule: int) -> np.float32:
    """Return what a rule adds to a score. bounds: [groups + 1] where the atoms of each group begin"""
    of_rule, of_modifier, of_head = bounds[MODIFIER], bounds[HEAD], bounds[PARENT]
    total = _total(weights, atoms, 0, of_rule, rule)
    total += _total(weights, atoms, of_rule, of_modifier, keys[rule, MODIFIER])
    return total + _total(weights, atoms, of_modifier, of_head, keys[rule, HEAD])


@lean
def _of_parent(weights: Floats, atoms: Longs, bounds: Longs, parent: int) -> np.float32:
    """Return what the parent symbol adds to a score; weights [2^k] and atoms [ATOMS] as of `_of_rule`."""
    total = _total(weights, atoms, 0, bounds[RULE], parent)
    return total + _total(weights, atoms, bounds[PARENT], bounds[_GROUPS], parent)


@lean
def _shared_key(site: np.void) -> np.uint64:
    """Return one number for all that templates of the arc alone see of a site."""
    side, key = site["side"], np.uint64(site["side"])
    left = (site["i"], site["next_left"], site["inner_left"])
    right = (site["j"], site["next_right"], site["inner_right"])
    key = _mix(_mix(_mix(key, site["h"]), site["m"]), site["g"])
    if side != UNARY:
        key = _mix(key, site["k"])
    if side != RIGHT:
        key = _mix(_mix(_mix(key, left[0]), left[1]), left[2])
    if side != LEFT:
        key = _mix(_mix(_mix(key, right[0]), right[1]), right[2])
    return key


@lean
def _mix(key: np.uint64, number: int) -> np.uint64:
    key = (key + np.uint64(number + 2)) * _ODD
    return key ^ (key >> _HALF)


@inner
def _chained(chart: Chart, keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return lists of blocks with keys in the same bucket, so that blocks with the same key are in one list:
    the first block of each list, and each block's next [B], or -1. Empty blocks, and those of copies, are in
    no list. keys: [B] is written"""
    size, begin = 16, 0
    while size < len(chart.ends):
        size *= 2
    first, following = np.full(size, np.int32(-1)), np.empty(len(chart.ends), np.int32)
    for block in range(len(chart.ends)):
        end = chart.ends[block]
        if begin < end and chart.rules[begin] != COPY:
            keys[block] = _shared_key(chart.sites[block])
            place = np.int64(keys[block] & np.uint64(size - 1))
            following[block], first[place] = first[place], block
        begin = end
    return first, following


class SharedSums(NamedTuple):
    """Sums of weights that parts share.

    of_arc, of_parent:       [R], [S] what templates that see an arc alone add for each rule, each parent
    of_other:                [S] what the other templates add for each parent
    arcs, parents, others:   the block for which each of these sums holds, or -1
    """

    of_arc: Floats
    of_parent: Floats
    of_other: Floats
    arcs: Ints
    parents: Ints
    others: Ints


@kernel
def score_edges(chart: Chart, observed: Observed, scorer: Scorer, glue: float) -> Floats:
    """Return [E] the score of every edge: θᵀ f of its part; 0 for copies, `glue` for the glue rule.

    The weights of templates that see an arc alone are summed once for all blocks that attach by this arc.
    """
    sites, ends, rules = chart.sites, chart.ends, len(scorer.keys)
    scores, symbols = np.zeros(len(chart.rules), np.float32), 0
    for row in range(rules):
        symbols = max(symbols, scorer.keys[row, PARENT] + 1 - rules)
    of_arc, of_symbols = np.zeros(rules, np.float32), np.zeros((2, symbols), np.float32)
    unknown = np.full((2, symbols), np.int32(-1))
    sums = SharedSums(
        of_arc, of_symbols[0], of_symbols[1], np.full(rules, np.int32(-1)), unknown[0], unknown[1]
    )
    atoms = room_for_atoms()
    keys_of_blocks = np.zeros(len(ends), np.uint64)
    first, following = _chained(chart, keys_of_blocks)
    for start in first:
        block, arc = start, start
        while block >= 0:
            known = block != start and keys_of_blocks[block] == keys_of_blocks[arc]
            arc = arc if known else block
            fill_atoms_of_site(observed, sites[block], scorer.templates, int(known), atoms)
            begin = ends[block - 1] if block else 0
            _score_block(chart.rules[begin : ends[block]], scorer, atoms, sums, arc, block, scores[begin:])
            block = following[block]
    for edge in range(len(scores)):
        if chart.rules[edge] == GLUED:
            scores[edge] = glue
    return scores


@lean
def _score_block(
    rules: Ints, scorer: Scorer, atoms: SplitAtoms, sums: SharedSums, arc: int, block: int, scores: Floats
) -> None:
    """Write the scores of the edges of a block into `scores` [E], by their rules [E]. arc: the first of
    the blocks of the same arc that are scored in a row"""
    keys, weights, bounds = scorer.keys, scorer.weights, atoms.bounds
    for edge in range(len(rules)):
        rule = np.int64(rules[edge])
        if rule < 0:
            continue
        parent = keys[rule, PARENT]
        symbol = parent - len(keys)
        if sums.arcs[rule] != arc:
            if sums.parents[symbol] != arc:
                sums.of_parent[symbol] = _of_parent(weights, atoms.atoms[0], bounds[0], parent)
                sums.parents[symbol] = arc
            total = _of_rule(weights, atoms.atoms[0], bounds[0], keys, rule)
            sums.of_arc[rule], sums.arcs[rule] = sums.of_parent[symbol] + total, arc
        if sums.others[symbol] != block:
            sums.of_other[symbol] = _of_parent(weights, atoms.atoms[1], bounds[1], parent)
            sums.others[symbol] = block
        total = _of_rule(weights, atoms.atoms[1], bounds[1], keys, rule)
        scores[edge] = sums.of_arc[rule] + sums.of_other[symbol] + total
