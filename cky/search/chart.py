"""The constrained chart (PAD, Figure 3, right): Y(x, d), all derivations over a d-tree, packed into a forest.

Its items (h, a, b) are those of the d-tree's skeleton, each with any symbol. An item grows by its next left
or its next right dependent m, whose own item is complete, and by unary rules. There are at most `max_unaries`
unary steps between two attachments, and a unary rule comes after no more of them than somewhere in the
treebank; the second limit is not the paper's. The words of an item need not be contiguous, so d-trees with
crossing arcs have a chart as well. Edges and time are O(Σ_h (|L(h)| + 1) (|R(h)| + 1) |G|), times
`max_unaries`; the paper writes |L(h)| |R(h)| |G|. Some derivations of words with very many dependents are
missing from this Y(x, d) (MOST_CELLS of the skeleton).

Packed arcs and lexicalised CKY have a walk of their own over the same deduction rules
(`d2c.cky.search.packed_chart`): their items are states of automata. Where each word has one head, that walk
makes this chart, but takes twice as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.cky.grammar import RuleTable
from d2c.cky.search.deduction import (
    BLOCKS,
    EDGES,
    EVERY,
    GLUED,
    NONE,
    VERTICES,
    Chart,
    Growing,
    Likely,
    attach,
    collect,
    derive,
    end_block,
    end_level,
    finish_root,
    finished,
    has_room,
    new_chart,
    reset,
    start,
    unary_steps,
    with_room,
)
from d2c.cky.search.pruning import Constraints, certain_side
from d2c.cky.search.skeleton import Observed, Skeleton, cell_of, heads_of, item_of, set_site, skeleton_of
from d2c.learning.kernels import kernel, lean
from d2c.trees.binarization import LEFT, UNARY


class Query(NamedTuple):
    """The grammar with which charts of sentences are built.

    axioms:      [T] the pre-terminal symbol of each tag
    constraints: what pruning leaves
    max_unaries: the most unary steps between two attachments; a gold tree with more is not in the chart
    default:     symbol that the glue rule puts over a pre-terminal
    glue:        whether the glue rule joins what no rule joins. It adds the dependent to the constituent that
                 is there, or puts the default over a pre-terminal; it finishes unfinished constituents and
                 accepts any root, so that every d-tree has a derivation
    likely:      the symbols that arcs may make
    """

    rules: RuleTable
    axioms: Ints
    constraints: Constraints
    max_unaries: int
    default: int
    glue: bool = False
    likely: Likely = EVERY


@kernel
def build_chart(query: Query, observed: Observed) -> Chart:
    """Return Y(x, d): all derivations of a sentence x [n + 2] over its d-tree d, as a packed forest."""
    rules, levels, glue = query.rules, query.max_unaries, query.glue
    skeleton, tags = skeleton_of(heads_of(observed)), observed["tag"][1:-1].copy()
    order, dependents, words = skeleton
    n, size = len(tags), len(rules.whole)
    growing, every = new_chart(n, words[n]["cell"], size), np.zeros(0, np.bool_)
    counts = growing.counts
    # The most edges of a cell: each rule from either side and at each level, copies, those of the glue rule
    most_edges = (levels + 2) * (len(rules.kind) + 2 * size + 2) + (2 * size * size if glue else 0)
    for h in order:
        tag = tags[h]
        allowed = query.constraints.by_tag[tag] if len(query.constraints.by_tag) else every
        for cell in range(words[h]["cell"], words[h + 1]["cell"]):
            a, b = item_of(words, h, cell - words[h]["cell"])
            if not has_room(growing, (levels + 2) * (size + 1), most_edges, levels + 5):
                growing = with_room(growing, (levels + 2) * (size + 1), most_edges, levels + 5)
            begin = counts[VERTICES]
            if cell == words[h]["cell"]:
                start(growing, query.axioms[tag])
            for side in range(2):
                _attach_next(query, skeleton, tags, side, (h, a, b), allowed, growing)
            reset(growing, begin)
            set_site(dependents, words, UNARY, h, a, b, growing.sites[counts[BLOCKS]])
            if glue and cell == words[h + 1]["cell"] - 1:
                _finish(rules, begin, growing)
                end_level(growing, 0)
            unary_steps(rules, levels, begin, allowed, growing)
            collect(growing, cell, begin)
    growing, root = with_room(growing, 1, size, 1), order[-1]
    done = words[root + 1]["cell"] - 1
    finish_root(rules, done, glue, growing)
    a, b = item_of(words, root, done - words[root]["cell"])
    set_site(dependents, words, UNARY, root, a, b, growing.sites[counts[BLOCKS]])
    end_block(growing)
    return finished(growing)


@lean
def _attach_next(
    query: Query,
    skeleton: Skeleton,
    tags: Ints,
    side: int,
    item: tuple[int, int, int],
    allowed: NDArray[np.bool_],
    growing: Growing,
) -> None:
    """Add the block in which the item (h, a, b) takes its last dependent on a side, if it may do so.

    tags: [n] of the words; allowed: [R] whether pruning leaves each rule, or [0]: all are left
    """
    (h, a, b), (_, dependents, words) = item, skeleton
    a0, b0 = (a - 1, b) if side == LEFT else (a, b - 1)
    before = cell_of(words, h, a0, b0) if min(a0, b0) >= 0 else -1
    if before < 0:
        return
    site = growing.sites[growing.counts[BLOCKS]]
    set_site(dependents, words, side, h, a, b, site)
    left, right = (site["m"], site["next_right"]) if side == LEFT else (site["next_left"], site["m"])
    if certain_side(query.constraints, tags, h, left, right) == 1 - side:
        return
    done, first = words[site["m"] + 1]["cell"] - 1, growing.counts[EDGES]
    attach(query.rules, side, before, done, allowed, query.likely, (h, site["m"]), growing)
    if query.glue and growing.counts[EDGES] == first:
        _glue(query.rules, before, done, query.default, growing)
    end_block(growing)


@lean
def _glue(rules: RuleTable, before: int, done: int, default: int, growing: Growing) -> None:
    """Add the glue rule over all pairs of vertices of two cells."""
    for i in range(growing.begin[before], growing.end[before]):
        tail = growing.usable[i]
        below = growing.symbols[tail]
        for j in range(growing.begin[done], growing.end[done]):
            modifier = growing.usable[j]
            if rules.whole[growing.symbols[modifier]]:
                derive(growing, default if rules.tag[below] else below, tail, modifier, GLUED)


@lean
def _finish(rules: RuleTable, begin: int, growing: Growing) -> None:
    """Add the glue rule over single vertices: if a word with all its dependents has no whole constituent,
    finish its unfinished ones."""
    end = growing.counts[VERTICES]
    for vertex in range(begin, end):
        if rules.whole[growing.symbols[vertex]]:
            return
    for tail in range(begin, end):
        symbol = rules.finished[growing.symbols[tail]]
        derive(growing, symbol, tail, NONE, GLUED)
    reset(growing, end)
