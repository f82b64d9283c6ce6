"""The chart over packed arcs: against the constrained charts of all d-trees that the arcs hold, and at both
ends, one head for each word and all heads, against the constrained chart and lexicalised CKY."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from d2c.base.arrays import Floats, Ints
from d2c.cky.grammar import Grammar
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import Chart, Likely
from d2c.cky.search.derivations import any_chart, derivation
from d2c.cky.search.packed_chart import (
    MOST_EDGES,
    Packed,
    build_packed_chart,
    chart_over,
    places_of,
    score_arcs,
)
from d2c.cky.search.packed_skeleton import packed_skeleton_of
from d2c.cky.search.parts import Parts
from d2c.cky.search.pruning import Constraints, side_key
from d2c.cky.search.reach import ArcScores
from d2c.cky.search.scoring import Scorer, score_edges
from d2c.cky.search.skeleton import SITE, Observed
from d2c.cky.search.templates import Templates
from d2c.learning.semirings import count_derivations, viterbi
from d2c.packed.arcs import PackedArcs, arcs_of, single
from d2c.trees.binarization import LEFT, UNARY
from d2c.trees.dtree import is_projective, is_tree, subtrees
from papers.lexicalised_cky import build_lexicalised_chart
from tests.cky.parts import random_observed, rich_grammar, triples
from tests.cky.test_chart import TAGS, observed_of, query_of
from tests.cky.test_learning import projective_heads


def packed_chart(query: Query, observed: Observed, arcs: PackedArcs, around: bool = True) -> Chart:
    skeleton = packed_skeleton_of(arcs, around)
    assert skeleton is not None
    chart, full = build_packed_chart(query, observed, skeleton, MOST_EDGES)
    assert not full
    return chart


def best(chart: Chart, scores: Floats) -> tuple[float, list[int], set[object]]:
    """The score of a best derivation, its heads and its parts."""
    edges = viterbi(chart.forest, scores)
    sites, rules = derivation(chart, edges, 0).parts
    heads = [0] * (int(sites["j"].max()) + 1)
    for h, m in zip(sites["h"].tolist(), sites["m"].tolist(), strict=True):
        if m >= 0:
            heads[m] = h + 1
    return float(scores[edges].sum(dtype=np.float64)), heads, set(triples(Parts(sites, rules)))


def random_arcs(rng: random.Random, n: int, share: float) -> PackedArcs:
    """Those of a projective d-tree, and a share of all others."""
    table = np.array([[rng.random() if rng.random() < share else 0 for _ in range(n + 1)] for _ in range(n)])
    table[np.arange(n), np.arange(n) + 1] = 0
    return arcs_of(table, projective_heads(rng, n))


def trees_of(arcs: PackedArcs) -> Iterator[list[int]]:
    """All d-trees with one root."""
    of_words = np.split(arcs.heads, arcs.begin[1:-1])
    for heads in product(*(row.tolist() for row in of_words)):
        if is_tree(heads):
            yield list(heads)


def with_heads(observed: Observed, heads: list[int]) -> Observed:
    changed = observed.copy()
    changed["head"][1:-1] = heads
    return changed


def sides(rng: random.Random, grammar: Grammar) -> Constraints:
    """Method 2 where a coin says so."""
    numbers = [grammar.symbol_ids[tag] for tag in TAGS]
    keys = sorted(side_key(*tags) for tags in product(numbers, repeat=3) if rng.random() < 0.5)
    next_side = np.array([rng.randint(0, 1) for _ in keys], np.int32)
    return Constraints(np.zeros((0, 0), np.bool_), np.array(keys, np.int64), next_side)


def said(chart: Chart, packed: Packed, parents: Ints, heads: list[int]) -> Floats:
    """[E] what `score_arcs` finds, by its definition: arcs that attach and that of the root, symbols, ends of
    yields of dependents. heads: of the chart's d-tree"""
    first, last, _ = subtrees(heads)
    number = {pair: a for a, pair in enumerate(zip(packed.arcs.dependents(), packed.arcs.heads, strict=True))}
    scores, begin = np.zeros(len(chart.rules), np.float32), 0
    for site, end in zip(chart.sites, chart.ends, strict=True):
        for edge in range(begin, end):
            rule = chart.rules[edge]
            if site["m"] >= 0:
                arc = number[site["m"], site["h"] + 1]
                scores[edge] = packed.scores[arc] + packed.symbols[arc, parents[rule]]
                if packed.yields.size:
                    m = site["m"]
                    scores[edge] += packed.yields[0, m, first[m]] + packed.yields[1, m, last[m]]
            elif rule >= 0 and site["g"] == 0 and site["k"] == -1:
                scores[edge] = packed.scores[number[site["h"], 0]]
        begin = int(end)
    return scores


NO_SYMBOLS = np.zeros((0, 0), np.float32)
WEIGHTS = np.random.default_rng(5).normal(size=1 << 12).astype(np.float32)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_sum_over_all_d_trees_of_the_arcs(seed: int, gaps: bool) -> None:
    """As many derivations as all of them have; the best has the best score that any has in its own chart.

    gaps: with those d-trees whose arcs cross
    """
    rng = random.Random(seed)
    grammar, n, most = rich_grammar(rng, 0.4), rng.randint(1, 5), rng.randint(0, 2)
    tags = [rng.choice(TAGS) for _ in range(n)]
    query, asked, arcs = (
        query_of(grammar, most),
        observed_of(grammar, range(n), tags),
        random_arcs(rng, n, 0.4),
    )
    if seed % 3 == 0:
        query = query._replace(constraints=sides(rng, grammar))
    observed = random_observed(rng, [0] * n)
    scorer = Scorer(Templates.of(frozenset(), True), grammar.keys, WEIGHTS)
    projective, crossing = (
        [heads for heads in trees_of(arcs) if is_projective(heads) == one] for one in (True, False)
    )
    if gaps:
        packed = Packed(arcs, packed_skeleton_of(arcs, True), arcs.logs, NO_SYMBOLS, dtrees=crossing)
        together, full = chart_over(query, asked, packed, MOST_EDGES)
        assert not full
    else:
        together = packed_chart(query, asked, arcs)
    symbols = np.random.default_rng(seed).normal(size=(len(arcs.heads), len(grammar.symbols) + 1))
    packed, parents = Packed(arcs, None, 0.7 * arcs.logs, symbols.astype(np.float32)), query.rules.parent
    if not gaps:
        yields = np.random.default_rng(seed).normal(size=(2, n, n))
        packed = packed._replace(yields=yields.astype(np.float32))
    count, bests = 0.0, []
    for heads in projective + crossing * gaps:
        chart = build_chart(query, with_heads(asked, heads))
        count += count_derivations(chart.forest)
        if len(chart.rules):
            scores = score_edges(chart, with_heads(observed, heads), scorer, 0.0)
            value, found, parts = best(chart, scores + said(chart, packed, parents, heads))
            assert found == heads
            bests.append((value, heads, parts))
    assert count_derivations(together.forest) == count
    if bests:
        scores = score_edges(together, observed, scorer, 0.0) + score_arcs(together, packed, parents)
        value, heads, parts = best(together, scores)
        expected = max(bests, key=lambda one: one[0])
        assert value == pytest.approx(expected[0], abs=1e-3)
        assert (heads, parts) == expected[1:]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("around", [True, False])
def test_with_one_head_for_each_word_it_is_the_constrained_chart(seed: int, around: bool) -> None:
    rng = random.Random(seed)
    grammar, n = rich_grammar(rng, 0.4), rng.randint(1, 8)
    heads, tags = projective_heads(rng, min(n, 6)), [rng.choice(TAGS) for _ in range(min(n, 6))]
    query, asked = query_of(grammar, 2), observed_of(grammar, heads, tags)
    observed, templates = random_observed(rng, heads), Templates.of(frozenset(["label"]), around)
    scorer = Scorer(templates, grammar.keys, WEIGHTS)
    one, other = build_chart(query, asked), packed_chart(query, asked, single(heads), around)
    assert len(one.rules) == len(other.rules)
    if len(one.rules):
        scores = [score_edges(chart, observed, scorer, 0.0) for chart in (one, other)]
        packed = Packed(single(heads), None, 3.0 * single(heads).logs, NO_SYMBOLS)
        assert not score_arcs(other, packed, query.rules.parent).any()
        first, second = best(one, scores[0]), best(other, scores[1])
        assert first[:2] == second[:2]
        assert not around or first == second


@pytest.mark.parametrize("seed", range(20))
def test_with_all_arcs_it_is_lexicalised_cky(seed: int) -> None:
    rng = random.Random(seed)
    grammar, n = rich_grammar(rng, 0.3), rng.randint(1, 6)
    tags = [rng.choice(TAGS) for _ in range(n)]
    query, asked = query_of(grammar, 1), observed_of(grammar, range(n), tags)
    observed = random_observed(rng, [0] * n)
    scorer = Scorer(Templates.of(frozenset(), False), grammar.keys, WEIGHTS)
    every = 1 - np.eye(n, n + 1, 1)
    arcs = arcs_of(every, projective_heads(rng, n))
    one, other = build_lexicalised_chart(query, asked), packed_chart(query, asked, arcs, False)
    assert count_derivations(one.forest) == count_derivations(other.forest)
    assert len(one.rules) == len(other.rules)
    if len(one.rules):
        scores = [score_edges(chart, observed, scorer, 0.0) for chart in (one, other)]
        assert best(one, scores[0]) == best(other, scores[1])


@pytest.mark.parametrize("over", ["several", "single"])
@pytest.mark.parametrize("seed", range(20))
def test_unlikely_symbols_are_in_no_derivation(seed: int, over: str) -> None:
    """What is best without them is best of all that has none; where nothing is left they are allowed."""
    rng = random.Random(seed)
    grammar, n = rich_grammar(rng, 0.4), rng.randint(2, 5)
    query = query_of(grammar, rng.randint(0, 2))
    asked = observed_of(grammar, range(n), [rng.choice(TAGS) for _ in range(n)])
    arcs = random_arcs(rng, n, 0.4) if over == "several" else single(range(n))
    likely = np.random.default_rng(seed).random((len(arcs.heads), len(grammar.symbols))) < 0.7
    symbols = np.where(likely, 0, -1e4).astype(np.float32)
    skeleton = packed_skeleton_of(arcs, True) if over == "several" else None
    packed = Packed(arcs, skeleton, arcs.logs, symbols)
    scorer = Scorer(Templates.of(frozenset(), True), grammar.keys, WEIGHTS)

    def score(chart: Chart) -> float:
        scores = score_edges(chart, asked, scorer, 0.0) + score_arcs(chart, packed, query.rules.parent)
        return best(chart, scores)[0] if len(chart.rules) else -np.inf

    pruned = query._replace(likely=Likely(arcs.begin, arcs.heads, likely))
    every, few = (chart_over(one, asked, packed, MOST_EDGES)[0] for one in (query, pruned))
    without = score(every) > -5e3
    assert (len(few.rules) > 0) == without
    if without:
        assert score(few) == pytest.approx(score(every), rel=1e-4, abs=1e-3)
    _, stage, several = any_chart(pruned, asked, packed)
    if len(every.rules):
        assert (stage, several) == (0 if without else 1, over == "several")


def test_arcs_without_a_projective_tree_have_no_layout() -> None:
    assert packed_skeleton_of(single([3, 4, 0, 3]), True) is None
    assert packed_skeleton_of(single([2, 0, 2]), True) is not None
    assert packed_skeleton_of(single([2, 0, 2]), True, most=1) is None


LAID_OUT = {
    True: {
        "grids": [
            (0, 2, 0, 0, 1, 8, 9),
            (0, 3, 1, 0, 1, 8, 9),
            (1, 3, 2, 1, 4, 9, 10),
            (2, 0, 5, 4, 8, 10, 11),
        ],
        "states": [
            *((0, -1, -1, 0), (1, -1, -1, 0), (1, -1, 0, 0), (0, 0, -1, 0), (2, -1, 1, 1), (1, 1, 0, 1)),
            *((0, 0, -1, 2), (0, 1, -1, 3), (0, -1, -1, 4), (1, -1, -1, 4), (2, -1, -1, 4), (0, 0, 0, 4)),
        ],
        "steps": [(2, 0), (4, 3), (5, 1), (4, 2)],
        "items": [
            *((0, 2, 0, 0, 0), (0, 3, 0, 0, 1), (1, 3, 0, 1, 2), (1, 3, 1, 1, 3), (2, 0, 0, 2, 4)),
            (0, 0, 0, 0, 6),
        ],
        "members": [0, 1, 4, 2, 7, 8],
        "order": [0, 1, 2, 3, 5, 9, 10, 12, 4, 6, 11, 7, 8, 13],
        "grid_of": [0, 1, 2, 2, 2, 3, 3, 3, 3],
        "roots": [7, 8],
    },
    False: {
        "grids": [(0, -1, 0, 0, 1, 6, 7), (1, -1, 1, 1, 3, 7, 8), (2, -1, 3, 3, 6, 8, 9)],
        "states": [
            *((0, -1, -1, 0), (1, -1, -1, 0), (0, -1, -1, 0), (2, -1, -1, 1), (1, -1, -1, 1)),
            *((0, -1, -1, 2), (0, -1, -1, 4), (1, -1, -1, 4), (2, -1, -1, 4), (0, 0, 0, 4)),
        ],
        "steps": [(1, 0), (3, 2), (4, 0), (3, 1)],
        "items": [(0, -1, 0, 0, 0), (1, -1, 0, 1, 1), (1, -1, 1, 1, 2), (2, -1, 0, 2, 3), (0, 0, 0, 0, 4)],
        "members": [0, 2, 1, 5],
        "order": [0, 1, 3, 6, 8, 2, 4, 7, 5, 9],
        "grid_of": [0, 1, 1, 2, 2, 2],
        "roots": [5],
    },
}


@pytest.mark.parametrize("around", LAID_OUT)
def test_the_layout_of_two_d_trees(around: bool) -> None:
    """The first word is the second's dependent, or the third's, as the second is."""
    begin, heads = np.array([0, 2, 3, 4], np.int32), np.array([2, 3, 3, 0], np.int32)
    skeleton = packed_skeleton_of(PackedArcs(begin, heads, np.zeros(4, np.float32)), around)
    assert skeleton is not None
    assert {name: rows.tolist() for name, rows in skeleton._asdict().items()} == LAID_OUT[around]


def test_arcs_of_sites_are_found() -> None:
    """Attachments of a dependent, roots, what attaches nothing, and an arc that is not there."""
    begin, heads = np.array([0, 2, 3, 4], np.int32), np.array([2, 3, 3, 0], np.int32)
    sites = np.zeros(5, SITE)
    sites["side"] = LEFT, LEFT, UNARY, UNARY, LEFT
    sites["h"], sites["m"] = (1, 2, 2, 2, 0), (0, 1, -1, -1, 1)
    sites["g"], sites["k"] = (3, 0, 0, 0, 2), (0, 1, -1, 0, 1)
    assert places_of(sites, begin, heads).tolist() == [0, 2, 3, -1, -1]


@pytest.mark.parametrize("beam", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(15))
def test_a_beam_leaves_what_is_in_d_trees_that_are_nearly_as_good_as_the_best(seed: int, beam: float) -> None:
    """Items, which are words with their head and the ends of their yield, and derivations."""
    rng, scored, n = random.Random(seed), list[tuple[float, list[int], set[tuple[int, ...]]]](), 1 + seed % 5
    arcs, numbers = random_arcs(rng, n, 0.5), np.random.default_rng(seed)
    scores = ArcScores(
        numbers.normal(size=len(arcs.heads)).astype(np.float32),
        numbers.normal(size=(2, n, n)).astype(np.float32),
        beam,
    )
    for heads in filter(is_projective, trees_of(arcs)):
        first, last, _ = subtrees(heads)
        score = scores.arcs[arcs.places(np.arange(n), np.array(heads))].sum(dtype=np.float64)
        score += sum(
            scores.yields[0, m, first[m]] + scores.yields[1, m, last[m]] for m in range(n) if heads[m]
        )
        scored.append((score, heads, {*zip(range(n), heads, first, last, strict=True)}))
    best = max(score for score, *_ in scored)
    near = [(heads, items) for score, heads, items in scored if score >= best - beam]
    skeleton = packed_skeleton_of(arcs, True, scores)
    assert skeleton is not None
    left = skeleton.items[["h", "g", "first", "last"]][:-1]
    assert {*map(tuple, left.tolist())} == set[tuple[int, ...]]().union(*(items for _, items in near))
    query = query_of(grammar := rich_grammar(rng, 0.4), 1)
    asked = observed_of(grammar, range(n), [rng.choice(TAGS) for _ in range(n)])
    chart, _ = build_packed_chart(query, asked, skeleton, MOST_EDGES)
    alone = [count_derivations(build_chart(query, with_heads(asked, heads)).forest) for heads, _ in near]
    found = count_derivations(chart.forest)
    assert found >= sum(alone) if beam else found == sum(alone)
