"""The scoring function s(y; x, d) = θᵀ f(x, d, y) over the templates of `d2c.cky.search.templates`.

All rules that apply at one site share its atoms. So each atom is hashed once, and a part's score is the sum
of the weights in the slots atom + key, for four keys of its rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.cky.search.chart import COPY, GLUED, Chart
from d2c.cky.search.templates import FIELDS, GROUPS, HEAD, MODIFIER, PARENT, POSITIONS, RULE, Templates
from d2c.forests.forest import Floats, Ints
from d2c.linear.kernels import inner, kernel
from d2c.linear.templates import Longs, fill_atoms, fill_each, look_up
from d2c.trees.binarization import LEFT, UNARY

MOST_WORDS = 100  # of the sentence that tell what kind of text it is
ATOMS = 64 + MOST_WORDS  # room for the atoms of a site; FEATURES for the features of a part
FEATURES = 2 * ATOMS
LONGEST = np.array([1, 2, 3, 4, 5, 8, 12, 20, 35])  # upper bounds of the first nine of the ten length bins
_POSITIONS, _FIELDS, _GROUPS = len(POSITIONS), len(FIELDS), len(GROUPS)


class Observed(NamedTuple):
    """What features see of n words; numbers from 1 on, 0 is beyond the sentence.

    words, tags: [n + 2] with a 0 before and behind
    heads:       [n + 2] 1..n, 0 = root
    labels:      [n + 2] d-labels of the arcs into the words; empty where they are not used
    """

    words: Ints
    tags: Ints
    heads: Ints
    labels: Ints


class Scorer(NamedTuple):
    """The templates, the rules' keys and the weights.

    keys:    [R, groups] of each rule, see `Grammar.keys`
    weights: [2^k]
    """

    templates: Templates
    keys: Longs
    weights: Floats


class Scratch(NamedTuple):
    """The atoms of one site. bounds: where those of each group end; the rest is room for making them."""

    atoms: Longs
    bounds: Longs
    positions: Longs
    numbers: Longs


@inner
def scratch() -> Scratch:
    """Room for the atoms of a site."""
    positions, numbers = np.empty(_POSITIONS, np.int64), np.zeros(_FIELDS + 1, np.int64)
    return Scratch(np.empty(ATOMS, np.int64), np.zeros(_GROUPS, np.int64), positions, numbers)


@inner
def _fill_numbers(observed: Observed, site: np.void, positions: Longs, numbers: Longs) -> None:
    """The positions and fields of a site, in the order of POSITIONS and FIELDS."""
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
    positions[6], positions[7], positions[8] = k, k + 1, observed.heads[h]
    positions[9], positions[10], positions[11], positions[12] = left, right, inner_left, inner_right
    positions[13], positions[14] = (inner_left, left) if side == LEFT else (inner_right, right)
    end = look_up(observed.tags, positions, numbers, look_up(observed.words, positions, numbers, 2))
    if len(observed.labels):
        look_up(observed.labels, positions, numbers, end)


@inner
def fill_site(observed: Observed, site: np.void, templates: Templates, into: Scratch) -> None:
    """The atoms of a site, group by group."""
    side, count, table, atoms = site["side"], 0, templates.table, into.atoms
    begin = templates.begin[int(side == UNARY)]
    _fill_numbers(observed, site, into.positions, into.numbers)
    for group in range(_GROUPS):
        count = fill_atoms(into.numbers, table, begin[group], begin[group + 1], side, atoms, count)
        if group == PARENT and templates.words:
            words = observed.words[1:-1]
            if observed.heads[site["h"] + 1] == 0 and site["j"] - site["i"] == len(words) - 1:
                count = fill_each(0, words[:MOST_WORDS], side, atoms, count)
        into.bounds[group] = count


@inner
def part_slots(keys: Longs, rule: int, into: Scratch, mask: int, slots: Longs) -> int:
    """Writes the slots of a part's features, from the atoms of its site; how many there are."""
    count, group = 0, 0
    for i in range(into.bounds[_GROUPS - 1]):
        while i >= into.bounds[group]:
            group += 1
        slots[count] = (into.atoms[i] + keys[rule, max(group, PARENT)]) & mask
        count += 1
        if group == RULE:
            slots[count] = (into.atoms[i] + keys[rule, RULE]) & mask
            count += 1
    return count


@inner
def _total(weights: Floats, into: Scratch, begin: int, end: int, key: int) -> np.float32:
    """The sum of the weights of some atoms with a key."""
    mask, total = len(weights) - 1, np.float32(0.0)
    for i in range(begin, end):
        total += weights[(into.atoms[i] + key) & mask]
    return total


@kernel
def score_edges(chart: Chart, observed: Observed, scorer: Scorer, glue: float) -> Floats:
    """[E] the score of every edge: θᵀ f of its part; 0 for copies, `glue` for the glue rule."""
    scores, keys, weights, into = (
        np.zeros(len(chart.rules), np.float32),
        scorer.keys,
        scorer.weights,
        scratch(),
    )
    bounds, rules = into.bounds, len(keys)
    known, known_in = np.zeros(rules, np.float32), np.full(rules, np.int32(-1))
    symbols, begin = 0, 0
    for rule in range(rules):
        symbols = max(symbols, keys[rule, PARENT] + 1 - rules)
    parents, parents_in = np.zeros(symbols, np.float32), np.full(symbols, np.int32(-1))
    for block in range(len(chart.ends)):
        begin, end = chart.ends[block - 1] if block else 0, chart.ends[block]
        if begin == end or chart.rules[begin] == COPY:
            continue
        fill_site(observed, chart.sites[block], scorer.templates, into)
        for edge in range(begin, end):
            rule = chart.rules[edge]
            if rule < 0:
                scores[edge] = glue if rule == GLUED else 0.0
                continue
            if known_in[rule] != block:
                parent = keys[rule, PARENT] - rules
                if parents_in[parent] != block:
                    parents[parent] = _total(weights, into, 0, bounds[PARENT], keys[rule, PARENT])
                    parents_in[parent] = block
                total = parents[parent] + _total(weights, into, 0, bounds[RULE], rule)
                total += _total(weights, into, bounds[PARENT], bounds[MODIFIER], keys[rule, MODIFIER])
                total += _total(weights, into, bounds[MODIFIER], bounds[HEAD], keys[rule, HEAD])
                known[rule], known_in[rule] = total, block
            scores[edge] = known[rule]
    return scores
