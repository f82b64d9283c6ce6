"""What is looked for in a chart: the best derivation, the oracle's, the probability of every constituent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.chart import (
    BEGIN,
    COPY,
    END,
    FIRST,
    HEAD,
    LAST,
    RULE,
    Constraints,
    Forest,
    H,
    build_forest,
)
from d2c.cky.search.features import Floats, Sentence, score_edges
from d2c.cky.search.layout import Ints, lay_out
from d2c.cky.search.parts import losses, parts_of_edges
from d2c.forests.kbest import k_best
from d2c.forests.semirings import Doubles, marginals, viterbi

GLUE_SCORE = -1000.0  # so that a derivation with as few glue rules as possible is best


class Found(NamedTuple):
    """A derivation: parts [P, 11], bottom-up; the symbol that each derives [P]; and how it was found.

    stage: 0 under the given constraints, 1 without constraints, 2 with the glue rule
    """

    parts: Ints
    symbols: Ints
    stage: int


@njit(cache=True, nogil=True)
def any_forest(
    rules: RuleTable,
    heads: Ints,
    axioms: Ints,
    tags: Ints,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
) -> tuple[Forest, int]:
    """A forest with a derivation, and its stage as in `Found`. Arguments as for `build_forest`."""
    layout, glue = lay_out(heads), glue_symbols[:0]
    pruned = len(constraints.by_tag) > 0 or len(constraints.sides) > 0
    for stage in range(3):
        if stage == 1:
            if not pruned:
                continue
            constraints = Constraints(
                constraints.by_tag[:0], constraints.sides[:0], constraints.next_side[:0]
            )
        elif stage == 2:
            glue = glue_symbols
        forest = build_forest(rules, layout, axioms, tags, constraints, max_unaries, glue)
        if len(forest.edges):
            break
    return forest, stage


@njit(cache=True, nogil=True)
def best_of(forest: Forest, scores: Floats, stage: int) -> Found:
    """A best derivation of a forest."""
    return _found(forest, viterbi(forest, scores), stage)


@njit(cache=True, nogil=True)
def _found(forest: Forest, chosen: Ints, stage: int) -> Found:
    """The derivation of these edges."""
    chosen = chosen[forest.edges[chosen, RULE] != COPY]
    return Found(parts_of_edges(forest, chosen), forest.symbols[forest.edges[chosen, HEAD]], stage)


@njit(cache=True, nogil=True)
def best_parts(
    rules: RuleTable,
    keys: NDArray[np.int64],
    weights: Floats,
    axioms: Ints,
    sentence: Sentence,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
) -> Found:
    """A best derivation."""
    forest, stage = any_forest(
        rules, sentence.heads, axioms, sentence.tags[1:-1], constraints, max_unaries, glue_symbols
    )
    return best_of(forest, score_edges(forest, sentence, keys, weights, GLUE_SCORE), stage)


@njit(cache=True, nogil=True)
def k_best_parts(
    rules: RuleTable,
    keys: NDArray[np.int64],
    weights: Floats,
    axioms: Ints,
    sentence: Sentence,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
    k: int,
) -> tuple[Doubles, list[Found]]:
    """The scores of the k best derivations, best first, and these."""
    forest, stage = any_forest(
        rules, sentence.heads, axioms, sentence.tags[1:-1], constraints, max_unaries, glue_symbols
    )
    totals, edges, begin = k_best(forest, score_edges(forest, sentence, keys, weights, GLUE_SCORE), k)
    return totals, [_found(forest, edges[begin[at] : begin[at + 1]], stage) for at in range(len(totals))]


@njit(cache=True, nogil=True)
def oracle_parts(
    rules: RuleTable,
    axioms: Ints,
    sentence: Sentence,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
    gold: Ints,
    brackets: NDArray[np.int64],
) -> Found:
    """A derivation with the smallest Δ to the gold parts; of these one with most gold constituents and fewest
    others.

    brackets: sorted keys of the gold constituents, see `bracket_key`.
    """
    forest, stage = any_forest(
        rules, sentence.heads, axioms, sentence.tags[1:-1], constraints, max_unaries, glue_symbols
    )
    return best_of(forest, nearness(forest, rules, gold, brackets, len(axioms)), stage)


@njit(cache=True, nogil=True)
def nearness(forest: Forest, rules: RuleTable, gold: Ints, brackets: NDArray[np.int64], n: int) -> Floats:
    """[E] scores under which the oracle's derivation is the best: -Δ, and less than that for constituents."""
    scores, size = -losses(forest, gold, n), len(rules.whole)
    bonus = 1.0 / (16 * n + 16)  # less than 1 over the steps of a derivation
    for block in forest.blocks:
        for edge in range(block[BEGIN], block[END]):
            symbol = forest.symbols[forest.edges[edge, HEAD]]
            if symbol < size and rules.whole[symbol] and forest.edges[edge, RULE] != COPY:
                key = bracket_key(symbol, block[FIRST], block[LAST], n)
                at = np.searchsorted(brackets, key)
                scores[edge] += bonus if at < len(brackets) and brackets[at] == key else -bonus
    return scores


@njit(cache=True, nogil=True, inline="always")
def bracket_key(symbol: int, first: int, last: int, n: int) -> int:
    """One number for a constituent in a sentence of n words."""
    return (symbol * (n + 1) + first) * (n + 1) + last


@njit(cache=True, nogil=True)
def posteriors(
    rules: RuleTable,
    keys: NDArray[np.int64],
    weights: Floats,
    axioms: Ints,
    sentence: Sentence,
    constraints: Constraints,
    max_unaries: int,
    glue_symbols: Ints,
) -> tuple[Found, Ints, NDArray[np.float64]]:
    """A best derivation; every constituent of any derivation [C, 4] as head word, first word, last word,
    symbol; the probability of each [C], a constituent in several rows having their sum."""
    forest, stage = any_forest(
        rules, sentence.heads, axioms, sentence.tags[1:-1], constraints, max_unaries, glue_symbols
    )
    scores = score_edges(forest, sentence, keys, weights, GLUE_SCORE)
    _, shares = marginals(forest, scores)
    rows, values = np.empty((len(forest.edges), 4), np.int32), np.empty(len(forest.edges), np.float64)
    count = 0
    for block in forest.blocks:
        for edge in range(block[BEGIN], block[END]):
            symbol = forest.symbols[forest.edges[edge, HEAD]]
            if symbol < len(rules.whole) and rules.whole[symbol] and forest.edges[edge, RULE] != COPY:
                row = rows[count]
                row[0], row[1], row[2], row[3] = block[H], block[FIRST], block[LAST], symbol
                values[count] = shares[edge]
                count += 1
    return best_of(forest, scores, stage), rows[:count], values[:count]
