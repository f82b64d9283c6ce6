"""Figure 3's deduction rules (PAD, section 3.1) and the unary rule of section 3.3, for any chart.

Premise:       the pre-terminal of a word's given tag, not every A ∈ N       `start`
A → β1* β2:    an item takes its next right dependent                       `attach`
A → β1 β2*:    an item takes its next left dependent                        `attach`
A → β1*:       at most so many unary steps after one another at an item     `unary_steps`
Goal:          a root rule over all words                                   `finish_root`

A skeleton says which items there are, and in which order: that of a d-tree (`d2c.cky.search.chart`), or of
packed arcs (`d2c.cky.search.packed_chart`).

A vertex of the forest is a symbol in an item's cell (and the number of unary steps since the last
attachment); an edge is an application of a rule, or a copy. All edges of a block have the same site.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.cky.grammar import RuleTable
from d2c.cky.search.skeleton import SITE, Sites
from d2c.learning.kernels import inner, lean
from d2c.learning.semirings import Forest

# In place of a rule: of an edge that only collects, of an edge of the glue rule
COPY, GLUED = np.int32(-1), np.int32(-2)
NONE = -1
EDGE = np.dtype([(name, np.int32) for name in ("head", "tail", "modifier", "rule")], align=True)
VERTICES, EDGES, BLOCKS, LISTED = range(4)  # of `Growing.counts`


@lean
def place_of(keys: NDArray[np.int64], key: int) -> int:
    """Return the place of a key among sorted keys [K], or -1."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if keys[middle] < key else (low, middle)
    return low if low < len(keys) and keys[low] == key else -1


class Chart(NamedTuple):
    """All derivations of a sentence; without any, a forest without edges.

    forest:  V vertices, E edges
    symbols: [V] of each vertex; the goal has the number after that of the last symbol
    rules:   [E] rule, COPY or GLUED
    sites:   [B] the site of each block, of type SITE. There is one block for each attachment of a word to an
             item, and one for the unary steps of an item after each number of such steps
    ends:    [B] where the edges of each block end; they begin where those of the block before end
    """

    forest: Forest
    symbols: Ints
    rules: Ints
    sites: Sites
    ends: Ints


class Likely(NamedTuple):
    """Which symbols arcs probably make; others are pruned.

    begin, heads: of the A arcs, as in `PackedArcs`
    symbols:      [A, S] whether a symbol is left to an arc; [0, 0]: nothing is pruned
    """

    begin: Ints
    heads: Ints
    symbols: NDArray[np.bool_]


EVERY = Likely(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros((0, 0), np.bool_))


class Growing(NamedTuple):
    """A chart in the making; arrays have room for more, see `with_room`.

    edges:       of type EDGE
    symbols:     of the vertices
    sites, ends: of the blocks, as in `Chart`
    usable:      the vertices of finished cells, one for each symbol
    begin, end:  [cells] where in `usable` the vertices of each cell begin and end
    vertex_of:   [S + 1] the vertex of each symbol in the cell at hand, or -1
    counts:      [4] the numbers of vertices, edges, blocks, and vertices listed in `usable`
    """

    edges: NDArray[np.void]
    symbols: Ints
    sites: Sites
    ends: Ints
    usable: Ints
    begin: Ints
    end: Ints
    vertex_of: Ints
    counts: NDArray[np.int64]


@inner
def new_chart(n: int, cells: int, symbols: int) -> Growing:
    """Return a chart of n words with empty cells. symbols: how many the grammar has"""
    edges, sites, counts = np.empty(512 * n, EDGE), np.empty(64 * n, SITE), np.zeros(4, np.int64)
    of_vertices, ends = np.empty(64 * n, np.int32), np.empty(64 * n, np.int32)
    usable, vertex_of = np.empty(64 * n, np.int32), np.full(symbols + 1, np.int32(-1))
    begin, end = np.zeros(cells, np.int32), np.zeros(cells, np.int32)
    return Growing(edges, of_vertices, sites, ends, usable, begin, end, vertex_of, counts)


@inner
def room(rows: NDArray, needed: int) -> NDArray:  # type: ignore[type-arg]  # Ints or records
    """Return these rows [rows], with room for `needed` of them."""
    if needed <= len(rows):
        return rows
    larger = np.empty(2 * needed, rows.dtype)
    for row in range(len(rows)):  # assigning a slice compiles five times as long
        larger[row] = rows[row]
    return larger


@lean
def has_room(growing: Growing, vertices: int, edges: int, blocks: int) -> bool:
    """Return whether there is room for so many more; to call `with_room` without need takes longer."""
    counts = growing.counts
    enough = counts[EDGES] + edges <= len(growing.edges) and counts[BLOCKS] + blocks <= len(growing.ends)
    enough = enough and counts[VERTICES] + vertices <= len(growing.symbols)
    return enough and counts[LISTED] + vertices <= len(growing.usable)


@inner
def with_room(growing: Growing, vertices: int, edges: int, blocks: int) -> Growing:
    """Return the chart with room for so many more; in `usable`, too, for so many more vertices."""
    counts = growing.counts
    return Growing(
        room(growing.edges, counts[EDGES] + edges),
        room(growing.symbols, counts[VERTICES] + vertices),
        room(growing.sites, counts[BLOCKS] + blocks),
        room(growing.ends, counts[BLOCKS] + blocks),
        room(growing.usable, counts[LISTED] + vertices),
        growing.begin,
        growing.end,
        growing.vertex_of,
        counts,
    )


@lean
def start(growing: Growing, symbol: int) -> None:
    """Add the vertex of a pre-terminal."""
    vertex = growing.counts[VERTICES]
    growing.symbols[vertex], growing.vertex_of[symbol] = symbol, vertex
    growing.counts[VERTICES] = vertex + 1


@lean
def reset(growing: Growing, begin: int) -> None:
    """Forget which vertices from `begin` on have which symbols."""
    for vertex in range(begin, growing.counts[VERTICES]):
        growing.vertex_of[growing.symbols[vertex]] = -1


@lean
def add_edge(growing: Growing, head: int, tail: int, modifier: int, rule: int) -> None:
    """Add an edge between vertices."""
    edge = growing.edges[growing.counts[EDGES]]
    edge["head"], edge["tail"], edge["modifier"], edge["rule"] = head, tail, modifier, rule
    growing.counts[EDGES] += 1


@lean
def derive(growing: Growing, symbol: int, tail: int, modifier: int, rule: int) -> None:
    """Add an edge to the vertex of a symbol in the cell at hand; add the vertex if there is none yet."""
    if growing.vertex_of[symbol] < 0:
        start(growing, symbol)
    add_edge(growing, growing.vertex_of[symbol], tail, modifier, rule)


@lean
def arc_place(begin: Ints, heads: Ints, h: int, m: int) -> int:
    """Return the place among arcs of the arc from word h (-1: the root) to word m, or -1. begin: [n + 1] and
    heads: [A] as in `PackedArcs`"""
    for arc in range(begin[m], begin[m + 1]):
        if heads[arc] == h + 1:
            return arc
    return NONE


@lean
def attach(
    rules: RuleTable,
    side: int,
    before: int,
    item: int,
    allowed: NDArray[np.bool_],
    likely: Likely,
    arc: tuple[int, int],
    growing: Growing,
) -> None:
    """Add the rules A → β1* β2 or A → β1 β2* over all pairs of vertices of two cells.

    before: the cell of the head word; item: that of the dependent; allowed: [R] whether a rule may apply, or
    empty: all may; arc: head word and dependent, for `likely`
    """
    size, pruned, symbols = len(rules.whole), len(allowed) > 0, growing.symbols
    place = arc_place(likely.begin, likely.heads, arc[0], arc[1]) if len(likely.symbols) else NONE
    for i in range(growing.begin[before], growing.end[before]):
        tail = growing.usable[i]
        row = (side * size + symbols[tail]) * size
        if rules.attachments[row] == rules.attachments[row + size]:  # nothing attaches to it
            continue
        for j in range(growing.begin[item], growing.end[item]):
            modifier = growing.usable[j]
            key = row + symbols[modifier]
            for rule in range(rules.attachments[key], rules.attachments[key + 1]):
                parent = rules.parent[rule]
                if (not pruned or allowed[rule]) and (place < 0 or likely.symbols[place, parent]):
                    derive(growing, parent, tail, modifier, rule)


@lean
def end_block(growing: Growing) -> None:
    """End the block at hand."""
    block = growing.counts[BLOCKS]
    growing.ends[block], growing.counts[BLOCKS] = growing.counts[EDGES], block + 1


@lean
def end_level(growing: Growing, level: int) -> None:
    """End a block of unary steps, and begin the next one at the same site. level: how many came before"""
    block = growing.counts[BLOCKS]
    growing.sites[block + 1] = growing.sites[block]
    growing.sites[block]["k"] = level
    end_block(growing)


@lean
def unary_steps(
    rules: RuleTable, levels: int, begin: int, allowed: NDArray[np.bool_], growing: Growing
) -> None:
    """Add the unary steps over the vertices of a cell from `begin` on, a block for each level. The next
    block has the site of the cell, before the call and after it.

    allowed: [R] whether pruning leaves each rule, or [0]: all are left
    """
    pruned = len(allowed) > 0
    for level in range(levels):
        end = growing.counts[VERTICES]
        for tail in range(begin, end):
            below = growing.symbols[tail]
            for rule in range(rules.unaries[below], rules.unaries[below + 1]):
                if level <= rules.levels[rule] and (not pruned or allowed[rule]):
                    derive(growing, rules.parent[rule], tail, NONE, rule)
        reset(growing, end)
        end_level(growing, level)
        begin = end


@lean
def collect(growing: Growing, cell: int, begin: int) -> None:
    """List one vertex for each symbol of a cell: if the symbol has several, a new vertex with an edge to each
    of them. End the block of these edges. begin: the first vertex of the cell"""
    symbols, vertex_of, usable = growing.symbols, growing.vertex_of, growing.usable
    counts, end, first = growing.counts, growing.counts[VERTICES], growing.counts[LISTED]
    for vertex in range(begin, end):
        symbol = symbols[vertex]
        known = vertex_of[symbol]
        if known < 0:
            vertex_of[symbol], usable[counts[LISTED]] = vertex, symbol
            counts[LISTED] += 1
            continue
        if known < end:
            start(growing, symbol)
            add_edge(growing, vertex_of[symbol], known, NONE, COPY)
        add_edge(growing, vertex_of[symbol], vertex, NONE, COPY)
    for i in range(first, counts[LISTED]):
        symbol = usable[i]
        usable[i], vertex_of[symbol] = vertex_of[symbol], -1
    growing.begin[cell], growing.end[cell] = first, counts[LISTED]
    end_block(growing)


@lean
def finish_root(rules: RuleTable, cell: int, glue: bool, growing: Growing) -> None:
    """Add the root rules over a cell, with the next vertex as the goal; if none fits, the glue rule accepts
    any whole constituent."""
    symbols, goal, begin = growing.symbols, growing.counts[VERTICES], growing.counts[EDGES]
    symbols[goal] = len(rules.whole)
    for i in range(growing.begin[cell], growing.end[cell]):
        tail = growing.usable[i]
        if rules.roots[symbols[tail]] >= 0:
            add_edge(growing, goal, tail, NONE, rules.roots[symbols[tail]])
    if glue and growing.counts[EDGES] == begin:
        for i in range(growing.begin[cell], growing.end[cell]):
            tail = growing.usable[i]
            if rules.whole[symbols[tail]]:
                add_edge(growing, goal, tail, NONE, GLUED)


@inner
def finished(growing: Growing) -> Chart:
    """Return the chart without the edges that are in no derivation of the goal, which is the next vertex."""
    vertices, edges = growing.counts[VERTICES] + 1, growing.edges
    needed = np.zeros(vertices, np.bool_)
    needed[-1] = True
    count = 0
    for i in range(growing.counts[EDGES] - 1, -1, -1):
        edge = edges[i]
        if needed[edge["head"]]:
            needed[edge["tail"]] = True
            if edge["modifier"] >= 0:
                needed[edge["modifier"]] = True
            count += 1
    head, tail = np.empty(count, np.int32), np.empty(count, np.int32)
    modifier, rules = np.empty(count, np.int32), np.empty(count, np.int32)
    sites, ends = growing.sites[: growing.counts[BLOCKS]], growing.ends[: growing.counts[BLOCKS]]
    begin = kept = 0
    for block in range(len(ends)):
        for i in range(begin, ends[block]):
            edge = edges[i]
            if needed[edge["head"]]:
                head[kept], tail[kept] = edge["head"], edge["tail"]
                modifier[kept], rules[kept] = edge["modifier"], edge["rule"]
                kept += 1
        begin, ends[block] = ends[block], kept
    return Chart(
        Forest(head, tail, modifier, vertices), growing.symbols[:vertices].copy(), rules, sites, ends
    )
