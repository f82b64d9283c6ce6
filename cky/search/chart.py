"""The constrained chart (PAD, Figure 3, right): all derivations over a d-tree, packed into a forest.

An item is (h, a, b): word h with its a nearest left and b nearest right dependents, as any symbol. It grows
by its next left or its next right dependent m, whose own item is complete, and by unary rules, of which at
most `max_unaries` are applied between two attachments. Its words need not be contiguous, so the chart serves
d-trees with crossing arcs as well. Σ_h |L(h)| |R(h)| |G| edges at most.

The forest is a hypergraph: a vertex is a symbol in a cell (and the number of unary steps since the last
attachment); an edge is an application of a rule. What derives no complete tree is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.layout import Ints, Layout, cell_of, item_of
from d2c.trees.binarization import LEFT, RIGHT, UNARY

COPY, GLUED = -1, -2  # instead of a rule: an edge that only collects, an edge of the glue rule
# Columns of edges
HEAD, TAIL, MODIFIER, RULE = 0, 1, 2, 3
# Columns of blocks
SIDE, H, M, FIRST, LAST, SPLIT, NEXT_LEFT, NEXT_RIGHT = 0, 1, 2, 3, 4, 5, 6, 7
INNER_LEFT, INNER_RIGHT, BEGIN, END = 8, 9, 10, 11
BLOCK = 12


Place = tuple[int, int, int, int, int, int]


class Forest(NamedTuple):
    """V vertices, E edges in an order in which a vertex's derivations precede its uses, B blocks of edges.

    symbols: [V] the symbol of each vertex; the last vertex is the goal
    edges:   [E, 4] the vertex derived; the vertices it is derived from: head child, modifier (-1 in a unary
             step); rule, COPY or GLUED
    blocks:  [B, BLOCK] one for each attachment of a word to an item; for the unary steps of an item, one for
             each number of such steps before. LEFT, RIGHT or UNARY; head word; dependent (-1); first word i
             and last word j of the result; last word k of the left part, for unary steps that number, for
             root rules and copies -1; the dependents of h that come next on the left and on the right (-1:
             none); the outermost ones that the step found there, left and right (-1: none); first edge and
             end of its edges
    """

    symbols: Ints
    edges: Ints
    blocks: Ints


class Constraints(NamedTuple):
    """What method 1 and method 2 of section 3.2 leave of the search space.

    by_tag: [T, R] whether rule r may apply to a head word with tag t; no rows: any may
    sides:  sorted keys (tag(h), tag(m), tag(m')) with the side that comes next for certain, see `side_key`
    next_side: [len(sides)] that side
    """

    by_tag: NDArray[np.bool_]
    sides: NDArray[np.int64]
    next_side: Ints


@njit(cache=True, nogil=True, inline="always")
def side_key(head_tag: int, left_tag: int, right_tag: int) -> int:
    """One number for the tags of a head word and of its next dependents on both sides."""
    return (head_tag * (1 << 20) + left_tag) * (1 << 20) + right_tag


@njit(cache=True, nogil=True)
def _certain_side(constraints: Constraints, tags: Ints, layout: Layout, h: int, a: int, b: int) -> int:
    """The side from which the item (h, a, b) must take its next dependent, or -1."""
    left, right = layout.begin[h] + a, layout.middle[h] + b
    if len(constraints.sides) == 0 or left >= layout.middle[h] or right >= layout.end[h]:
        return -1
    key = side_key(tags[h], tags[layout.dependents[left]], tags[layout.dependents[right]])
    at = np.searchsorted(constraints.sides, key)
    if at < len(constraints.sides) and constraints.sides[at] == key:
        return constraints.next_side[at]
    return -1


@njit(cache=True, nogil=True)
def room(rows: Ints, needed: int) -> Ints:
    """The same rows, with room for `needed` of them."""
    if needed <= rows.shape[0]:
        return rows
    larger = np.empty((2 * needed, rows.shape[1]), np.int32)
    for row in range(rows.shape[0]):  # assigning a slice compiles five times as long
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@njit(cache=True, nogil=True)
def build_forest(
    rules: RuleTable,
    layout: Layout,
    axioms: Ints,
    tags: Ints,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
) -> Forest:
    """All derivations of a d-tree.

    axioms: [n] symbol of each pre-terminal. tags: [n] the same as the row numbers that `constraints` means.
    glue_symbols: empty, or [n]: then the glue rule joins what no rule joins. It adds the dependent to the
        constituent that is there, or puts this symbol over a pre-terminal; it finishes what is unfinished and
        accepts any root, so that every d-tree has a derivation.

    Without a derivation the forest is empty.
    """
    n, size = len(axioms), len(rules.whole)
    symbols, usable = np.empty((64 * n, 1), np.int32), np.empty((64 * n, 2), np.int32)
    spans = np.zeros((layout.cells[n], 2), np.int32)  # where in `usable` the vertices of each cell stand
    at = np.full(size + 1, -1, np.int32)  # the vertex of each symbol in the cell at hand
    count = np.zeros(4, np.int64)  # vertices, edges, blocks, usable
    glue = len(glue_symbols) > 0
    # The most edges of a cell: each rule from either side and at each level, copies, the glue rule's
    most = (max_unaries + 2) * len(rules.kind) + 2 * (max_unaries + 2) * (size + 1)
    if glue:
        most += 2 * size * size
    edges, blocks = np.empty((512 * n + most, 4), np.int32), np.empty((8 * n, BLOCK), np.int32)
    for h in layout.order:
        for cell in range(layout.cells[h], layout.cells[h + 1]):
            a, b = item_of(layout, h, cell - layout.cells[h])
            symbols = room(symbols, count[0] + (max_unaries + 2) * (size + 1))
            usable, blocks = room(usable, count[3] + size), room(blocks, count[2] + max_unaries + 4)
            edges = room(edges, count[1] + most)
            begin = count[0]
            if cell == layout.cells[h]:
                symbols[begin, 0] = axioms[h]
                at[axioms[h]] = begin
                count[0] += 1
            for side in (LEFT, RIGHT):
                a0, b0 = (a - 1, b) if side == LEFT else (a, b - 1)
                if min(a0, b0) < 0 or _certain_side(constraints, tags, layout, h, a0, b0) == 1 - side:
                    continue
                before = cell_of(layout, h, a0, b0)
                if before < 0:
                    continue
                m = layout.dependents[layout.begin[h] + a0 if side == LEFT else layout.middle[h] + b0]
                done = layout.cells[m + 1] - 1
                heads = usable[spans[before, 0] : spans[before, 1]]
                modifiers = usable[spans[done, 0] : spans[done, 1]]
                first_edge = count[1]
                attach(rules, side, heads, modifiers, constraints.by_tag, tags[h], symbols, edges, at, count)
                if glue and count[1] == first_edge:
                    _glue(rules, heads, modifiers, glue_symbols[h], symbols, edges, at, count)
                split = layout.last[m] if side == LEFT else layout.first[m] - 1
                place = place_of(layout, h, a, b, side)
                add_block(blocks, count, side, h, m, split, place, first_edge)
            reset(at, symbols, begin, count[0])
            first_edge = count[1]
            if glue and cell == layout.cells[h + 1] - 1:
                _finish(rules, begin, symbols, edges, at, count)
            place = place_of(layout, h, a, b, UNARY)
            unaries(
                *(rules, constraints.by_tag, tags[h], max_unaries, begin, symbols, edges, at),
                *(blocks, h, place, first_edge, count),
            )
            spans[cell, 0], first_edge = count[3], count[1]
            collect(begin, symbols, usable, edges, at, count)
            spans[cell, 1] = count[3]
            add_block(blocks, count, UNARY, h, -1, -1, place, first_edge)
    root = layout.order[n - 1]
    rights = layout.end[root] - layout.middle[root]
    done, first_edge = layout.cells[root + 1] - 1, count[1]
    symbols, edges = room(symbols, count[0] + 1), room(edges, count[1] + size)
    finish_root(rules, usable[spans[done, 0] : spans[done, 1]], glue, symbols, edges, count)
    place = place_of(layout, root, layout.middle[root] - layout.begin[root], rights, UNARY)
    add_block(blocks, count, UNARY, root, -1, -1, place, first_edge)
    return useful(symbols[: count[0], 0].copy(), edges[: count[1]], blocks[: count[2]])


@njit(cache=True, nogil=True, inline="always")
def place_of(layout: Layout, h: int, a: int, b: int, side: int) -> Place:
    """Of a step to the item (h, a, b): the columns FIRST, LAST, NEXT_LEFT to INNER_RIGHT of its block."""
    first = last = h
    for place in range(layout.begin[h], layout.begin[h] + a):
        first = min(first, layout.first[layout.dependents[place]])
        last = max(last, layout.last[layout.dependents[place]])
    for place in range(layout.middle[h], layout.middle[h] + b):
        first = min(first, layout.first[layout.dependents[place]])
        last = max(last, layout.last[layout.dependents[place]])
    left, right = layout.begin[h] + a, layout.middle[h] + b
    next_left = layout.dependents[left] if left < layout.middle[h] else -1
    next_right = layout.dependents[right] if right < layout.end[h] else -1
    if side == LEFT:
        left -= 1
    elif side == RIGHT:
        right -= 1
    inner_left = layout.dependents[left - 1] if left > layout.begin[h] else -1
    inner_right = layout.dependents[right - 1] if right > layout.middle[h] else -1
    return first, last, next_left, next_right, inner_left, inner_right


@njit(cache=True, nogil=True, inline="always")
def _add_edge(edges: Ints, edge: int, head: int, tail: int, modifier: int, rule: int) -> None:
    row = edges[edge]
    row[HEAD], row[TAIL], row[MODIFIER], row[RULE] = head, tail, modifier, rule


@njit(cache=True, nogil=True)
def add_block(
    blocks: Ints,
    count: NDArray[np.int64],
    side: int,
    h: int,
    m: int,
    k: int,
    place: Place,
    begin: int,
) -> None:
    """Makes the edges from `begin` on a block."""
    row = blocks[count[2]]
    row[SIDE], row[H], row[M], row[SPLIT] = side, h, m, k
    row[FIRST], row[LAST] = place[0], place[1]
    row[NEXT_LEFT], row[NEXT_RIGHT], row[INNER_LEFT], row[INNER_RIGHT] = place[2:]
    row[BEGIN], row[END] = begin, count[1]
    count[2] += 1


@njit(cache=True, nogil=True)
def reset(at: Ints, symbols: Ints, begin: int, end: int) -> None:
    """Forgets the vertices from begin to end."""
    for vertex in range(begin, end):
        at[symbols[vertex, 0]] = -1


@njit(cache=True, nogil=True)
def attach(
    rules: RuleTable,
    side: int,
    heads: Ints,
    modifiers: Ints,
    by_tag: NDArray[np.bool_],
    tag: int,
    symbols: Ints,
    edges: Ints,
    at: Ints,
    count: NDArray[np.int64],
) -> None:
    """The rules A → β1* β2 or A → β1 β2* over all pairs of vertices; a pair is (vertex, symbol)."""
    size, pruned = len(rules.whole), len(by_tag) > 0
    vertices, edge = count[0], count[1]  # in registers: the arrays might share memory, for all numba knows
    for one in range(len(heads)):
        tail, row = heads[one, 0], (side * size + heads[one, 1]) * size
        for other in range(len(modifiers)):
            modifier, key = modifiers[other, 0], row + modifiers[other, 1]
            for rule in range(rules.attachments[key], rules.attachments[key + 1]):
                if pruned and not by_tag[tag, rule]:
                    continue
                parent = rules.parent[rule]
                if at[parent] < 0:
                    at[parent], symbols[vertices, 0] = vertices, parent
                    vertices += 1
                _add_edge(edges, edge, at[parent], tail, modifier, rule)
                edge += 1
    count[0], count[1] = vertices, edge


@njit(cache=True, nogil=True)
def _glue(
    rules: RuleTable,
    heads: Ints,
    modifiers: Ints,
    default: int,
    symbols: Ints,
    edges: Ints,
    at: Ints,
    count: NDArray[np.int64],
) -> None:
    """The glue rule over all pairs of vertices."""
    for tail, below in heads:
        for modifier, symbol in modifiers:
            if rules.whole[symbol]:
                parent = default if rules.tag[below] else below
                if at[parent] < 0:
                    at[parent], symbols[count[0], 0] = count[0], parent
                    count[0] += 1
                _add_edge(edges, count[1], at[parent], tail, modifier, GLUED)
                count[1] += 1


@njit(cache=True, nogil=True)
def _finish(
    rules: RuleTable, begin: int, symbols: Ints, edges: Ints, at: Ints, count: NDArray[np.int64]
) -> None:
    """The glue rule over one vertex: if a word with all its dependents is unfinished only, finishes it."""
    end = count[0]
    for vertex in range(begin, end):
        if rules.whole[symbols[vertex, 0]]:
            return
    for tail in range(begin, end):
        parent = rules.finished[symbols[tail, 0]]
        if at[parent] < 0:
            at[parent], symbols[count[0], 0] = count[0], parent
            count[0] += 1
        _add_edge(edges, count[1], at[parent], tail, -1, GLUED)
        count[1] += 1
    reset(at, symbols, end, count[0])


@njit(cache=True, nogil=True)
def unaries(
    rules: RuleTable,
    by_tag: NDArray[np.bool_],
    tag: int,
    most: int,
    begin: int,
    symbols: Ints,
    edges: Ints,
    at: Ints,
    blocks: Ints,
    h: int,
    place: Place,
    first_edge: int,
    count: NDArray[np.int64],
) -> None:
    """The rules A → β* over the vertices from `begin` on, then over those just made, `most` times.

    There is a block for each time, the first with the edges from `first_edge` on.
    """
    pruned, vertices, edge = len(by_tag) > 0, count[0], count[1]
    for level in range(most):
        end = vertices
        for tail in range(begin, end):
            symbol = symbols[tail, 0]
            for rule in range(rules.unaries[symbol], rules.unaries[symbol + 1]):
                if level > rules.levels[rule] or (pruned and not by_tag[tag, rule]):
                    continue
                parent = rules.parent[rule]
                if at[parent] < 0:
                    at[parent], symbols[vertices, 0] = vertices, parent
                    vertices += 1
                _add_edge(edges, edge, at[parent], tail, -1, rule)
                edge += 1
        reset(at, symbols, end, vertices)
        count[1] = edge
        add_block(blocks, count, UNARY, h, -1, level, place, first_edge)
        begin, first_edge = end, edge
    count[0] = vertices


@njit(cache=True, nogil=True)
def collect(begin: int, symbols: Ints, usable: Ints, edges: Ints, at: Ints, count: NDArray[np.int64]) -> None:
    """Lists one vertex for each symbol of a cell, a new one above those of a symbol that has several."""
    end, first, edge, vertices = count[0], count[3], count[1], count[0]
    filled = first
    for vertex in range(begin, end):
        symbol = symbols[vertex, 0]
        if at[symbol] < 0:
            at[symbol], usable[filled, 1] = vertex, symbol
            filled += 1
        else:
            if at[symbol] < end:
                symbols[vertices, 0] = symbol
                _add_edge(edges, edge, vertices, at[symbol], -1, COPY)
                at[symbol] = vertices
                vertices, edge = vertices + 1, edge + 1
            _add_edge(edges, edge, at[symbol], vertex, -1, COPY)
            edge += 1
    for place in range(first, filled):
        symbol = usable[place, 1]
        usable[place, 0] = at[symbol]
        at[symbol] = -1
    count[0], count[1], count[3] = vertices, edge, filled


@njit(cache=True, nogil=True)
def finish_root(
    rules: RuleTable, vertices: Ints, glue: bool, symbols: Ints, edges: Ints, count: NDArray[np.int64]
) -> None:
    """The root rules, with a new vertex as the goal; with the glue rule any root will do if none fits."""
    goal, begin = count[0], count[1]
    symbols[goal, 0] = len(rules.whole)
    count[0] += 1
    for tail, symbol in vertices:
        if rules.roots[symbol] >= 0:
            _add_edge(edges, count[1], goal, tail, -1, rules.roots[symbol])
            count[1] += 1
    if glue and count[1] == begin:
        for tail, symbol in vertices:
            if rules.whole[symbol]:
                _add_edge(edges, count[1], goal, tail, -1, GLUED)
                count[1] += 1


@njit(cache=True, nogil=True)
def useful(symbols: Ints, edges: Ints, blocks: Ints) -> Forest:
    """The forest without the edges that are in no derivation of the goal, the last vertex."""
    useful = np.zeros(len(symbols), np.bool_)
    useful[-1] = True
    for at in range(len(edges) - 1, -1, -1):
        if useful[edges[at, HEAD]]:
            useful[edges[at, TAIL]] = True
            if edges[at, MODIFIER] >= 0:
                useful[edges[at, MODIFIER]] = True
    kept = 0
    for block in blocks:
        begin = kept
        for at in range(block[BEGIN], block[END]):
            if useful[edges[at, HEAD]]:
                for column in range(4):
                    edges[kept, column] = edges[at, column]
                kept += 1
        block[BEGIN], block[END] = begin, kept
    return Forest(symbols, edges[:kept], blocks)
