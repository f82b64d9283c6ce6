"""The nodes of the c-tree that a derivation stands for; linear time, but for sorting children.

It is `d2c.trees.binarization.unbinarize` over the arrays of a chart: a step makes a node over what its head
word has so far, if that is a pre-terminal or a whole constituent; otherwise the constituent grows. The glue
rule adds a child to the node that is there, or puts a node over a pre-terminal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Ints
from d2c.cky.grammar import RuleTable
from d2c.cky.search.parts import Parts
from d2c.cky.search.skeleton import skeleton_of
from d2c.learning.kernels import kernel
from d2c.trees.binarization import UNARY


class Nodes(NamedTuple):
    """The K proper nodes over n words, numbered as in `CTree`.

    heads:         [n] the d-tree that the derivation is over: 1..n, 0 = root
    symbols:       [K] of the grammar
    children:      those of each node, ordered by their first words, one node after the other
    begin:         [K + 1] where in `children` those of each node begin
    head_children: [K]
    """

    heads: Ints
    symbols: Ints
    children: Ints
    begin: Ints
    head_children: Ints


@kernel
def nodes_of(rules: RuleTable, n: int, parts: Parts, symbols: Ints) -> Nodes:
    """Return the nodes of a derivation over n words. symbols: [P] what each part derives."""
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
                first[n + nodes], top[h] = first[top[h]], n + nodes
                nodes += 1
            if m >= 0:  # into its place among the children, which are the last so far
                place, filled = filled, filled + 1
                while place > begin[top[h] - n] and first[children[place - 1]] > first[top[m]]:
                    children[place] = children[place - 1]
                    place -= 1
                children[place] = top[m]
                first[top[h]] = min(first[top[h]], first[top[m]])
            below[h] = symbol
    begin[nodes] = filled
    return Nodes(heads, labels[:nodes], children[:filled], begin[: nodes + 1], head_children[:nodes])
