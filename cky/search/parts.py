"""The parts (i, k, j, rule) of derivations, and the Hamming loss over them (PAD, section 4.2).

A part is a rule that applies at a site. Δ(y, y') = |y - y'| counts the parts that only one of two derivations
has, compared by span, split and rule.

`nodes_of` makes the nodes of a c-tree of a derivation's parts: `unbinarize` of scripts/papers/shift_reduce.py
over the arrays of a chart. If what a head word has so far is a pre-terminal or a whole constituent, a step
puts a new node over it; otherwise the constituent grows. The glue rule adds a child to the node that is
there, or puts a node over a pre-terminal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Ints
from d2c.cky.grammar import RuleTable
from d2c.cky.search.deduction import COPY, Chart
from d2c.cky.search.skeleton import SITE, Sites, skeleton_of
from d2c.learning.kernels import kernel, lean
from d2c.trees.binarization import UNARY


class Parts(NamedTuple):
    """The P parts (i, k, j, rule) of a derivation, bottom-up.

    sites: [P] where each rule applies, of type SITE
    rules: [P]
    """

    sites: Sites
    rules: Ints


@lean
def same_site(one: np.void, other: np.void) -> bool:
    """Return whether two sites are the same; they may be of different d-trees."""
    step = one["h"] == other["h"] and one["side"] == other["side"] and one["k"] == other["k"]
    words = one["i"] == other["i"] and one["j"] == other["j"]
    arcs = one["m"] == other["m"] and one["g"] == other["g"]
    after = one["next_left"] == other["next_left"] and one["next_right"] == other["next_right"]
    before = one["inner_left"] == other["inner_left"] and one["inner_right"] == other["inner_right"]
    return step and words and arcs and after and before


@kernel
def parts_of(chart: Chart, edges: Ints) -> tuple[Parts, Ints]:
    """Return the P parts of some edges, copies left out, and the symbols that they derive [P]."""
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
    """Return one number for a constituent in a sentence of n words, or [C] numbers for many."""
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
    """Return [E] what each edge adds to the Hamming loss Δ: 1, -1 if it is a gold part, 0 if it is a copy.

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


class Nodes(NamedTuple):
    """The K proper nodes over n words, numbered as in `CTree`.

    heads:         [n] the d-tree that the derivation is over: 1..n, 0 = root
    symbols:       [K] of the grammar
    children:      those of each node, ordered by their first words, one node after the other
    begin:         [K + 1] where in `children` those of each node begin
    head_children: [K]
    places:        [K, 3] its head word, its first and last word
    """

    heads: Ints
    symbols: Ints
    children: Ints
    begin: Ints
    head_children: Ints
    places: Ints


@kernel
def nodes_of(rules: RuleTable, n: int, parts: Parts, symbols: Ints) -> Nodes:
    """Return the nodes of a derivation over n words. symbols: [P] what each part derives. Linear time, except
    for the sorting of children."""
    sites, count = parts.sites, len(symbols)
    heads, steps, order = np.zeros(n, np.int32), np.zeros(n + 1, np.int32), np.empty(count, np.int32)
    for part in range(count):
        steps[sites[part]["h"] + 1] += 1
        if sites[part]["m"] >= 0:
            heads[sites[part]["m"]] = sites[part]["h"] + 1
    for h in range(n):
        steps[h + 1] += steps[h]
    free = steps.copy()
    for part in range(count):  # word by word
        h = sites[part]["h"]
        order[free[h]], free[h] = part, free[h] + 1
    # Of each word: its highest node, and the symbol there
    first = np.arange(n + count).astype(np.int32)  # of each node, its first word; so far of words
    last, places = first.copy(), np.empty((count, 3), np.int32)
    top, below = first[:n].copy(), np.full(n, np.int32(-1))
    labels, head_children = np.empty(count, np.int32), np.empty(count, np.int32)
    begin, children = np.zeros(count + 1, np.int32), np.empty(2 * count, np.int32)
    nodes = filled = 0
    for h in skeleton_of(heads).order:
        for i in range(steps[h], steps[h + 1]):
            part = order[i]
            symbol, m = symbols[part], sites[part]["m"]
            if symbol == len(rules.whole):  # the goal
                continue
            glued = parts.rules[part] < 0 and sites[part]["side"] != UNARY
            if below[h] < 0 or rules.tag[below[h]] or (rules.whole[below[h]] and not glued):
                labels[nodes], head_children[nodes], begin[nodes] = symbol, top[h], filled
                children[filled], filled = top[h], filled + 1
                first[n + nodes], last[n + nodes], top[h] = first[top[h]], last[top[h]], n + nodes
                places[nodes, 0] = h
                nodes += 1
            if m >= 0:  # into its place among the children, which are the last so far
                place, filled = filled, filled + 1
                while place > begin[top[h] - n] and first[children[place - 1]] > first[top[m]]:
                    children[place] = children[place - 1]
                    place -= 1
                children[place] = top[m]
                first[top[h]] = min(first[top[h]], first[top[m]])
                last[top[h]] = max(last[top[h]], last[top[m]])
            below[h] = symbol
    begin[nodes] = filled
    for node in range(nodes):
        places[node, 1], places[node, 2] = first[n + node], last[n + node]
    columns = labels[:nodes], children[:filled], begin[: nodes + 1], head_children[:nodes]
    return Nodes(heads, *columns, places[:nodes])
