"""Lexicalised CKY, without a d-tree (Figure 3, left): the reference that constrained CKY is measured against.

An item is (i, j, h): words i to j with head word h, as any symbol. O(n^5 |R|) time and as many edges, so it
is for short sentences only. Its forest holds the derivations of the constrained charts of all projective
d-trees, each once; every semiring of `d2c.forests.semirings` works on it. Parts have no d-tree around them
here, so scores need weights that were learned with `context=False`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.chart import (
    BLOCK,
    SIDE,
    Forest,
    H,
    M,
    add_block,
    attach,
    collect,
    finish_root,
    reset,
    room,
    unaries,
    useful,
)
from d2c.cky.search.features import Floats, Sentence, score_edges
from d2c.cky.search.layout import Ints
from d2c.cky.search.search import GLUE_SCORE, Found, best_of, nearness
from d2c.trees.binarization import LEFT, RIGHT, UNARY
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.repair import Repairs

LONGEST = 20  # words


@njit(cache=True, nogil=True)
def build_lexicalised_forest(rules: RuleTable, axioms: Ints, max_unaries: int) -> Forest:
    """All derivations of n words. axioms: [n] symbol of each pre-terminal."""
    n, size = len(axioms), len(rules.whole)
    symbols, usable = np.empty((64 * n, 1), np.int32), np.empty((64 * n, 2), np.int32)
    edges, blocks = np.empty((4096 * n, 4), np.int32), np.empty((64 * n, BLOCK), np.int32)
    spans = np.zeros((n, n, n, 2), np.int32)  # where in `usable` the vertices of each item stand
    at, count = np.full(size + 1, -1, np.int32), np.zeros(4, np.int64)
    every = np.zeros((0, 0), np.bool_)
    most_unary = (max_unaries + 2) * (len(rules.kind) + 2 * size + 2)
    for width in range(n):
        for i in range(n - width):
            j = i + width
            for h in range(i, j + 1):
                symbols = room(symbols, count[0] + (max_unaries + 2) * (size + 1))
                usable = room(usable, count[3] + size)
                begin, place = count[0], (i, j, -1, -1, -1, -1)
                if width == 0:
                    symbols[begin, 0], at[axioms[h]] = axioms[h], begin
                    count[0] += 1
                for k in range(i, j):
                    side = LEFT if k < h else RIGHT
                    first, last = (k + 1, j) if side == LEFT else (i, k)
                    heads = usable[spans[first, last, h, 0] : spans[first, last, h, 1]]
                    first, last = (i, k) if side == LEFT else (k + 1, j)
                    for m in range(first, last + 1):
                        modifiers = usable[spans[first, last, m, 0] : spans[first, last, m, 1]]
                        first_edge = count[1]
                        edges, blocks = room(edges, first_edge + len(rules.kind)), room(blocks, count[2] + 4)
                        attach(rules, side, heads, modifiers, every, 0, symbols, edges, at, count)
                        if count[1] > first_edge:
                            add_block(blocks, count, side, h, m, k, place, first_edge)
                reset(at, symbols, begin, count[0])
                first_edge = count[1]
                edges = room(edges, first_edge + most_unary)
                blocks = room(blocks, count[2] + max_unaries + 4)
                unaries(
                    *(rules, every, 0, max_unaries, begin, symbols, edges, at),
                    *(blocks, h, place, first_edge, count),
                )
                spans[i, j, h, 0], first_edge = count[3], count[1]
                collect(begin, symbols, usable, edges, at, count)
                spans[i, j, h, 1] = count[3]
                add_block(blocks, count, UNARY, h, -1, -1, place, first_edge)
    goal = count[0]
    symbols = room(symbols, goal + 1)
    for h in range(n):
        first_edge = count[1]
        edges, blocks = room(edges, first_edge + size), room(blocks, count[2] + 4)
        count[0] = goal
        vertices = usable[spans[0, n - 1, h, 0] : spans[0, n - 1, h, 1]]
        finish_root(rules, vertices, False, symbols, edges, count)
        add_block(blocks, count, UNARY, h, -1, -1, (0, n - 1, -1, -1, -1, -1), first_edge)
    return useful(symbols[: count[0], 0].copy(), edges[: count[1]], blocks[: count[2]])


def parse_lexicalised(route: ConstrainedCKY, tokens: Tokens) -> CTree | None:
    """The best c-tree of a sentence under a fitted route's grammar and weights; None where there is none.

    Raises ValueError for weights that see the d-tree around a part, and for more than LONGEST words.
    """
    if route.context or route.labels:
        raise ValueError("these weights need a d-tree; fit with context=False, labels=False")
    sentence = route.vocabulary_.sentence(tokens, [0] * _short(tokens), None, context=False)
    axioms = route.axioms(tokens.tags)
    return _ctree(
        route,
        tokens,
        best_lexicalised_parts(
            route.grammar_.table, route.rule_keys, route.weights_, axioms, sentence, route.max_unaries
        ),
    )


def lexicalised_oracle(route: ConstrainedCKY, gold: CTree) -> CTree | None:
    """The tree nearest to a gold one among all that the route's grammar gives its tokens; see `oracle`.

    Raises ValueError for more than LONGEST words.
    """
    _short(gold.tokens)
    pair, grammar = route.gold(gold), route.grammar_
    parts = oracle_lexicalised_parts(
        grammar.table,
        route.axioms(gold.tokens.tags),
        route.max_unaries,
        pair.parts(grammar),
        pair.brackets(grammar),
    )
    return _ctree(route, gold.tokens, parts)


def _short(tokens: Tokens) -> int:
    if len(tokens) > LONGEST:
        raise ValueError(f"{len(tokens)} words; lexicalised CKY takes {LONGEST} at most")
    return len(tokens)


def _ctree(route: ConstrainedCKY, tokens: Tokens, found: Found) -> CTree | None:
    if not len(found.parts):
        return None
    heads = [0] * len(tokens)
    for side, h, m in found.parts[:, [SIDE, H, M]].tolist():
        if side != UNARY:
            heads[m] = h + 1
    return route.ctree(tokens, heads, found, Repairs())


@njit(cache=True, nogil=True)
def best_lexicalised_parts(
    rules: RuleTable,
    keys: NDArray[np.int64],
    weights: Floats,
    axioms: Ints,
    sentence: Sentence,
    max_unaries: int,
) -> Found:
    """A best derivation of the unconstrained chart; no parts where it is empty."""
    forest = build_lexicalised_forest(rules, axioms, max_unaries)
    return best_of(forest, score_edges(forest, sentence, keys, weights, GLUE_SCORE), 0)


@njit(cache=True, nogil=True)
def oracle_lexicalised_parts(
    rules: RuleTable, axioms: Ints, max_unaries: int, gold: Ints, brackets: NDArray[np.int64]
) -> Found:
    """As `search.oracle_parts`, of the unconstrained chart."""
    forest = build_lexicalised_forest(rules, axioms, max_unaries)
    return best_of(forest, nearness(forest, rules, gold, brackets, len(axioms)), 0)
