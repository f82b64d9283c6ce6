"""Search among derivations: argmax s(y; x, d), the k best, the oracle's, the probability of each constituent.

PAD, section 3.1; its footnote 10 for the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Doubles, Floats, Ints, Longs
from d2c.cky.grammar import RuleTable
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import COPY, EVERY, NONE, Chart, place_of
from d2c.cky.search.packed_chart import MOST_EDGES, Packed, chart_over, score_arcs
from d2c.cky.search.parts import Parts, bracket_key, constituents, losses, parts_of
from d2c.cky.search.pruning import UNPRUNED
from d2c.cky.search.scoring import Scorer, score_edges
from d2c.cky.search.skeleton import Observed
from d2c.learning.kernels import inner, kernel
from d2c.learning.semirings import k_best, marginals, viterbi
from d2c.trees.binarization import UNARY
from d2c.trees.constraints import SpanConstraints

GLUE_SCORE = -1000.0  # so that the best derivation uses the glue rule as rarely as possible
_bracket_key = inner(bracket_key)
OBEYS = np.float32(1000.0)  # so that the best derivation obeys as many constraints as possible


class ChartDerivation(NamedTuple):
    """A derivation: its P parts; the symbol that each part derives [P]; and how it was found.

    stage:   0 with the given pruning, 1 without pruning, 2 with the glue rule
    several: whether it was found among all d-trees of packed arcs, not over the single d-tree
    """

    parts: Parts
    symbols: Ints
    stage: int
    several: bool = False


class ChartInput(NamedTuple):
    """A sentence to parse.

    query:    without the glue rule
    observed: [n + 2] what features see of it
    scorer:   of parts
    packed:   packed arcs, all d-trees of which are searched; None: only the single d-tree is
    wanted:   constituents that must be there, or must not, with the labels [S] that each symbol shows
    """

    query: Query
    observed: Observed
    scorer: Scorer
    packed: Packed | None = None
    wanted: tuple[SpanConstraints, Sequence[Sequence[str]]] | None = None


class ScoredChart(NamedTuple):
    """A chart with at least one derivation, how it was found (stage, several: as in `ChartDerivation`), and
    the scores [E] of its edges."""

    chart: Chart
    stage: int
    several: bool
    scores: Floats


class Posteriors(NamedTuple):
    """A best derivation, and the chart of all derivations with the probabilities of edges.

    shares: [E] the probability of each edge
    scaled: whether they are of scaled scores, for minimum Bayes risk: over several d-trees, all projective
    """

    derivation: ChartDerivation
    chart: Chart
    shares: Doubles
    scaled: bool


@kernel
def _best_of_single(query: Query, observed: Observed, scorer: Scorer) -> tuple[Parts, Ints]:
    """Return the parts [P] of a best derivation over the single d-tree, and their symbols [P]; no parts if
    there is no derivation. observed: [n + 2]"""
    chart = build_chart(query, observed)
    return parts_of(chart, viterbi(chart.forest, score_edges(chart, observed, scorer, 0.0)))


def any_chart(query: Query, observed: Observed, packed: Packed | None) -> tuple[Chart, int, bool]:
    """Return a chart over a sentence [n + 2] with a derivation; its stage, and whether it is of packed arcs,
    see `ChartDerivation`.

    Where the chart of packed arcs has too many edges, or no derivation, that of the single d-tree is taken;
    the glue rule is the last resort.
    """
    free = query._replace(constraints=UNPRUNED, likely=EVERY)
    pruned = len(query.likely.symbols) or any(map(len, query.constraints))
    stages = [(0, query), (1, free)] if pruned else [(0, query)]
    if packed is not None and packed.several:
        for stage, asked in stages:
            chart, full = chart_over(asked, observed, packed, MOST_EDGES)
            if len(chart.rules):
                return chart, stage, True
            if full:
                break
    for stage, asked in stages:
        chart = build_chart(asked, observed)
        if len(chart.rules):
            return chart, stage, False
    return build_chart(free._replace(glue=True), observed), 2, False


def scored_chart(sentence: ChartInput) -> ScoredChart:
    """Return the chart of `any_chart`, with the scores of its edges."""
    query, observed, scorer, packed, wanted = sentence
    chart, stage, several = any_chart(query, observed, packed)
    scores = score_edges(chart, observed, scorer, GLUE_SCORE)
    if packed is not None:
        scores += score_arcs(chart, packed, query.rules.parent)
    if wanted is not None:
        scores += obedience(chart, query.rules, *wanted)
    return ScoredChart(chart, stage, several, scores)


def best_derivation(sentence: ChartInput) -> ChartDerivation:
    """Return a best derivation, argmax s(y; x, d) over Y(x, d)."""
    if sentence.packed is None and sentence.wanted is None:  # most often one kernel does all
        parts, symbols = _best_of_single(sentence.query, sentence.observed, sentence.scorer)
        if len(symbols):
            return ChartDerivation(parts, symbols, 0)
    chart, stage, several, scores = scored_chart(sentence)
    return derivation(chart, viterbi(chart.forest, scores), stage, several)


def k_best_derivations(scored: ScoredChart, k: int) -> tuple[list[float], list[ChartDerivation]]:
    """Return the logarithms of the probabilities of the k best derivations, and these, best first."""
    chart, stage, several, scores = scored
    totals, edges, begin = k_best(chart.forest, scores, k)
    totals -= marginals(chart.forest, scores)[0]
    return totals.tolist(), [derivation(chart, one, stage, several) for one in np.split(edges, begin[1:-1])]


def oracle_derivation(
    query: Query, observed: Observed, gold: Parts, brackets: NDArray[np.int64], packed: Packed | None = None
) -> ChartDerivation:
    """Return a derivation with the smallest Δ to the gold parts; of several, one with the most gold
    constituents less others. brackets: sorted keys [keys] of the gold constituents, see `bracket_key`"""
    chart, stage, several = any_chart(query, observed, packed)
    near = nearness(chart, query.rules, len(observed) - 2, gold, brackets)
    return derivation(chart, viterbi(chart.forest, near), stage, several)


def posteriors(sentence: ChartInput, scored: ScoredChart, scale: float) -> Posteriors:
    """Return a best derivation, and the probability of each edge.

    scored: the chart of the sentence
    scale:  factor of scores in the probabilities for minimum Bayes risk; 0: scores are taken as they are
    """
    chart, stage, several, scores = scored
    scaled = scale > 0 and several and sentence.packed is not None and not sentence.packed.dtrees
    _, shares = marginals(chart.forest, scores * np.float32(scale) if scaled else scores)
    best = derivation(chart, viterbi(chart.forest, scores), stage, several)
    return Posteriors(best, chart, shares, scaled)


def shares_of_nodes(found: Posteriors, symbols: Ints, places: Ints, n: int) -> Doubles:
    """Return the probabilities [K] of some constituents over n words, each the sum over the edges that derive
    it. symbols: [K]; places: [K, 3] head word, first and last word"""
    words, first, last = places.T.astype(np.int64)
    keys, shares = bracket_key(words, first, last, n), np.empty(len(symbols))
    order = np.argsort(keys)
    shares[order] = _summed(found.chart, found.shares, n, keys[order], symbols[order])
    return shares


@kernel
def _summed(chart: Chart, shares: Doubles, n: int, keys: Longs, symbols: Ints) -> Doubles:
    """Return [K] the sums of the shares [E] of edges that derive a symbol [K] in blocks with a key.

    n: words; keys: [K] rising, each `bracket_key` of a head word, a first and a last word
    """
    sums, begin = np.zeros(len(keys)), 0
    for block in range(len(chart.ends)):
        site, end = chart.sites[block], chart.ends[block]
        key = _bracket_key(np.int64(site["h"]), site["i"], site["j"], n)
        place = place_of(keys, key) if begin < end and chart.rules[begin] != COPY else NONE
        while 0 <= place < len(keys) and keys[place] == key:
            for edge in range(begin, end):
                if chart.symbols[chart.forest.head[edge]] == symbols[place]:
                    sums[place] += shares[edge]
            place += 1
        begin = end
    return sums


def derivation(chart: Chart, edges: Ints, stage: int, several: bool = False) -> ChartDerivation:
    """Return the derivation of these edges [P]."""
    parts, symbols = parts_of(chart, edges)
    return ChartDerivation(parts, symbols, stage, several)


def nearness(chart: Chart, rules: RuleTable, n: int, gold: Parts, brackets: NDArray[np.int64]) -> Floats:
    """Return [E] scores under which the oracle's derivation is best: -Δ, and a far smaller bonus for a gold
    constituent or malus for another one.

    n: words; brackets: sorted keys [keys] of the gold constituents, see `bracket_key`
    """
    scores = -losses(chart, gold)
    edges, _, keys = constituents(chart, rules, n)
    right = np.append(brackets, -1)[np.searchsorted(brackets, keys)] == keys
    bonus = np.float32(1 / (16 * n + 16))  # less than 1 in sum over a derivation
    scores[edges] += np.where(right, bonus, -bonus)
    return scores


def obedience(
    chart: Chart, rules: RuleTable, constraints: SpanConstraints, labels: Sequence[Sequence[str]]
) -> Floats:
    """Return [E] OBEYS for each required constituent that an edge makes, and -OBEYS for each constituent that
    is forbidden or crosses a required one.

    A chain of unary nodes counts once as a required constituent: by its first node, or else by the second. A
    single word that is required without a label needs no node. labels: [S] those that each symbol shows
    """
    scores, (edges, sites, _) = np.zeros(len(chart.rules), np.float32), constituents(chart, rules, 0)
    made, tails = chart.symbols[chart.forest.head[edges]], chart.symbols[chart.forest.tail[edges]]
    i, j = sites["i"], sites["j"] + 1
    above = (sites["side"] == UNARY) & rules.nodes[tails]  # not above a bare word
    second = above & (sites["k"] == (j - i == 1))  # a word's first node is a unary step already

    def shows(label: str | None) -> NDArray[np.bool_]:
        return np.array([*(bool(own) if label is None else label in own for own in labels), False])

    for start, end, label in constraints.require:
        shown, there = shows(label), (i == start) & (j == end)
        counts = ~above | (second & ~shown[tails])
        if label is not None or end - start > 1:
            scores[edges] += OBEYS * (there & shown[made] & counts)
        crosses = ((i < start) & (start < j) & (j < end)) | ((start < i) & (i < end) & (end < j))
        scores[edges] -= OBEYS * (crosses & shows(None)[made])
    for start, end, label in constraints.forbid:
        scores[edges] -= OBEYS * ((i == start) & (j == end) & shows(label)[made])
    return scores
