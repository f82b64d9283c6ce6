"""Lexicalised CKY, without a d-tree (Figure 3, left): the reference that constrained CKY is measured against.

An item is (i, j, h): words i to j with head word h, as any symbol. O(n^5 |R|) time and as many edges, so it
is for short sentences only. Its forest holds the derivations of the constrained charts of all projective
d-trees, each once; every semiring of `d2c.forests.semirings` works on it. Parts have no d-tree around them
here, so scores need weights that were learned with `context=False`.
"""

from __future__ import annotations

import numpy as np

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.search.chart import (
    EDGE,
    NOTHING,
    Blocks,
    Buffers,
    Chart,
    Query,
    attach,
    collect,
    finish_root,
    reset,
    room,
    unary_steps,
    useful,
)
from d2c.cky.search.features import score_edges
from d2c.cky.search.search import GLUE_SCORE, derivation, nearness
from d2c.cky.search.sites import SITE
from d2c.forests.forest import Floats
from d2c.forests.semirings import viterbi
from d2c.linear.kernels import inner, kernel
from d2c.trees.binarization import LEFT, RIGHT, UNARY
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.repair import Repairs

LONGEST = 20  # words


@inner
def _set_site(site: np.void, side: int, h: int, m: int, span: tuple[int, int], k: int) -> None:
    """Writes a site that has no d-tree around it."""
    site["side"], site["h"], site["m"], site["i"], site["j"], site["k"] = side, h, m, span[0], span[1], k
    site["g"] = 0
    site["next_left"] = site["next_right"] = site["inner_left"] = site["inner_right"] = -1


@kernel
def build_lexicalised_chart(query: Query) -> Chart:
    """All derivations of n words, whatever their d-tree and without pruning."""
    rules, max_unaries, n, size = query.rules, query.max_unaries, len(query.tags), len(query.rules.whole)
    symbols, usable = np.empty(64 * n, np.int32), np.empty(64 * n, np.int32)
    edges, sites, ends = np.empty(4096 * n, EDGE), np.empty(64 * n, SITE), np.empty(64 * n, np.int32)
    begin_of, end_of = (
        np.zeros((n, n, n), np.int32),
        np.zeros((n, n, n), np.int32),
    )  # in `usable`, of each item
    vertex_of, every = np.full(size + 1, np.int32(-1)), np.zeros(0, np.bool_)
    vertices = count = blocks = listed = NOTHING
    for width in range(n):
        for i in range(n - width):
            j = i + width
            for h in range(i, j + 1):
                symbols = room(symbols, vertices + (max_unaries + 2) * (size + 1))
                usable, begin = room(usable, listed + size), vertices
                if width == 0:
                    symbols[begin] = query.axioms[query.tags[h]]
                    vertex_of[symbols[begin]] = begin
                    vertices += 1
                for k in range(i, j):
                    side = LEFT if k < h else RIGHT
                    first, last = (k + 1, j) if side == LEFT else (i, k)
                    heads = usable[begin_of[first, last, h] : end_of[first, last, h]]
                    first, last = (i, k) if side == LEFT else (k + 1, j)
                    for m in range(first, last + 1):
                        modifiers = usable[begin_of[first, last, m] : end_of[first, last, m]]
                        edges, sites = room(edges, count + len(rules.kind)), room(sites, blocks + 1)
                        ends, before = room(ends, blocks + 1), count
                        buffers = Buffers(edges, symbols, vertex_of)
                        vertices, count = attach(
                            rules, side, heads, modifiers, every, buffers, vertices, count
                        )
                        if count > before:
                            _set_site(sites[blocks], side, h, m, (i, j), k)
                            ends[blocks] = count
                            blocks += 1
                edges = room(edges, count + (max_unaries + 2) * (len(rules.kind) + 2 * size + 2))
                sites, ends = room(sites, blocks + max_unaries + 2), room(ends, blocks + max_unaries + 2)
                buffers = Buffers(edges, symbols, vertex_of)
                reset(buffers, begin, vertices)
                _set_site(sites[blocks], UNARY, h, -1, (i, j), -1)
                written, counts = Blocks(sites, ends), (vertices, count, blocks)
                counts = unary_steps(rules, max_unaries, begin, every, buffers, written, counts)
                vertices, count, blocks = counts
                begin_of[i, j, h] = listed
                vertices, count, listed = collect(begin, usable, buffers, vertices, count, listed)
                end_of[i, j, h], ends[blocks] = listed, count
                blocks += 1
    symbols = room(symbols, vertices + 1)
    edges, sites, ends = room(edges, count + n * size), room(sites, blocks + n), room(ends, blocks + n)
    buffers = Buffers(edges, symbols, vertex_of)
    for h in range(n):
        whole = usable[begin_of[0, n - 1, h] : end_of[0, n - 1, h]]
        count = finish_root(rules, whole, False, buffers, vertices, count)
        _set_site(sites[blocks + h], UNARY, h, -1, (0, n - 1), -1)
        ends[blocks + h] = count
    blocks += n
    return useful(symbols[: vertices + 1], edges[:count], sites[:blocks], ends[:blocks])


def parse_lexicalised(route: ConstrainedCKY, tokens: Tokens) -> CTree | None:
    """The best c-tree of a sentence under a fitted route's grammar and weights; None where there is none.

    Raises ValueError for weights that see the d-tree around a part, and for more than LONGEST words.
    """
    if route.settings.context or route.settings.labels:
        raise ValueError("these weights need a d-tree; fit with context=False, labels=False")
    chart = build_lexicalised_chart(_query(route, tokens))
    observed = route.vocabulary_.observe(tokens, range(len(tokens)), None)
    return _best(route, tokens, chart, score_edges(chart, observed, route.scorer, GLUE_SCORE))


def lexicalised_oracle(route: ConstrainedCKY, gold: CTree) -> CTree | None:
    """The tree nearest to a gold one among all that the route's grammar gives its tokens; see `oracle`.

    Raises ValueError for more than LONGEST words.
    """
    query, pair = _query(route, gold.tokens), route.gold(gold)
    chart = build_lexicalised_chart(query)
    near = nearness(chart, query, pair.parts(route.grammar_), pair.brackets(route.grammar_))
    return _best(route, gold.tokens, chart, near)


def _query(route: ConstrainedCKY, tokens: Tokens) -> Query:
    """What is asked about a sentence; its d-tree plays no part. Raises ValueError for a long one."""
    if len(tokens) > LONGEST:
        raise ValueError(f"{len(tokens)} words; lexicalised CKY takes {LONGEST} at most")
    return route.ask(route.vocabulary_.observe(tokens, range(len(tokens)), None))


def _best(route: ConstrainedCKY, tokens: Tokens, chart: Chart, scores: Floats) -> CTree | None:
    """The c-tree of a best derivation; None where there is none."""
    if not len(scores):
        return None
    found = derivation(chart, viterbi(chart.forest, scores), 0)
    return route.ctree(tokens, found, Repairs())
