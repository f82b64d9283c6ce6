"""The chart of a sentence: all computations of an oracle automaton whose actions are probable enough, packed.

Section 5 of Nederhof (2015), with the grammar intersected with the sentence while it is made. A *node* is a
class of stacks before a token: what the oracle sees, hence its actions. An *item* is a tree of some class
between two nodes, the one where it begins, below it, and the one where it ends. An action takes an item that
ends in a node, alone or with one that ends where the first begins, and makes an item that begins where the
lower of them does. Classes of trees are those of `d2c.automata.states`; the class of a stack is made of those
of its two topmost trees and the head token of the third, all that features see (`d2c.automata.features`).

An action of a node is kept where its kind has a probability of `threshold` at least, and so has the action
among those of its kind. The action of the greedy parser is always kept: with a threshold of 1 there is one
computation, the greedy parser's own. An item is a vertex of the forest. An edge is an action, its score the
logarithm of its probability; a shift has an edge of its own, from the axiom. The edges of a derivation, in
the order in which they stand, are the actions of a computation. Linear in the number of edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.automata.scores import OracleScorer, chances
from d2c.automata.states import ATTRIBUTES, HEAD, SYMBOL, Text, attach, leaf, promote, row_of
from d2c.automata.systems import ACCEPT, SHIFT, Tables
from d2c.base.arrays import Floats, Ints, Longs
from d2c.learning.kernels import kernel, lean
from d2c.learning.semirings import Forest
from d2c.trees.binarization import LEFT, RIGHT

NODE = np.dtype(
    [(name, np.int32) for name in ("top", "second", "third", "token", "ending", "begin", "end")], align=True
)
ITEM = np.dtype(
    [(name, np.int32) for name in ("node", "tree", "last", "beside", "next", "vertex")], align=True
)
EDGE = np.dtype(
    [*((name, np.int32) for name in ("head", "tail", "modifier", "action")), ("score", np.float32)],
    align=True,
)
KEPT = np.dtype([("action", np.int32), ("score", np.float32)], align=True)
# Numba compiles a kernel once more for a constant that is a Python number
NONE, AXIOM, GOAL = np.int32(-1), np.int32(0), np.int32(1)  # no item; the first two items
TREES, NODES, ITEMS, EDGES, ACTIONS, FULL = range(6)  # in `Search.counts`
_SEED, _FACTOR, _HALF = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class TransitionChart(NamedTuple):
    """All computations that were kept.

    forest:  V vertices, E edges; without edges where there were too many items
    scores:  [E] logarithm of the probability of each edge's action
    actions: [E]
    labels:  [E] the number of the label of the arc that an edge makes; 0: it has none, or makes no arc
    tokens:  [V] the head token of each item, from 0; -1 for the axiom, which is the first, and for the goal
    spans:   [V, 2] the first and the last token of each item; -1 for axiom and goal
    """

    forest: Forest
    scores: Floats
    actions: Ints
    labels: Ints
    tokens: Ints
    spans: Ints


class Search(NamedTuple):
    """A chart in the making.

    trees:  [most trees, ATTRIBUTES] the classes of trees; the first is that of what is below a stack
    nodes:  of type NODE: classes of the topmost and of the second tree, head token of the third, the next
            token; the latest item that ends there; where its actions begin and end, -1 if not yet looked at
    items:  of type ITEM: the node where it begins; class of its tree; its last token in the sentence; the
            item before it that ends in the same node; the next in its queue; its vertex
    edges:  of type EDGE, between items
    kept:   of type KEPT: the actions of nodes
    counts: [6] how many there are of trees, nodes, items, edges and kept actions; whether these are too many
    queues: [n + 2, 2] first and last of the items that are yet to be expanded: the axiom; those that begin
            before the first token, the second, ...
    stack:  [3, ATTRIBUTES] the topmost trees of a node, as in a stack
    logs:   [A] logarithms of the probabilities of a node's actions
    keys, numbers: [power of two] hash table of the numbers of trees, nodes and items; -1: an empty slot
    """

    trees: Longs
    nodes: NDArray[np.void]
    items: NDArray[np.void]
    edges: NDArray[np.void]
    kept: NDArray[np.void]
    counts: Longs
    queues: Ints
    stack: Longs
    logs: Floats
    keys: NDArray[np.uint64]
    numbers: Ints

    @classmethod
    def new(cls, tokens: int, actions: int, most: int) -> Search:
        """Return the start: an empty stack. tokens: of the sentence; actions: of the system; most: items."""
        slots = 1 << (6 * most).bit_length()
        search = cls(
            np.zeros((most + 1, ATTRIBUTES), np.int64),
            np.empty(most, NODE),
            np.empty(most, ITEM),
            np.empty(4 * most, EDGE),
            np.empty(4 * most + actions, KEPT),
            np.array([1, 1, 2, 0, 0, 0]),
            np.full((tokens + 2, 2), NONE),
            np.zeros((3, ATTRIBUTES), np.int64),
            np.empty(actions, np.float32),
            np.empty(slots, np.uint64),
            np.full(slots, NONE),
        )
        search.nodes[0] = 0
        search.items[AXIOM] = (0, 0, NONE, NONE, NONE, NONE)
        search.queues[0] = AXIOM
        return search


def build_transition_chart(
    scorer: OracleScorer, text: Text, sentence: int, threshold: float, search: Search
) -> TransitionChart:
    """Return the chart of a sentence that is not empty. search: by `Search.new`"""
    _fill(scorer, text, sentence, threshold, search)
    edges = 0 if search.counts[FULL] else search.counts[EDGES]
    return _useful(search, scorer.tables, edges, text.begin[sentence])


@kernel
def _fill(scorer: OracleScorer, text: Text, sentence: int, threshold: float, search: Search) -> None:
    """Find all items and edges."""
    n, begin, vertex = text.lengths[sentence], text.begin[sentence], NONE
    nodes, items = search.nodes, search.items
    for token in range(begin, begin + n + 1):
        for start in range(token - begin, -1, -1):
            while search.queues[start, 0] != NONE and not search.counts[FULL]:
                item = search.queues[start, 0]
                search.queues[start, 0] = items[item]["next"]
                vertex += np.int32(1)
                items[item]["vertex"] = vertex
                node = _node_of(search, item, token)
                items[item]["beside"], nodes[node]["ending"] = nodes[node]["ending"], item
                if nodes[node]["begin"] == NONE:
                    _keep(search, scorer, text, node, begin + n - token, threshold)
                _expand(search, scorer.tables, text, item, node, begin)
    items[GOAL]["vertex"] = vertex + 1


@lean
def _keep(search: Search, scorer: OracleScorer, text: Text, node: int, left: int, threshold: float) -> None:
    """Decide which actions a node has, `left` tokens before the end."""
    kept, stack, logs, count = search.kept, search.stack, search.logs, search.counts[ACTIONS]
    of_node = search.nodes[node]
    for i in range(ATTRIBUTES):  # numba takes seconds to compile the assignment of an array
        stack[2, i], stack[1, i] = search.trees[of_node["top"], i], search.trees[of_node["second"], i]
    stack[0, HEAD], of_node["begin"] = of_node["third"], count
    row = row_of(scorer.tables, stack[1], stack[2], left)
    chances(scorer, text, stack, 2, of_node["token"], row, threshold, logs)
    if count + len(logs) > len(kept):
        search.counts[FULL] = 1
    else:
        for action in range(len(logs)):
            if logs[action] > -np.inf:
                kept[count]["action"], kept[count]["score"] = action, logs[action]
                count += 1
    search.counts[ACTIONS] = of_node["end"] = count


@lean
def _expand(search: Search, tables: Tables, text: Text, item: int, node: int, begin: int) -> None:
    """Take the kept actions of a node with an item that ends there; a shift with the first such item only."""
    items, trees, counts, token = search.items, search.trees, search.counts, search.nodes[node]["token"]
    for number in range(search.nodes[node]["begin"], search.nodes[node]["end"]):
        action = search.kept[number]["action"]
        kind, other = tables.kinds[action], AXIOM
        if kind == SHIFT and items[item]["beside"] != NONE:
            continue
        if kind in (LEFT, RIGHT):
            other = search.nodes[items[item]["node"]]["ending"]
        while other != NONE and not counts[FULL]:
            tree, end, following = trees[counts[TREES]], token, NONE
            head, modifier = (other, item) if kind in (RIGHT, SHIFT) else (item, other)
            if kind == SHIFT:
                leaf(text.leaves[token], token, tree)
                end += np.int32(1)
                below, modifier = node, NONE
            else:
                for i in range(ATTRIBUTES):
                    tree[i] = trees[items[head]["tree"], i]
                if other == AXIOM:
                    promote(tables, action, tree)
                    below, modifier = items[item]["node"], NONE
                else:
                    attach(tables, action, tree, trees[items[modifier]["tree"]])
                    below, following = items[other]["node"], items[other]["beside"]
            derived = GOAL if kind == ACCEPT else _item_of(search, below, end, begin)
            edge, kept = search.edges[counts[EDGES]], search.kept[number]
            edge["head"], edge["tail"], edge["modifier"] = derived, head, modifier
            edge["action"], edge["score"] = kept["action"], kept["score"]
            counts[EDGES] += 1
            if counts[EDGES] == len(search.edges):
                counts[FULL] = 1
            other = following


@lean
def _item_of(search: Search, node: int, token: int, begin: int) -> int:
    """Return the item, perhaps a new one, from a node to before a token; its tree stands behind the last one
    in `Search.trees`."""
    counts, items, key = search.counts, search.items, _first_key(TREES)
    for attribute in range(ATTRIBUTES):
        key = _mixed(key, search.trees[counts[TREES], attribute])
    tree, known = _number_of(search, key, TREES), counts[ITEMS]
    item = _number_of(search, _mixed(_mixed(_mixed(_first_key(ITEMS), node), tree), token), ITEMS)
    if item == known:
        items[item]["node"], items[item]["tree"], items[item]["next"] = node, tree, NONE
        items[item]["last"] = token - begin - 1
        queue = search.queues[search.nodes[node]["token"] - begin + 1]
        if queue[0] == NONE:
            queue[0] = item
        else:
            items[queue[1]]["next"] = item
        queue[1] = item
    return item


@lean
def _node_of(search: Search, item: int, token: int) -> int:
    """Return the node in which an item ends, before a token."""
    known, tree, nodes = search.counts[NODES], search.items[item]["tree"], search.nodes
    below = nodes[search.items[item]["node"]]
    third = search.trees[below["second"], HEAD]
    key = _mixed(_mixed(_mixed(_mixed(_first_key(NODES), third), below["top"]), tree), token)
    node = _number_of(search, key, NODES)
    if node == known:
        new = nodes[node]
        new["top"], new["second"], new["third"], new["token"] = tree, below["top"], third, token
        new["ending"] = new["begin"] = new["end"] = NONE
    return node


@lean
def _number_of(search: Search, key: np.uint64, sort: int) -> int:
    """Return the number of the entry with this key, perhaps a new one. sort: TREES, NODES or ITEMS"""
    counts, keys, numbers, mask = search.counts, search.keys, search.numbers, np.uint64(len(search.keys) - 1)
    slot = key & mask
    while numbers[slot] != NONE and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    if numbers[slot] == NONE:
        keys[slot], numbers[slot] = key, counts[sort]
        counts[sort] += 1
        if counts[sort] == len(search.items):
            counts[FULL] = 1
    return numbers[slot]


@lean
def _first_key(sort: int) -> np.uint64:
    """Return where the keys of trees, nodes or items begin. sort: TREES, NODES or ITEMS"""
    return np.uint64(sort + 1) * _SEED


@lean
def _mixed(key: np.uint64, number: int) -> np.uint64:
    """Return the key of a sequence with this key that a number continues; different sequences have different
    keys, except for one in some 10^18 pairs."""
    key = (key ^ np.uint64(number)) * _FACTOR
    return key ^ (key >> _HALF)


@kernel
def _useful(search: Search, tables: Tables, count: int, begin: int) -> TransitionChart:
    """Return the chart of the first `count` edges, without those that are in no derivation of the goal."""
    edges, items = search.edges, search.items
    vertices = np.full(items[GOAL]["vertex"] + 1, NONE)  # of items that are needed: first 0, then new numbers
    vertices[0] = vertices[-1] = 0
    useful = 0
    for i in range(count - 1, -1, -1):
        edge = edges[i]
        if vertices[items[edge["head"]]["vertex"]] != NONE:
            vertices[items[edge["tail"]]["vertex"]] = 0
            if edge["modifier"] != NONE:
                vertices[items[edge["modifier"]]["vertex"]] = 0
            useful += 1
    number = NONE
    for vertex in range(len(vertices)):
        if vertices[vertex] != NONE:
            number += np.int32(1)
            vertices[vertex] = number
    head, tail, modifier = np.empty(useful, np.int32), np.empty(useful, np.int32), np.full(useful, NONE)
    scores, actions = np.empty(useful, np.float32), np.empty(useful, np.int32)
    labels = np.zeros(useful, np.int32)
    tokens, spans, to = np.full(number + 1, NONE), np.full((number + 1, 2), NONE), 0
    for i in range(count):
        edge = edges[i]
        if vertices[items[edge["head"]]["vertex"]] != NONE:
            head[to] = vertices[items[edge["head"]]["vertex"]]
            tail[to] = vertices[items[edge["tail"]]["vertex"]]
            labels[to] = tables.arcs[edge["action"]]
            if edge["modifier"] != NONE:
                modifier[to] = vertices[items[edge["modifier"]]["vertex"]]
                if not labels[to]:  # the dependent's symbol says it
                    labels[to] = tables.labels[search.trees[items[edge["modifier"]]["tree"], SYMBOL]]
            scores[to], actions[to] = edge["score"], edge["action"]
            if edge["head"] != GOAL:
                tokens[head[to]] = search.trees[items[edge["head"]]["tree"], HEAD] - begin
                spans[head[to], 0] = search.nodes[items[edge["head"]]["node"]]["token"] - begin
                spans[head[to], 1] = items[edge["head"]]["last"]
            to += 1
    forest = Forest(head, tail, modifier, len(tokens))
    return TransitionChart(forest, scores, actions, labels, tokens, spans)
