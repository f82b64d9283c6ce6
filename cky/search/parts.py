"""The parts (i, k, j, rule) of derivations, and the Hamming loss over them (PAD, section 4.2).

A part is a rule that applies at a site. Δ(y, y') = |y - y'| counts the parts that only one of two derivations
has, compared by span, split and rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Ints
from d2c.cky.grammar import RuleTable
from d2c.cky.search.deduction import COPY, Chart
from d2c.cky.search.skeleton import SITE, Sites
from d2c.learning.kernels import kernel, lean


class Parts(NamedTuple):
    """The P parts (i, k, j, rule) of a derivation, bottom-up.

    sites: [P] where each rule applies, of type SITE
    rules: [P]
    """

    sites: Sites
    rules: Ints


@lean
def same_site(one: np.void, other: np.void) -> bool:
    """Return whether two sites are the same, also of different d-trees."""
    step = one["h"] == other["h"] and one["side"] == other["side"] and one["k"] == other["k"]
    words = one["i"] == other["i"] and one["j"] == other["j"]
    arcs = one["m"] == other["m"] and one["g"] == other["g"]
    after = one["next_left"] == other["next_left"] and one["next_right"] == other["next_right"]
    before = one["inner_left"] == other["inner_left"] and one["inner_right"] == other["inner_right"]
    return step and words and arcs and after and before


@kernel
def parts_of(chart: Chart, edges: Ints) -> tuple[Parts, Ints]:
    """Return the P parts of some edges but copies, and the symbols that they derive [P]."""
    sites, rules = np.empty(len(edges), SITE), np.empty(len(edges), np.int32)
    symbols, ends, count = np.empty(len(edges), np.int32), chart.ends, 0
    for edge in edges:
        if chart.rules[edge] != COPY:
            low, high = 0, len(ends) - 1  # the first block that ends behind the edge
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if ends[middle] <= edge else (low, middle)
            sites[count], rules[count] = chart.sites[low], chart.rules[edge]
            symbols[count] = chart.symbols[chart.forest.head[edge]]
            count += 1
    return Parts(sites[:count], rules[:count]), symbols[:count]


def constituents(
    chart: Chart, rules: RuleTable, n: int, among: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], Sites, NDArray[np.int64]]:
    """Return the C edges that derive a whole constituent, their sites, and their keys [C].

    n: words; among: [E] the edges to choose from; None: all
    """
    symbols = chart.symbols[chart.forest.head]
    whole = np.append(rules.whole, False)[symbols] & (chart.rules != COPY)
    edges = np.flatnonzero(whole if among is None else whole & among)
    sites = chart.sites[np.searchsorted(chart.ends, edges, side="right")]
    return edges, sites, bracket_key(symbols[edges].astype(np.int64), sites["i"], sites["j"], n)


def bracket_key(symbol: Any, first: Any, last: Any, n: int) -> Any:
    """Return one number for a constituent in a sentence of n words, or [C] for many."""
    return (symbol * (n + 1) + first) * (n + 1) + last


@lean
def _reward(rules: Ints, rule: int, begin: int, end: int, loss: Floats) -> None:
    """Write -1 into `loss` [E] for the edges from begin to end that have the rule of a gold part.

    rules: [E] of the edges
    """
    for edge in range(begin, end):
        if rules[edge] == rule:
            loss[edge] = -1.0


@kernel
def losses(chart: Chart, gold: Parts) -> Floats:
    """Return [E] what each edge adds to the Hamming loss Δ: 1, or -1 where it is a gold part.

    The sum over a derivation is Δ less the number of gold parts.
    """
    loss, begin = np.ones(len(chart.rules), np.float32), 0
    for block in range(len(chart.ends)):
        site, end = chart.sites[block], chart.ends[block]
        if begin < end and chart.rules[begin] == COPY:
            for edge in range(begin, end):
                loss[edge] = 0.0
        for part in range(len(gold.rules) if begin < end else 0):
            other = gold.sites[part]
            if other["i"] == site["i"] and other["k"] == site["k"] and other["j"] == site["j"]:
                _reward(chart.rules, gold.rules[part], begin, end, loss)
        begin = end
    return loss
