"""What is looked for in a chart: the best derivation, the oracle's, the probability of every constituent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.search.chart import COPY, NO_GLUE, UNPRUNED, Chart, Query, build_chart
from d2c.cky.search.features import Observed, Scorer, score_edges
from d2c.cky.search.sites import SITE, Parts, Sites
from d2c.forests.forest import Doubles, Floats, Ints
from d2c.forests.kbest import k_best
from d2c.forests.semirings import marginals, viterbi
from d2c.linear.kernels import kernel

GLUE_SCORE = -1000.0  # so that a derivation with as few glue rules as possible is best


class Found(NamedTuple):
    """A derivation: its P parts; the symbol that each derives [P]; and how it was found.

    stage: 0 under the given constraints, 1 without constraints, 2 with the glue rule
    """

    parts: Parts
    symbols: Ints
    stage: int


def any_chart(query: Query) -> tuple[Chart, int]:
    """A chart with a derivation, and its stage as in `Found`: the glue rule is the last resort."""
    free = query._replace(constraints=UNPRUNED)
    for stage, asked in enumerate((query, free, free)):
        if stage == 1 and not any(map(len, query.constraints)):
            continue
        chart = build_chart(asked if stage == 2 else asked._replace(glue_symbols=NO_GLUE))
        if len(chart.rules):
            break
    return chart, stage


def scored_chart(query: Query, observed: Observed, scorer: Scorer) -> tuple[Chart, int, Floats]:
    """A chart with a derivation, its stage, and the scores of its edges."""
    chart, stage = any_chart(query)
    return chart, stage, score_edges(chart, observed, scorer, GLUE_SCORE)


def best_parts(query: Query, observed: Observed, scorer: Scorer) -> Found:
    """A best derivation."""
    chart, stage, scores = scored_chart(query, observed, scorer)
    return derivation(chart, viterbi(chart.forest, scores), stage)


def k_best_parts(query: Query, observed: Observed, scorer: Scorer, k: int) -> tuple[list[float], list[Found]]:
    """The scores of the k best derivations, best first, and these."""
    chart, stage, scores = scored_chart(query, observed, scorer)
    totals, edges, begin = k_best(chart.forest, scores, k)
    return totals.tolist(), [derivation(chart, chosen, stage) for chosen in np.split(edges, begin[1:-1])]


def oracle_parts(query: Query, gold: Parts, brackets: NDArray[np.int64]) -> Found:
    """A derivation with the smallest Δ to the gold parts; of these one with most gold constituents and fewest
    others. brackets: sorted keys of the gold constituents, see `bracket_key`."""
    chart, stage = any_chart(query)
    near = nearness(chart, query, gold, brackets)
    return derivation(chart, viterbi(chart.forest, near), stage)


def posteriors(
    query: Query, observed: Observed, scorer: Scorer
) -> tuple[Found, NDArray[np.int64], NDArray[np.int64], Doubles]:
    """A best derivation; the constituents of all, as keys and head words [C]; the probability of each [C],
    one that comes several times having the sum of these. Keys are those of `bracket_key`."""
    chart, stage, scores = scored_chart(query, observed, scorer)
    edges, sites, keys = constituents(chart, query)
    _, shares = marginals(chart.forest, scores)
    return derivation(chart, viterbi(chart.forest, scores), stage), keys, sites["h"], shares[edges]


def derivation(chart: Chart, edges: Ints, stage: int) -> Found:
    """The derivation of these edges."""
    parts, symbols = parts_of(chart, edges)
    return Found(parts, symbols, stage)


@kernel
def parts_of(chart: Chart, edges: Ints) -> tuple[Parts, Ints]:
    """The parts of some edges but copies, and the symbols that they derive."""
    sites, rules = np.empty(len(edges), SITE), np.empty(len(edges), np.int32)
    symbols, ends, count = np.empty(len(edges), np.int32), chart.ends, 0
    for edge in edges:
        if chart.rules[edge] != COPY:
            low, high = 0, len(ends) - 1  # the first block that ends behind the edge
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if ends[middle] <= edge else (low, middle)
            sites[count], rules[count] = chart.sites[low], chart.rules[edge]
            symbols[count] = chart.symbols[chart.forest.head[edge]]
            count += 1
    return Parts(sites[:count], rules[:count]), symbols[:count]


def constituents(chart: Chart, query: Query) -> tuple[NDArray[np.int64], Sites, NDArray[np.int64]]:
    """The edges that derive a whole constituent; the sites and the keys of these."""
    symbols, n = chart.symbols[chart.forest.head], len(query.tags)
    edges = np.flatnonzero(np.append(query.rules.whole, False)[symbols] & (chart.rules != COPY))
    sites = chart.sites[np.searchsorted(chart.ends, edges, side="right")]
    return edges, sites, bracket_key(symbols[edges].astype(np.int64), sites["i"], sites["j"], n)


def nearness(chart: Chart, query: Query, gold: Parts, brackets: NDArray[np.int64]) -> Floats:
    """[E] scores under which the oracle's derivation is the best: -Δ, and less than that for constituents."""
    scores = -losses(chart, gold)
    edges, _, keys = constituents(chart, query)
    right = np.append(brackets, -1)[np.searchsorted(brackets, keys)] == keys
    bonus = np.float32(1 / (16 * len(query.tags) + 16))  # less than 1 over the steps of a derivation
    scores[edges] += np.where(right, bonus, -bonus)
    return scores


def bracket_key(symbol: Any, first: Any, last: Any, n: int) -> Any:
    """One number for a constituent in a sentence of n words, or [C] for many."""
    return (symbol * (n + 1) + first) * (n + 1) + last


@kernel
def losses(chart: Chart, gold: Parts) -> Floats:
    """[E] what each edge adds to Δ, but for a constant: 1, or -1 where it is one of the gold parts (i, k, j,
    rule)."""
    loss, begin = np.ones(len(chart.rules), np.float32), 0
    for block in range(len(chart.ends)):
        site, end = chart.sites[block], chart.ends[block]
        if begin < end and chart.rules[begin] == COPY:
            for edge in range(begin, end):
                loss[edge] = 0.0
        elif begin < end:
            for part in range(len(gold.rules)):
                other = gold.sites[part]
                if other["i"] == site["i"] and other["k"] == site["k"] and other["j"] == site["j"]:
                    for edge in range(begin, end):
                        if chart.rules[edge] == gold.rules[part]:
                            loss[edge] = -1.0
        begin = end
    return loss
