"""The scoring function s(y; x, d) = θᵀ f(x, d, y) over the templates of `d2c.cky.search.templates`.

All rules that apply at one site share its atoms. So each atom is hashed once, and a part's score is the sum
of the weights in the slots atom + key, for the keys of its rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.search.chart import COPY, GLUED, NOTHING, Chart
from d2c.cky.search.templates import (
    BACKED_OFF,
    FIELDS,
    GROUPS,
    HEAD,
    MODIFIER,
    PARENT,
    POSITIONS,
    RULE,
    Templates,
)
from d2c.forests.forest import Floats, Ints
from d2c.linear.kernels import inner, kernel
from d2c.linear.templates import Longs, Rows, fill_atoms, fill_each
from d2c.trees.binarization import LEFT, UNARY

MOST_WORDS = 100  # of the sentence that tell what kind of text it is
ATOMS = 64 + MOST_WORDS  # room for the atoms of a site; FEATURES for the features of a part
FEATURES = 2 * ATOMS
LONGEST = np.array([1, 2, 3, 4, 5, 8, 12, 20, 35])  # upper bounds of the first nine of the ten length bins
_POSITIONS, _FIELDS, _GROUPS = len(POSITIONS), len(FIELDS), len(GROUPS)


# What features see of a token: numbers of its word, its tag, its head (1..n, 0 = root), the d-label of the
# arc into it, and its morphology, from 1 on. A sentence has a token of zeros before and behind; d-labels and
# morphology are zeros, too, unless in use
TOKEN = np.dtype([(name, np.int32) for name in ("word", "tag", "head", "label", "morph")], align=True)
Observed = NDArray[np.void]  # [n + 2] of TOKEN


@kernel
def heads_of(observed: Observed) -> Ints:
    """[n]"""
    return observed["head"][1:-1].copy()


@kernel
def tags_of(observed: Observed) -> Ints:
    """[n]"""
    return observed["tag"][1:-1].copy()


class Scorer(NamedTuple):
    """The templates, the rules' keys and the weights.

    keys:    [R, groups] of each rule, see `Grammar.keys`
    weights: [2^k]
    """

    templates: Templates
    keys: Longs
    weights: Floats


# Below, kernels get arrays one by one: an array that comes out of a tuple has its references counted, which
# takes longer than the rest.


@inner
def _fill_numbers(observed: Observed, site: np.void, positions: Longs, numbers: Longs) -> None:
    """The fields of a site, in the order of FIELDS; positions: room for those of POSITIONS."""
    side, h, i, j, k = site["side"], site["h"] + 1, site["i"] + 1, site["j"] + 1, site["k"] + 1
    left, right = site["next_left"] + 1, site["next_right"] + 1
    inner_left, inner_right = site["inner_left"] + 1, site["inner_right"] + 1
    numbers[0], numbers[1] = (k, 0) if side == UNARY else (0, 0)
    for bound in LONGEST:
        numbers[1] += int(bound < j - i)
    if side == UNARY:
        k = 0
    positions[0], positions[1] = h, site["m"] + 1
    positions[2], positions[3], positions[4], positions[5] = i, i - 1, j, j + 1
    positions[6], positions[7], positions[8] = k, k + 1, site["g"]
    positions[9], positions[10], positions[11], positions[12] = left, right, inner_left, inner_right
    positions[13], positions[14] = (inner_left, left) if side == LEFT else (inner_right, right)
    for field in range(_POSITIONS):
        token = observed[positions[field]]
        numbers[2 + field], numbers[2 + _POSITIONS + field] = token["word"], token["tag"]
        numbers[2 + 2 * _POSITIONS + field] = token["label"]
    numbers[_FIELDS - 2], numbers[_FIELDS - 1] = observed[h]["morph"], observed[positions[1]]["morph"]


@inner
def fill_site(
    observed: Observed,
    site: np.void,
    table: Rows,
    begin: Ints,
    words: bool,
    positions: Longs,
    numbers: Longs,
    atoms: Longs,
) -> int:
    """The atoms of a site, group by group, and last those that go with the parent only; how many there are.

    table, begin, words: as in `Templates`; positions, numbers, atoms: of `scratch`
    """
    unary, side = int(site["side"] == UNARY), site["side"]
    _fill_numbers(observed, site, positions, numbers)
    count = fill_atoms(numbers, table, begin[unary, 0], begin[unary, _GROUPS], side, atoms, 0)
    if words and site["j"] - site["i"] == len(observed) - 3 and site["g"] == 0:
        count = fill_each(0, observed["word"][1 : min(MOST_WORDS + 1, len(observed) - 1)], side, atoms, count)
    return count


@inner
def scratch() -> tuple[Longs, Longs, Longs]:
    """Room for the positions, fields and atoms of a site."""
    return np.empty(_POSITIONS, np.int64), np.zeros(_FIELDS + 1, np.int64), np.empty(ATOMS, np.int64)


@inner
def part_slots(
    keys: Longs, rule: int, bounds: Ints, atoms: Longs, count: int, mask: int, slots: Longs
) -> int:
    """Writes the slots of a part's features; how many there are.

    bounds: [groups + 1] a row of `Templates.begin`; atoms: the `count` ones of its site
    """
    features, group = 0, 0
    for i in range(count):
        while group < PARENT and i >= bounds[group + 1] - bounds[0]:
            group += 1
        slots[features] = (atoms[i] + keys[rule, group]) & mask
        features += 1
        if group == BACKED_OFF:
            slots[features] = (atoms[i] + keys[rule, PARENT]) & mask
            features += 1
    return features


@inner
def _total(weights: Floats, atoms: Longs, begin: int, end: int, key: int) -> np.float32:
    """The sum of the weights of some atoms with a key."""
    mask, total = len(weights) - 1, np.float32(0.0)
    for i in range(begin, end):
        total += weights[(atoms[i] + key) & mask]
    return total


@kernel
def score_edges(chart: Chart, observed: Observed, scorer: Scorer, glue: float) -> Floats:
    """[E] the score of every edge: θᵀ f of its part; 0 for copies, `glue` for the glue rule."""
    edge_rules, sites, ends, keys, weights = chart.rules, chart.sites, chart.ends, scorer.keys, scorer.weights
    table, begin, words = scorer.templates
    scores, rules, (positions, numbers, atoms) = np.zeros(len(edge_rules), np.float32), len(keys), scratch()
    known, known_in = np.zeros(rules, np.float32), np.full(rules, np.int32(-1))
    symbols = none = end = NOTHING
    for row in range(rules):
        symbols = max(symbols, keys[row, PARENT] + 1 - rules)
    parents, parents_in = np.zeros(symbols, np.float32), np.full(symbols, np.int32(-1))
    for block in range(len(ends)):
        first, end = end, NOTHING + ends[block]
        if first == end or edge_rules[first] == COPY:
            continue
        count = fill_site(observed, sites[block], table, begin, words, positions, numbers, atoms)
        unary = int(sites[block]["side"] == UNARY)
        backed_off = np.int64(begin[unary, RULE] - begin[unary, 0])  # where each group ends
        of_rule = np.int64(begin[unary, MODIFIER] - begin[unary, 0])
        of_modifier = np.int64(begin[unary, HEAD] - begin[unary, 0])
        of_head = np.int64(begin[unary, PARENT] - begin[unary, 0])
        for edge in range(first, end):
            rule = np.int64(edge_rules[edge])
            if rule < 0:
                scores[edge] = glue if rule == GLUED else 0.0
                continue
            if known_in[rule] != block:
                parent = keys[rule, PARENT]
                if parents_in[parent - rules] != block:
                    total = _total(weights, atoms, none, backed_off, parent)
                    parents[parent - rules] = total + _total(weights, atoms, of_head, count, parent)
                    parents_in[parent - rules] = block
                total = parents[parent - rules] + _total(weights, atoms, none, of_rule, rule)
                total += _total(weights, atoms, of_rule, of_modifier, keys[rule, MODIFIER])
                total += _total(weights, atoms, of_modifier, of_head, keys[rule, HEAD])
                known[rule], known_in[rule] = total, block
            scores[edge] = known[rule]
    return scores
