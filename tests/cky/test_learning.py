"""Learning by brute force: Δ, the oracle, the scores of parts, the step of AdaGrad and its penalty."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from d2c.base.arrays import Ints
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.grammar import ROOT, Grammar
from d2c.cky.learning.svm import ChartExample, ExampleColumns, train_on
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import COPY, Chart
from d2c.cky.search.derivations import derivation, oracle_derivation
from d2c.cky.search.parts import Parts, bracket_key, losses, parts_of
from d2c.cky.search.scoring import Scorer, score_edges
from d2c.cky.search.skeleton import Observed, heads_of
from d2c.cky.search.templates import COLUMNS, Templates
from d2c.cky.settings import ChartSettings
from d2c.learning.adagrad import AdaGrad, Gradient
from d2c.learning.semirings import count_derivations, k_best
from d2c.trees.binarization import UNARY, Symbol
from d2c.trees.dtree import is_projective
from tests.cky.parts import features_of, parts_of_steps, random_observed, rich_grammar
from tests.cky.test_chart import TAGS, observed_of, query_of, random_heads
from tests.cky.test_constrained_cky import sample

MOST = 150  # derivations of a sentence that are enumerated

# A part in the words of section 4.2: i, k, j, and the rule; of unary steps the number of those before
Indicators = frozenset[tuple[int, int, int, int]]


class Case(NamedTuple):
    """All derivations over a d-tree, and what is gold: one over another d-tree of the same words."""

    grammar: Grammar
    query: Query
    tags: list[Symbol]
    chart: Chart
    every: list[Ints]  # edges
    heads: list[int]
    gold: Parts
    gold_heads: list[int]


def derivations(chart: Chart) -> list[Ints]:
    """The edges of each; none where there are too many."""
    count = int(count_derivations(chart.forest)) if len(chart.rules) else 0
    if not 0 < count <= MOST:
        return []
    _, edges, begin = k_best(chart.forest, np.zeros(len(chart.rules), np.float32), count)
    every = np.split(edges, begin[1:-1])
    assert len({tuple(one.tolist()) for one in every}) == count
    return every


def projective_heads(rng: random.Random, n: int) -> list[int]:
    """A d-tree in which no two words span the same."""
    while not is_projective(heads := random_heads(rng, n)):
        pass
    return heads


def random_cases(seeds: range) -> Iterator[Case]:
    """With a grammar drawn anew for each."""
    for seed in seeds:
        rng = random.Random(seed)
        grammar, n, most = rich_grammar(rng, 0.4), rng.randint(1, 4), rng.choice((0, 1, 1, 2))
        tags = [rng.choice(TAGS) for _ in range(n)]
        heads, gold_heads = projective_heads(rng, n), projective_heads(rng, n)
        query = query_of(grammar, most)
        charts = [build_chart(query, observed_of(grammar, one, tags)) for one in (heads, gold_heads)]
        every, every_gold = map(derivations, charts)
        if every and every_gold:
            gold = derivation(charts[1], rng.choice(every_gold), 0).parts
            yield Case(grammar, query, tags, charts[0], every, heads, gold, gold_heads)


def indicators(heads: list[int], parts: Parts, grammar: Grammar) -> Indicators:
    """y: the parts of a derivation, worked out from its rules and heads alone."""
    rules: list[list[int]] = [[] for _ in heads]
    for h, rule in zip(parts.sites["h"].tolist(), parts.rules.tolist(), strict=True):
        rules[h].append(rule)
    kinds = [[grammar.rules[rule].kind for rule in used] for used in rules]
    flat = [rule for used in rules for rule in used]
    return frozenset(
        (part.i, part.level if part.side == UNARY else part.k, part.j, rule)
        for part, rule in zip(parts_of_steps(heads, kinds), flat, strict=True)
    )


def constituents(case: Case, y: Indicators) -> list[int]:
    """The keys of the constituents that are complete in it."""
    ids, rules = case.grammar.symbol_ids, case.grammar.rules
    made = [(rules[rule].parent, i, j) for i, _, j, rule in y]
    return [bracket_key(ids[a], i, j, len(case.heads)) for a, i, j in made if a != ROOT and a.is_whole]


def nearness(case: Case, parts: Parts) -> tuple[int, int]:
    """-Δ; gold constituents less others."""
    y = indicators(case.gold_heads, case.gold, case.grammar)
    other, right = indicators(case.heads, parts, case.grammar), constituents(case, y)
    return -len(y ^ other), sum(1 if key in right else -1 for key in constituents(case, other))


def test_the_loss_is_the_hamming_distance() -> None:
    """Δ(y, y') = |y - y'|, over (i, k, j, rule), up to the number of gold parts."""
    seen = Counter[str]()
    for case in random_cases(range(160)):
        y = indicators(case.gold_heads, case.gold, case.grammar)
        loss = losses(case.chart, case.gold)
        assert len(y) == len(case.gold.rules)
        for edges in case.every:
            other = indicators(case.heads, derivation(case.chart, edges, 0).parts, case.grammar)
            assert loss[edges].sum() + len(y) == len(y ^ other)
            spans = ({(i, j, rule) for i, _, j, rule in one} for one in (y, other))
            seen["only the split differs"] += len(set.intersection(*spans)) > len(y & other)
            seen["sizes differ"] += len(y) != len(other)
            seen["some are right"] += bool(y & other) and y != other
    assert min(seen.values()) > 30 and len(seen) == 3


def test_the_oracle_is_the_nearest_of_all() -> None:
    """argmin Δ(y, y'); of equally near ones one with most gold constituents and fewest others."""
    ties = 0
    for case in random_cases(range(200, 500)):
        gold = set(constituents(case, indicators(case.gold_heads, case.gold, case.grammar)))
        every = [nearness(case, derivation(case.chart, edges, 0).parts) for edges in case.every]
        observed = observed_of(case.grammar, case.heads, case.tags)
        found = oracle_derivation(case.query, observed, case.gold, np.array(sorted(gold), np.int64))
        assert found.stage == 0 and nearness(case, found.parts) == max(every)
        ties += len({bonus for near, bonus in every if near == max(every)[0]}) > 1
    assert ties > 3


@pytest.mark.parametrize(("columns", "context"), [((), False), (COLUMNS, True)])
def test_the_score_of_an_edge_is_that_of_its_features(columns: tuple[str, ...], context: bool) -> None:
    """The backoff included: every feature that training has is one that the search sees."""
    rng, checked = random.Random(1), 0
    weights = np.random.default_rng(1).normal(size=1 << 12).astype(np.float32)
    for case in random_cases(range(600, 720)):
        observed = random_observed(rng, case.heads)
        scorer = Scorer(Templates.of(frozenset(columns), context), case.grammar.keys, weights)
        scores = score_edges(case.chart, observed, scorer, 0.0)
        edges = np.arange(len(scores), dtype=np.int32)
        parts, _ = parts_of(case.chart, edges)
        slots = features_of(observed, parts.sites, parts.rules, scorer, len(weights) - 1)
        expected = np.where(slots >= 0, weights[slots], 0).sum(axis=1)
        assert scores[case.chart.rules != COPY] == pytest.approx(expected, abs=1e-4)
        assert not scores[case.chart.rules == COPY].any()
        checked += len(expected)
    assert checked > 500


class Small(NamedTuple):
    """Sentences of few derivations, as training has them."""

    route: ConstrainedCKY
    examples: list[ChartExample]
    numbers: list[int]


@cache
def small() -> Small:
    route = ConstrainedCKY(table_bits=12)
    gold = route.fit_grammar([ctree for ctree in sample("train", 200) if len(ctree.tokens) < 12])
    made = Small(route, [*route._examples(gold)], [])
    for number in range(len(made.examples)):
        if len(derivations(chart_of(made, number))) > 1:
            made.numbers.append(number)
    return made


def chart_of(made: Small, number: int) -> Chart:
    return build_chart(made.route.query, made.examples[number].observed)


def features(observed: Observed, parts: Parts, scorer: Scorer) -> Counter[int]:
    """f(y): how often each slot comes."""
    slots = features_of(observed, parts.sites, parts.rules, scorer, len(scorer.weights) - 1)
    return Counter(slots[slots >= 0].tolist())


@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_a_step_is_that_of_loss_augmented_decoding(penalty: float) -> None:
    """w - η g / √G, moved towards 0 by λ η / √G, with g = f(y') - f(y) for the y' with the highest
    s(y') + Δ(y, y') of all."""
    made, rate, wrong = small(), 0.1, 0
    templates, grammar = Templates.of(frozenset(), True), made.route.grammar_
    for number in made.numbers[:40]:
        learner = AdaGrad.new(1 << 12, rate, penalty)
        learner.weights[:] = np.random.default_rng(number).normal(size=1 << 12) / 4
        before = learner.weights.copy()
        scorer = Scorer(templates, grammar.keys, before)
        chart, (observed, gold, _) = chart_of(made, number), made.examples[number]
        heads = heads_of(observed).tolist()
        y = indicators(heads, gold, grammar)

        every = [derivation(chart, edges, 0).parts for edges in derivations(chart)]
        scores = [
            sum(float(before[slot]) * count for slot, count in features(observed, parts, scorer).items())
            + len(y ^ indicators(heads, parts, grammar))
            for parts in every
        ]
        guess = every[int(np.argmax(scores))]
        gradient = features(observed, guess, scorer)
        gradient.subtract(features(observed, gold, scorer))
        expected = before.astype(float)
        for slot, g in gradient.items():
            if g:
                w = expected[slot] - rate * np.sign(g)
                expected[slot] = np.sign(w) * max(0.0, abs(w) - rate * penalty / abs(g))
        added = train_on(
            *(learner, Gradient.of(learner), ExampleColumns.of(made.examples), np.array([number])),
            *(made.route.query, Scorer(templates, grammar.keys, learner.weights)),
        )
        assert added == (len(y ^ indicators(heads, guess, grammar)), len(y))
        assert learner.weights == pytest.approx(expected, abs=1e-5)
        wrong += added[0] > 0
    assert wrong > 20


def test_the_penalty_of_training_is_that_of_the_settings() -> None:
    """λ of section 4.2: without it no weight comes back to 0; one above all gradients leaves none."""
    trees = sample("train", 60)

    def weights(**settings: float) -> np.ndarray:
        return ConstrainedCKY(epochs=2, table_bits=14, **settings).fit(trees).weights_

    none, default, some, much = weights(penalty=0.0), weights(), weights(penalty=0.01), weights(penalty=50.0)
    assert ChartSettings().penalty > 0 and np.abs(default).sum() < np.abs(none).sum()
    assert np.abs(some).sum() < 0.9 * np.abs(none).sum()
    assert none.any() and not much.any()
