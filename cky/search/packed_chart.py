"""The chart over packed arcs: all derivations over all projective d-trees that the arcs hold, in one forest.

Its cells are those of `d2c.cky.search.packed_layout`, filled as those of the constrained chart are. Where
every word has one head it is the constrained chart of this d-tree; where items do not know the d-tree around
them and all arcs are kept, it is that of lexicalised CKY.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.chart import (
    COPY,
    EDGE,
    NOTHING,
    Blocks,
    Buffers,
    Chart,
    Counts,
    Query,
    attach,
    collect,
    derive,
    finish_root,
    reset,
    room,
    unary_steps,
    useful,
)
from d2c.cky.search.constraints import certain_side
from d2c.cky.search.packed_layout import PackedLayout
from d2c.cky.search.sites import SITE
from d2c.forests.forest import Floats, Ints
from d2c.linear.kernels import inner, kernel
from d2c.linear.templates import Longs
from d2c.packed.arcs import PackedArcs
from d2c.trees.binarization import LEFT, UNARY

MOST_EDGES = 1 << 22  # of a chart; a sentence that has more is parsed with its single d-tree


class Packed(NamedTuple):
    """Arcs in place of one d-tree.

    arcs:    those of a sentence
    layout:  of them; None where there are too many items, or each word has one head
    weight:  of the logarithm of an arc's probability, one more feature of a derivation
    symbols: [A, S] weighted logarithms of the probability that the arc's label gives to each symbol of the
             grammar, another one; [0, 0] without labels
    """

    arcs: PackedArcs
    layout: PackedLayout | None
    weight: float
    symbols: Floats


class Made(NamedTuple):
    """What cells and items have made so far: the vertices of each stand in `usable` from begin to end."""

    usable: Ints
    begin: Ints
    end: Ints


@inner
def _made_by(made: Made, place: int) -> Ints:
    """The vertices of a cell or item."""
    return made.usable[made.begin[place] : made.end[place]]


@inner
def _set_site(site: np.void, side: int, place: np.void, left: np.void, right: np.void) -> None:
    """Writes what is the same for all steps to a cell. left, right: its states."""
    site["side"], site["h"], site["m"], site["g"], site["k"] = side, place["h"], -1, max(0, place["g"]), -1
    site["i"], site["j"] = left["bound"], right["bound"]
    site["next_left"], site["next_right"] = left["next"], right["next"]
    site["inner_left"], site["inner_right"] = left["inner"], right["inner"]


@inner
def _set_step(site: np.void, source: np.void, item: np.void) -> None:
    """Writes what is a step's own. source: the state that it starts from; item: what it takes."""
    site["m"] = item["h"]
    if site["side"] == LEFT:
        site["inner_left"], site["k"] = source["inner"], item["last"]
    else:
        site["inner_right"], site["k"] = source["inner"], item["first"] - 1


@inner
def _states_of(of: np.void, cell: int) -> tuple[int, int]:
    """The states of a cell in its room."""
    number, rights = np.int64(cell - of["cell"]), np.int64(of["right_end"] - of["right"])
    return of["left"] + number // rights, of["right"] + number % rights


@inner
def _cell_of(of: np.void, left: int, right: int) -> int:
    """The cell of two states in a room."""
    return of["cell"] + (left - of["left"]) * np.int64(of["right_end"] - of["right"]) + right - of["right"]


@inner
def _members(layout: PackedLayout, item: int) -> Ints:
    """The cells of an item."""
    return layout.members[layout.items[item]["members"] : layout.items[item + 1]["members"]]


@inner
def _merge(
    rules: RuleTable, members: Ints, made: Made, buffers: Buffers, vertices: int, count: int, listed: int
) -> tuple[int, int, int]:
    """Copies the whole constituents of several cells to one item; how many vertices, edges and listed
    vertices there are then."""
    begin = vertices
    for cell in members:
        for tail in _made_by(made, cell):
            symbol = buffers.symbols[tail]
            if rules.whole[symbol]:
                vertices, count = derive(buffers, symbol, tail, np.int32(-1), COPY, vertices, count)
    reset(buffers, begin, vertices)
    for vertex in range(begin, vertices):  # of different symbols
        made.usable[listed] = vertex
        listed += 1
    return vertices, count, listed


@inner
def _finish_roots(
    rules: RuleTable, layout: PackedLayout, made: Made, buffers: Buffers, written: Blocks, counts: Counts
) -> tuple[int, int]:
    """The root rules over the cells that may be the whole sentence, a block for each; how many edges and
    blocks there are then."""
    goal, count, blocks = counts
    for place in layout.roots:
        of = layout.rooms[layout.room_of[place]]
        a, b = _states_of(of, place)
        count = finish_root(rules, _made_by(made, place), False, buffers, goal, count)
        _set_site(written.sites[blocks], NOTHING + UNARY, of, layout.states[a], layout.states[b])
        written.ends[blocks] = count
        blocks += 1
    return count, blocks


@kernel
def build_packed_chart(query: Query, layout: PackedLayout, most: int) -> tuple[Chart, bool]:
    """All derivations over packed arcs, without the glue rule; whether they are too many, and there are none.

    query: its own layout plays no part; most: edges
    """
    rules, tags, levels = query.rules, query.tags, query.max_unaries
    rooms, states, steps, items = layout.rooms, layout.states, layout.steps, layout.items
    n, size, cells = len(tags), len(rules.whole), len(layout.room_of)
    symbols, usable = np.empty(64 * n, np.int32), np.empty(64 * n, np.int32)
    edges, sites, ends = np.empty(1024 * n, EDGE), np.empty(64 * n, SITE), np.empty(64 * n, np.int32)
    begin_of, end_of = np.zeros(len(layout.order), np.int32), np.zeros(len(layout.order), np.int32)
    vertex_of, every = np.full(size + 1, np.int32(-1)), np.zeros(0, np.bool_)
    vertices = count = blocks = listed = NOTHING
    unary = NOTHING + UNARY
    for place in layout.order:
        if count > most:
            break
        symbols = room(symbols, vertices + (levels + 2) * (size + 1))
        usable, begin = room(usable, listed + size), vertices
        begin_of[place] = listed
        if place >= cells:
            members = _members(layout, place - cells)
            if len(members) == 1:  # what several cells make needs new vertices
                begin_of[place], end_of[place] = begin_of[members[0]], end_of[members[0]]
                continue
            edges = room(edges, count + len(members) * size)
            sites, ends = room(sites, blocks + 1), room(ends, blocks + 1)
            made, buffers = Made(usable, begin_of, end_of), Buffers(edges, symbols, vertex_of)
            vertices, count, listed = _merge(rules, members, made, buffers, vertices, count, listed)
            _set_site(sites[blocks], unary, rooms[0], states[0], states[0])
        else:
            of = rooms[layout.room_of[place]]
            a, b = _states_of(of, place)
            tag, left, right = tags[of["h"]], states[a], states[b]
            allowed = query.constraints.by_tag[tag] if len(query.constraints.by_tag) else every
            if left["bound"] == right["bound"]:
                symbols[begin] = query.axioms[tag]
                vertex_of[symbols[begin]] = begin
                vertices += 1
            for side in range(2):
                state = a if side == LEFT else b
                for step in range(states[state]["steps"], states[state + 1]["steps"]):
                    source, taken = np.int64(steps[step]["state"]), np.int64(steps[step]["item"])
                    one, other = (source, b) if side == LEFT else (a, source)
                    next_left, next_right = states[one]["next"], states[other]["next"]
                    if certain_side(query.constraints, tags, of["h"], next_left, next_right) == 1 - side:
                        continue
                    before, item = _cell_of(of, one, other), cells + taken
                    heads = usable[begin_of[before] : end_of[before]]
                    modifiers = usable[begin_of[item] : end_of[item]]
                    edges, sites = room(edges, count + len(rules.kind)), room(sites, blocks + 1)
                    ends, first = room(ends, blocks + 1), count
                    buffers = Buffers(edges, symbols, vertex_of)
                    vertices, count = attach(rules, side, heads, modifiers, allowed, buffers, vertices, count)
                    if count > first:
                        _set_site(sites[blocks], np.int64(side), of, left, right)
                        _set_step(sites[blocks], states[source], items[taken])
                        ends[blocks] = count
                        blocks += 1
            edges = room(edges, count + (levels + 2) * (len(rules.kind) + 2 * size + 2))
            sites, ends = room(sites, blocks + levels + 2), room(ends, blocks + levels + 2)
            buffers = Buffers(edges, symbols, vertex_of)
            reset(buffers, begin, vertices)
            _set_site(sites[blocks], unary, of, left, right)
            written, counts = Blocks(sites, ends), (vertices, count, blocks)
            counts = unary_steps(rules, levels, begin, allowed, buffers, written, counts)
            vertices, count, blocks = counts
            vertices, count, listed = collect(begin, usable, buffers, vertices, count, listed)
        end_of[place], ends[blocks] = listed, count
        blocks += 1
    full = count > most
    if full:
        count = blocks = NOTHING
    symbols, edges = room(symbols, vertices + 1), room(edges, count + len(layout.roots) * size)
    sites, ends = room(sites, blocks + len(layout.roots)), room(ends, blocks + len(layout.roots))
    if not full:
        made, written = Made(usable, begin_of, end_of), Blocks(sites, ends)
        buffers, counts = Buffers(edges, symbols, vertex_of), (vertices, count, blocks)
        count, blocks = _finish_roots(rules, layout, made, buffers, written, counts)
    return useful(symbols[: vertices + 1], edges[:count], sites[:blocks], ends[:blocks]), full


def score_arcs(chart: Chart, packed: Packed, parents: Ints) -> Floats:
    """[E] what the d-parser says for the arc that an edge makes, and for the symbol that it makes there; 0
    where it makes no arc. parents: [R] of the rules."""
    arcs, sites = packed.arcs, chart.sites
    root = (sites["side"] == UNARY) & (sites["g"] == 0) & (sites["k"] == -1)
    modifier = np.where(root, sites["h"], sites["m"]).astype(np.int64)
    places = np.where(modifier >= 0, arcs.places(modifier, np.where(root, 0, sites["h"] + 1)), -1)
    scores = np.zeros(len(chart.rules), np.float32)
    _add_arcs(scores, chart, places, packed.weight * arcs.logs, packed.symbols, parents)
    return scores


@kernel
def _add_arcs(
    scores: Floats, chart: Chart, places: Longs, of_arcs: Floats, of_symbols: Floats, parents: Ints
) -> None:
    """Adds the scores of arcs and symbols. places: [blocks] the arc, or -1; of_symbols: [A, S], or [0, 0]"""
    edge = NOTHING
    for block in range(len(chart.ends)):
        place, attaches = places[block], chart.sites[block]["m"] >= 0
        while edge < chart.ends[block]:
            rule = chart.rules[edge]
            if place >= 0 and rule != COPY:
                scores[edge] += of_arcs[place]
                if attaches and rule >= 0 and len(of_symbols):
                    scores[edge] += of_symbols[place, parents[rule]]
            edge += 1
