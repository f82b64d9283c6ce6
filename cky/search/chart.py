"""The constrained chart (PAD, Figure 3, right): all derivations over a d-tree, packed into a forest.

An item is (h, a, b): word h with its a nearest left and b nearest right dependents, as any symbol. It grows
by its next left or its next right dependent m, whose own item is complete, and by unary rules, of which at
most `max_unaries` are applied between two attachments. Its words need not be contiguous, so d-trees with
crossing arcs have a chart as well. Σ_h |L(h)| |R(h)| |G| edges at most.

A vertex of the forest is a symbol in a cell (and the number of unary steps since the last attachment); an
edge is an application of a rule. What derives no complete tree is left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.constraints import Constraints, certain_side
from d2c.cky.search.layout import Layout, cell_of, item_of
from d2c.cky.search.sites import SITE, Sites, set_site
from d2c.forests.forest import Forest, Ints
from d2c.linear.kernels import inner, kernel, lean
from d2c.trees.binarization import LEFT, UNARY

# Instead of a rule: an edge that only collects, an edge of the glue rule
COPY, GLUED = np.int32(-1), np.int32(-2)
# Numba compiles a kernel once more for a constant that is a Python number
NOTHING: Any = np.int64(0)
NONE: Any = np.int64(-1)
EDGE = np.dtype([(name, np.int32) for name in ("head", "tail", "modifier", "rule")], align=True)


NO_GLUE = np.zeros(0, np.int32)  # of `Query.glue_symbols`


class Query(NamedTuple):
    """What the chart is asked about one sentence of n words.

    rules:        of the grammar
    layout:       the d-tree
    axioms:       [T] symbol of the pre-terminals with each tag
    tags:         [n] of the words, as numbers
    constraints:  what pruning leaves
    max_unaries:  unary steps between two attachments at most
    glue_symbols: empty, or [n]: then the glue rule joins what no rule joins. It adds the dependent to the
                  constituent that is there, or puts this symbol over a pre-terminal; it finishes what is
                  unfinished and accepts any root, so that every d-tree has a derivation
    """

    rules: RuleTable
    layout: Layout
    axioms: Ints
    tags: Ints
    constraints: Constraints
    max_unaries: int
    glue_symbols: Ints


class Chart(NamedTuple):
    """All derivations of a sentence; without any, a forest without edges.

    forest:  V vertices, E edges
    symbols: [V] of each vertex; the goal's number is behind all others
    rules:   [E] rule, COPY or GLUED
    sites:   [B] of the blocks of edges that share one, of type SITE: one block for each attachment of a word
             to an item; for the unary steps of an item, one for each number of such steps before
    ends:    [B] where the edges of each block end; they begin where those of the block before end
    """

    forest: Forest
    symbols: Ints
    rules: Ints
    sites: Sites
    ends: Ints


class Buffers(NamedTuple):
    """A chart in the making.

    edges:     the edges so far, of type EDGE, with room for those of a cell
    symbols:   of the vertices so far, with room for those of a cell
    vertex_of: [S + 1] the vertex of each symbol in the cell at hand, or -1
    """

    edges: NDArray[np.void]
    symbols: Ints
    vertex_of: Ints


class Blocks(NamedTuple):
    """The blocks so far, with room for those of a cell."""

    sites: Sites
    ends: Ints


Counts = tuple[int, int, int]  # how many vertices, edges and blocks there are


@lean
def _certain_side(constraints: Constraints, tags: Ints, layout: Layout, h: int, a: int, b: int) -> int:
    """The side from which the item (h, a, b) must take its next dependent, or -1."""
    word, dependents = layout.words[h], layout.dependents
    left, right = word["begin"] + a, word["middle"] + b
    if left >= word["middle"] or right >= word["end"]:
        return -1
    return certain_side(constraints, tags, h, dependents[left], dependents[right])


@inner
def room(rows: NDArray, needed: int) -> NDArray:  # type: ignore[type-arg]  # Ints or records
    """These rows, with room for `needed` of them."""
    if needed <= len(rows):
        return rows
    larger = np.empty(2 * needed, rows.dtype)
    for row in range(len(rows)):  # assigning a slice compiles five times as long
        larger[row] = rows[row]
    return larger


@kernel
def build_chart(query: Query) -> Chart:
    """All derivations of a d-tree."""
    rules, layout, tags, glue = query.rules, query.layout, query.tags, len(query.glue_symbols) > 0
    order, dependents, words = layout
    n, size, cells, levels = (
        len(tags),
        len(rules.whole),
        np.int64(words[len(tags)]["cell"]),
        query.max_unaries,
    )
    edges, symbols, usable = np.empty(512 * n, EDGE), np.empty(64 * n, np.int32), np.empty(64 * n, np.int32)
    begin_of, end_of = np.zeros(cells, np.int32), np.zeros(cells, np.int32)  # in `usable`, of each cell
    vertex_of, every = np.full(size + 1, np.int32(-1)), np.zeros(0, np.bool_)
    most_blocks = cells * (levels + 4) + 1
    sites, ends = np.empty(most_blocks, SITE), np.empty(most_blocks, np.int32)
    # The most edges of a cell: each rule from either side and at each level, copies, the glue rule's
    most_edges = (levels + 2) * (len(rules.kind) + 2 * size + 2) + (2 * size * size if glue else 0)
    vertices = count = blocks = listed = NOTHING
    unary = NOTHING + UNARY
    for h in order:
        allowed = query.constraints.by_tag[tags[h]] if len(query.constraints.by_tag) else every
        for cell in range(words[h]["cell"], words[h + 1]["cell"]):
            a, b = item_of(words, h, cell - words[h]["cell"])
            symbols, edges = (
                room(symbols, vertices + (levels + 2) * (size + 1)),
                room(edges, count + most_edges),
            )
            usable = room(usable, listed + size)
            buffers, begin = Buffers(edges, symbols, vertex_of), vertices
            if cell == words[h]["cell"]:
                symbols[begin], vertex_of[query.axioms[tags[h]]] = query.axioms[tags[h]], begin
                vertices += 1
            for side in range(2):
                a0, b0 = (a - 1, b) if side == LEFT else (a, b - 1)
                if min(a0, b0) < 0 or _certain_side(query.constraints, tags, layout, h, a0, b0) == 1 - side:
                    continue
                before = cell_of(words, h, a0, b0)
                if before < 0:
                    continue
                set_site(dependents, words, side, h, a, b, sites[blocks])
                done = words[sites[blocks]["m"] + 1]["cell"] - 1
                heads = usable[begin_of[before] : end_of[before]]
                modifiers = usable[begin_of[done] : end_of[done]]
                first = count
                vertices, count = attach(rules, side, heads, modifiers, allowed, buffers, vertices, count)
                if glue and count == first:
                    default = query.glue_symbols[h]
                    vertices, count = _glue(rules, heads, modifiers, default, buffers, vertices, count)
                ends[blocks] = count
                blocks += 1
            reset(buffers, begin, vertices)
            set_site(dependents, words, unary, h, a, b, sites[blocks])
            if glue and cell == words[h + 1]["cell"] - 1:
                vertices, count = _finish(rules, begin, buffers, vertices, count)
                blocks = _end_block(Blocks(sites, ends), blocks, NOTHING, count)
            counts = vertices, count, blocks
            counts = unary_steps(rules, levels, begin, allowed, buffers, Blocks(sites, ends), counts)
            vertices, count, blocks = counts
            begin_of[cell] = listed
            vertices, count, listed = collect(begin, usable, buffers, vertices, count, listed)
            end_of[cell], ends[blocks] = listed, count
            blocks += 1
    symbols, edges = room(symbols, vertices + 1), room(edges, count + size)
    buffers, root = Buffers(edges, symbols, vertex_of), order[-1]
    done = words[root + 1]["cell"] - 1
    count = finish_root(rules, usable[begin_of[done] : end_of[done]], glue, buffers, vertices, count)
    a, b = item_of(words, root, done - words[root]["cell"])
    set_site(dependents, words, unary, root, a, b, sites[blocks])
    ends[blocks] = count
    return useful(symbols[: vertices + 1], edges[:count], sites[: blocks + 1], ends[: blocks + 1])


@lean
def reset(buffers: Buffers, begin: int, end: int) -> None:
    """Forgets which vertices from begin to end have which symbols."""
    for vertex in range(begin, end):
        buffers.vertex_of[buffers.symbols[vertex]] = -1


@lean
def _add_edge(edges: NDArray[np.void], count: int, head: int, tail: int, modifier: int, rule: int) -> int:
    """How many edges there are then."""
    edge = edges[count]
    edge["head"], edge["tail"], edge["modifier"], edge["rule"] = head, tail, modifier, rule
    return count + 1


@lean
def derive(
    buffers: Buffers, symbol: int, tail: int, modifier: int, rule: int, vertices: int, count: int
) -> tuple[int, int]:
    """An edge to the vertex, perhaps a new one, with a symbol in the cell at hand; returns as `attach`."""
    if buffers.vertex_of[symbol] < 0:
        buffers.vertex_of[symbol], buffers.symbols[vertices] = vertices, symbol
        vertices += 1
    head = np.int64(buffers.vertex_of[symbol])
    return vertices, _add_edge(buffers.edges, count, head, np.int64(tail), np.int64(modifier), rule)


@lean
def attach(
    rules: RuleTable,
    side: int,
    heads: Ints,
    modifiers: Ints,
    allowed: NDArray[np.bool_],
    buffers: Buffers,
    vertices: int,
    count: int,
) -> tuple[int, int]:
    """The rules A → β1* β2 or A → β1 β2* over all pairs of vertices.

    allowed: [R] whether a rule may apply, or empty. Returns how many vertices and edges there are then.
    """
    size, pruned, symbols = len(rules.whole), len(allowed) > 0, buffers.symbols
    for tail in heads:
        row = (side * size + symbols[tail]) * size
        for modifier in modifiers:
            key = row + symbols[modifier]
            for rule in range(rules.attachments[key], rules.attachments[key + 1]):
                if not pruned or allowed[rule]:
                    symbol = rules.parent[rule]
                    vertices, count = derive(buffers, symbol, tail, modifier, rule, vertices, count)
    return vertices, count


@lean
def _glue(
    rules: RuleTable,
    heads: Ints,
    modifiers: Ints,
    default: int,
    buffers: Buffers,
    vertices: int,
    count: int,
) -> tuple[int, int]:
    """The glue rule over all pairs of vertices; returns as `attach`."""
    for tail in heads:
        below = buffers.symbols[tail]
        for modifier in modifiers:
            if rules.whole[buffers.symbols[modifier]]:
                symbol = default if rules.tag[below] else below
                vertices, count = derive(buffers, symbol, tail, modifier, GLUED, vertices, count)
    return vertices, count


@lean
def _finish(rules: RuleTable, begin: int, buffers: Buffers, vertices: int, count: int) -> tuple[int, int]:
    """The glue rule over one vertex: if a word with all its dependents is unfinished only, finishes it."""
    end = vertices
    for vertex in range(begin, end):
        if rules.whole[buffers.symbols[vertex]]:
            return vertices, count
    for tail in range(begin, end):
        symbol = rules.finished[buffers.symbols[tail]]
        vertices, count = derive(buffers, symbol, np.int32(tail), np.int32(-1), GLUED, vertices, count)
    reset(buffers, end, vertices)
    return vertices, count


@lean
def unaries(
    rules: RuleTable,
    level: int,
    tails: tuple[int, int],
    allowed: NDArray[np.bool_],
    buffers: Buffers,
    vertices: int,
    count: int,
) -> tuple[int, int]:
    """The rules A → β* over a range of vertices; returns as `attach`. level: unary steps before."""
    pruned, end = len(allowed) > 0, vertices
    for tail in range(tails[0], tails[1]):
        below = buffers.symbols[tail]
        for rule in range(rules.unaries[below], rules.unaries[below + 1]):
            if level <= rules.levels[rule] and (not pruned or allowed[rule]):
                symbol = rules.parent[rule]
                vertices, count = derive(buffers, symbol, np.int32(tail), np.int32(-1), rule, vertices, count)
    reset(buffers, end, vertices)
    return vertices, count


@lean
def _end_block(written: Blocks, block: int, level: int, count: int) -> int:
    """Ends a block of unary steps, and begins the next one at the same site; its number."""
    written.sites[block + 1] = written.sites[block]
    written.sites[block]["k"], written.ends[block] = level, count
    return block + 1


@lean
def unary_steps(
    rules: RuleTable,
    levels: int,
    begin: int,
    allowed: NDArray[np.bool_],
    buffers: Buffers,
    written: Blocks,
    counts: Counts,
) -> tuple[int, int, int]:
    """The unary steps over the vertices of a cell from `begin` on, a block for each level. The site of the
    cell is that of the next block, before and afterwards. Returns the counts as they are then."""
    vertices, count, blocks = counts
    for level in range(levels):
        end = vertices
        vertices, count = unaries(rules, level, (begin, end), allowed, buffers, vertices, count)
        blocks, begin = _end_block(written, blocks, level, count), end
    return vertices, count, blocks


@lean
def collect(
    begin: int, usable: Ints, buffers: Buffers, vertices: int, count: int, listed: int
) -> tuple[int, int, int]:
    """Lists one vertex for each symbol of a cell, a new one above those of a symbol that has several; how
    many vertices, edges and listed vertices there are then."""
    end, first, symbols, vertex_of = vertices, listed, buffers.symbols, buffers.vertex_of
    for vertex in range(begin, end):
        symbol = symbols[vertex]
        known = vertex_of[symbol]
        if known < 0:
            vertex_of[symbol], usable[listed] = vertex, symbol
            listed += 1
            continue
        if known < end:
            symbols[vertices], vertex_of[symbol] = symbol, vertices
            count = _add_edge(buffers.edges, count, vertices, np.int64(known), NONE, COPY)
            vertices += 1
        count = _add_edge(buffers.edges, count, np.int64(vertex_of[symbol]), vertex, NONE, COPY)
    for i in range(first, listed):
        symbol = usable[i]
        usable[i], vertex_of[symbol] = vertex_of[symbol], -1
    return vertices, count, listed


@lean
def finish_root(rules: RuleTable, vertices: Ints, glue: bool, buffers: Buffers, goal: int, count: int) -> int:
    """The root rules, with a new vertex as the goal; any root will do for the glue rule if none fits."""
    begin, symbols = count, buffers.symbols
    symbols[goal] = len(rules.whole)
    for tail in vertices:
        if rules.roots[symbols[tail]] >= 0:
            count = _add_edge(buffers.edges, count, goal, np.int64(tail), NONE, rules.roots[symbols[tail]])
    if glue and count == begin:
        for tail in vertices:
            if rules.whole[symbols[tail]]:
                count = _add_edge(buffers.edges, count, goal, np.int64(tail), NONE, GLUED)
    return count


@inner
def useful(symbols: Ints, edges: NDArray[np.void], sites: Sites, ends: Ints) -> Chart:
    """The chart without the edges that are in no derivation of the goal, the last vertex."""
    needed = np.zeros(len(symbols), np.bool_)
    needed[-1] = True
    count = 0
    for i in range(len(edges) - 1, -1, -1):
        edge = edges[i]
        if needed[edge["head"]]:
            needed[edge["tail"]] = True
            if edge["modifier"] >= 0:
                needed[edge["modifier"]] = True
            count += 1
    head, tail = np.empty(count, np.int32), np.empty(count, np.int32)
    modifier, rules = np.empty(count, np.int32), np.empty(count, np.int32)
    begin = kept = 0
    for block in range(len(ends)):
        for i in range(begin, ends[block]):
            edge = edges[i]
            if needed[edge["head"]]:
                head[kept], tail[kept] = edge["head"], edge["tail"]
                modifier[kept], rules[kept] = edge["modifier"], edge["rule"]
                kept += 1
        begin, ends[block] = ends[block], kept
    return Chart(Forest(head, tail, modifier, len(symbols)), symbols.copy(), rules, sites, ends)
