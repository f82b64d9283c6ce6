"""The chart over packed arcs: all derivations over all projective d-trees that the arcs hold, in one forest.

Its cells are those of `d2c.cky.search.packed_skeleton`, filled by the same rules as those of the constrained
chart (`d2c.cky.search.deduction`). Where every word has one head, it is the constrained chart of this d-tree;
where items do not know the d-tree around them and all arcs are kept, it is the chart of lexicalised CKY.

D-trees with crossing arcs have constrained charts of their own; `chart_over` adds those of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats, Ints, Longs
from d2c.cky.grammar import RuleTable
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import (
    BLOCKS,
    COPY,
    EDGES,
    EVERY,
    LISTED,
    NONE,
    VERTICES,
    Chart,
    Growing,
    Likely,
    arc_place,
    attach,
    collect,
    derive,
    end_block,
    finish_root,
    finished,
    has_room,
    new_chart,
    reset,
    start,
    unary_steps,
    with_room,
)
from d2c.cky.search.packed_skeleton import PackedSkeleton
from d2c.cky.search.pruning import certain_side
from d2c.cky.search.reach import NO_YIELDS
from d2c.cky.search.skeleton import Observed, Sites
from d2c.learning.kernels import kernel, lean
from d2c.learning.semirings import Forest
from d2c.packed.arc_features import ArcFeatures
from d2c.packed.arcs import PackedArcs
from d2c.trees.binarization import LEFT, RIGHT, UNARY

MOST_EDGES = 1 << 22  # of a chart; a sentence that has more is parsed with its single d-tree


class Packed(NamedTuple):
    """Arcs in place of one d-tree.

    arcs:     the packed arcs of a sentence
    skeleton: of the arcs; None if it has too many cells or no projective d-tree, or each word has one head
    scores:   [A] what each arc adds to the score of a derivation
    symbols:  [A, S] what an arc adds if it makes a symbol of the grammar; [0, 0] without labels
    features: of arcs, with learned weights; None where these are not in use
    dtrees:   [n] the heads of each d-tree that has a chart of its own
    yields:   [2, n, n] what the first and the last word of a dependent's yield add; [2, 0, 0] without them
    likely:   the symbols that labels leave to each arc
    """

    arcs: PackedArcs
    skeleton: PackedSkeleton | None
    scores: Floats
    symbols: Floats
    features: ArcFeatures | None = None
    dtrees: Sequence[Sequence[int]] = ()
    yields: Floats = NO_YIELDS
    likely: Likely = EVERY

    @property
    def several(self) -> bool:
        """Return whether there are d-trees to look at in place of the single one."""
        return self.skeleton is not None or len(self.dtrees) > 0


@lean
def _set_site(site: np.void, side: int, place: np.void, left: np.void, right: np.void) -> None:
    """Write what all steps to a cell have in common. left, right: the states of the cell"""
    site["side"], site["h"], site["m"], site["g"], site["k"] = side, place["h"], -1, max(0, place["g"]), -1
    site["i"], site["j"] = left["bound"], right["bound"]
    site["next_left"], site["next_right"] = left["next"], right["next"]
    site["inner_left"], site["inner_right"] = left["inner"], right["inner"]


@lean
def _set_step(site: np.void, source: np.void, item: np.void) -> None:
    """Write what only this step has. source: the state that it starts from; item: the item that it takes"""
    site["m"] = item["h"]
    if site["side"] == LEFT:
        site["inner_left"], site["k"] = source["inner"], item["last"]
    else:
        site["inner_right"], site["k"] = source["inner"], item["first"] - 1


@lean
def _states_of(of: np.void, cell: int) -> tuple[int, int]:
    """Return the left and the right state of a cell in its grid."""
    number, rights = np.int64(cell - of["cell"]), np.int64(of["right_end"] - of["right"])
    return of["left"] + number // rights, of["right"] + number % rights


@lean
def _cell_of(of: np.void, left: int, right: int) -> int:
    """Return the cell of two states in a grid."""
    return of["cell"] + (left - of["left"]) * np.int64(of["right_end"] - of["right"]) + right - of["right"]


@lean
def _merge(rules: RuleTable, skeleton: PackedSkeleton, place: int, growing: Growing) -> None:
    """Copy the whole constituents of all cells of an item to new vertices of the item."""
    begin, counts, site = growing.counts[VERTICES], growing.counts, growing.sites[growing.counts[BLOCKS]]
    item, none = place - len(skeleton.grid_of), skeleton.states[0]
    for member in range(skeleton.items[item]["members"], skeleton.items[item + 1]["members"]):
        cell = skeleton.members[member]
        for i in range(growing.begin[cell], growing.end[cell]):
            tail = growing.usable[i]
            symbol = growing.symbols[tail]
            if rules.whole[symbol]:
                derive(growing, symbol, tail, NONE, COPY)
    reset(growing, begin)
    growing.begin[place] = counts[LISTED]
    for vertex in range(begin, counts[VERTICES]):  # of different symbols
        growing.usable[counts[LISTED]] = vertex
        counts[LISTED] += 1
    growing.end[place] = counts[LISTED]
    _set_site(site, UNARY, skeleton.grids[0], none, none)
    end_block(growing)


@lean
def _list_whole(rules: RuleTable, cell: int, place: int, growing: Growing) -> None:
    """List the whole constituents of a cell as those of an item."""
    counts, usable = growing.counts, growing.usable
    growing.begin[place] = counts[LISTED]
    for i in range(growing.begin[cell], growing.end[cell]):
        if rules.whole[growing.symbols[usable[i]]]:
            usable[counts[LISTED]] = usable[i]
            counts[LISTED] += 1
    growing.end[place] = counts[LISTED]


@lean
def _steps_to(skeleton: PackedSkeleton, cell: int) -> int:
    """Return how many steps lead to a cell."""
    states, (a, b) = skeleton.states, _states_of(skeleton.grids[skeleton.grid_of[cell]], cell)
    return states[a + 1]["steps"] - states[a]["steps"] + states[b + 1]["steps"] - states[b]["steps"]


@lean
def _attach_step(
    query: Query,
    tags: Ints,
    skeleton: PackedSkeleton,
    place: tuple[int, int],
    allowed: NDArray[np.bool_],
    growing: Growing,
) -> None:
    """Add the block of a step to a cell.

    tags: [n] of the words; place: the cell, and the number of the step, those on the left first; allowed: [R]
    whether pruning leaves each rule, or [0]: all are left
    """
    cell, number = place
    of, states, steps = skeleton.grids[skeleton.grid_of[cell]], skeleton.states, skeleton.steps
    a, b = _states_of(of, cell)
    lefts = states[a + 1]["steps"] - states[a]["steps"]
    side = LEFT if number < lefts else RIGHT
    step = np.int64(states[a]["steps"] + number if side == LEFT else states[b]["steps"] + number - lefts)
    source, taken = np.int64(steps[step]["state"]), np.int64(steps[step]["item"])
    one, other = (source, b) if side == LEFT else (a, source)
    next_left, next_right = states[one]["next"], states[other]["next"]
    if certain_side(query.constraints, tags, of["h"], next_left, next_right) == 1 - side:
        return
    first, site = growing.counts[EDGES], growing.sites[growing.counts[BLOCKS]]
    before, item = _cell_of(of, one, other), len(skeleton.grid_of) + taken
    arc = (of["h"], skeleton.items[taken]["h"])
    attach(query.rules, side, before, item, allowed, query.likely, arc, growing)
    if growing.counts[EDGES] > first:
        _set_site(site, side, of, states[a], states[b])
        _set_step(site, states[source], skeleton.items[taken])
        end_block(growing)


@lean
def _start_cell(query: Query, tag: int, skeleton: PackedSkeleton, cell: int, growing: Growing) -> None:
    """Add the pre-terminal of a word with this tag, if the cell is of the word alone."""
    a, b = _states_of(skeleton.grids[skeleton.grid_of[cell]], cell)
    if skeleton.states[a]["bound"] == skeleton.states[b]["bound"]:
        start(growing, query.axioms[tag])


@lean
def _end_cell(
    query: Query,
    skeleton: PackedSkeleton,
    cell: int,
    begin: int,
    allowed: NDArray[np.bool_],
    growing: Growing,
) -> None:
    """Add the unary steps of a cell, whose first vertex is `begin`. allowed: [R] or [0], as of
    `_attach_step`"""
    of = skeleton.grids[skeleton.grid_of[cell]]
    a, b = _states_of(of, cell)
    reset(growing, begin)
    site = growing.sites[growing.counts[BLOCKS]]
    _set_site(site, UNARY, of, skeleton.states[a], skeleton.states[b])
    unary_steps(query.rules, query.max_unaries, begin, allowed, growing)
    collect(growing, cell, begin)


@lean
def _add_root(rules: RuleTable, skeleton: PackedSkeleton, cell: int, growing: Growing) -> None:
    """Add the block of the root rules over a cell."""
    of = skeleton.grids[skeleton.grid_of[cell]]
    a, b = _states_of(of, cell)
    finish_root(rules, cell, False, growing)
    site = growing.sites[growing.counts[BLOCKS]]
    _set_site(site, UNARY, of, skeleton.states[a], skeleton.states[b])
    end_block(growing)


@kernel
def build_packed_chart(
    query: Query, observed: Observed, skeleton: PackedSkeleton, most: int
) -> tuple[Chart, bool]:
    """Return all derivations over packed arcs, without the glue rule; whether they have too many edges, in
    which case the chart is empty.

    observed: [n + 2], of which heads play no part; most: the greatest number of edges
    """
    tags, every = observed["tag"][1:-1].copy(), np.zeros(0, np.bool_)
    rules, size, cells = query.rules, len(query.rules.whole), len(skeleton.grid_of)
    levels, by_tag = query.max_unaries + 2, query.constraints.by_tag
    growing, of_rules = new_chart(len(tags), len(skeleton.order), size), len(rules.kind)
    counts = growing.counts
    for place in skeleton.order:
        if counts[EDGES] > most:
            break
        if not has_room(growing, levels * (size + 1), 0, 0):
            growing = with_room(growing, levels * (size + 1), 0, 0)
        if place < cells:
            tag, begin = tags[skeleton.grids[skeleton.grid_of[place]]["h"]], counts[VERTICES]
            allowed = by_tag[tag] if len(by_tag) else every
            _start_cell(query, tag, skeleton, place, growing)
            for number in range(_steps_to(skeleton, place)):
                if not has_room(growing, 0, of_rules, 1):
                    growing = with_room(growing, 0, of_rules, 1)
                _attach_step(query, tags, skeleton, (place, number), allowed, growing)
            if not has_room(growing, 0, levels * (of_rules + 2 * size + 2), levels):
                growing = with_room(growing, 0, levels * (of_rules + 2 * size + 2), levels)
            _end_cell(query, skeleton, place, begin, allowed, growing)
            continue
        first, end = skeleton.items[place - cells]["members"], skeleton.items[place - cells + 1]["members"]
        if end - first == 1:  # an item of several cells needs vertices of its own
            _list_whole(rules, skeleton.members[first], place, growing)
        else:
            growing = with_room(growing, 0, (end - first) * size, 1)
            _merge(rules, skeleton, place, growing)
    full = counts[EDGES] > most
    if full:
        counts[EDGES] = counts[BLOCKS] = 0
    roots = len(skeleton.roots)
    growing = with_room(growing, 1, roots * size, roots)
    for cell in skeleton.roots:
        if not full:
            _add_root(rules, skeleton, cell, growing)
    return finished(growing), full


def chart_over(query: Query, observed: Observed, packed: Packed, most: int) -> tuple[Chart, bool]:
    """Return all derivations over the projective d-trees of arcs, and over the d-trees with charts of their
    own; if there are neither, over the single d-tree. observed: [n + 2]; the other arguments and the result
    are as in `build_packed_chart`."""
    charts = list[Chart]()
    if packed.skeleton is not None:
        chart, full = build_packed_chart(query, observed, packed.skeleton, most)
        if full:
            return chart, full
        charts.append(chart)
    for heads in packed.dtrees:
        over = observed.copy()
        over["head"][1:-1] = heads
        charts.append(build_chart(query, over))
    return united(charts or [build_chart(query, observed)]), False


def united(charts: Sequence[Chart]) -> Chart:
    """Return the derivations of several charts of a sentence as one chart, in which they share the goal."""
    if len(charts) == 1:
        return charts[0]
    first = np.cumsum([0, *(chart.forest.vertices - 1 for chart in charts)], dtype=np.int32)
    goal, edges = first[-1], np.cumsum([0, *(len(chart.rules) for chart in charts)], dtype=np.int32)
    head, tail, modifier = list[Ints](), list[Ints](), list[Ints]()
    for chart, begin in zip(charts, first, strict=False):
        forest = chart.forest
        head.append(np.where(forest.head == forest.vertices - 1, goal, forest.head + begin))
        tail.append(forest.tail + begin)
        modifier.append(np.where(forest.modifier >= 0, forest.modifier + begin, forest.modifier))
    return Chart(
        Forest(np.concatenate(head), np.concatenate(tail), np.concatenate(modifier), int(goal) + 1),
        np.concatenate([*(chart.symbols[:-1] for chart in charts), charts[0].symbols[-1:]]),
        np.concatenate([chart.rules for chart in charts]),
        np.concatenate([chart.sites for chart in charts]),
        np.concatenate([chart.ends + begin for chart, begin in zip(charts, edges, strict=False)]),
    )


def score_arcs(chart: Chart, packed: Packed, parents: Ints) -> Floats:
    """Return [E] what each edge adds for the arc that it makes, for the symbol that it makes there, and for
    the yield of the dependent; 0 if it makes no arc. parents: [R] of the rules"""
    scores = np.zeros(len(chart.rules), np.float32)
    places = places_of(chart.sites, packed.arcs.begin, packed.arcs.heads)
    _add_arcs(scores, chart, places, (packed.scores, packed.symbols, packed.yields), parents)
    return scores


@kernel
def places_of(sites: Sites, begin: Ints, heads: Ints) -> Longs:
    """Return [B] the arc that is made at each of these sites, or -1. begin: [n + 1]; heads: [A] of arcs"""
    places = np.full(len(sites), NONE)
    for i in range(len(sites)):
        site = sites[i]
        h, m = np.int64(site["h"]), np.int64(site["m"])
        if site["side"] == UNARY and site["g"] == 0 and site["k"] == -1:  # a root
            h, m = np.int64(NONE), np.int64(site["h"])
        if m >= 0:
            places[i] = arc_place(begin, heads, h, m)
    return places


@kernel
def _add_arcs(
    scores: Floats, chart: Chart, places: Longs, said: tuple[Floats, Floats, Floats], parents: Ints
) -> None:
    """Add the scores of arcs, of the symbols that they make, and of the yields of dependents.

    places: [B] as of `places_of`; said: scores, symbols and yields as in `Packed`
    """
    edge, (of_arcs, of_symbols, yields) = 0, said
    for block in range(len(chart.ends)):
        place, site, own = places[block], chart.sites[block], np.float32(0.0)
        m = site["m"]
        if m >= 0 and len(yields[0]):
            first, last = (site["i"], site["k"]) if site["side"] == LEFT else (site["k"] + 1, site["j"])
            own = yields[0, m, first] + yields[1, m, last]
        while edge < chart.ends[block]:
            rule = chart.rules[edge]
            if place >= 0 and rule != COPY:
                scores[edge] += of_arcs[place]
                if m >= 0 and rule >= 0 and len(of_symbols):
                    scores[edge] += of_symbols[place, parents[rule]]
            scores[edge] += own
            edge += 1
