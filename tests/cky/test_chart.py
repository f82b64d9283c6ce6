"""The constrained chart against brute-force enumeration of Y(x, d), on random small grammars and d-trees."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from d2c.cky.grammar import ROOT, Grammar, Rule
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import COPY, GLUED, Chart
from d2c.cky.search.pruning import UNPRUNED
from d2c.cky.search.skeleton import TOKEN, Observed
from d2c.learning.semirings import count_derivations, k_best, marginals, viterbi
from d2c.trees.binarization import LEFT, RIGHT, UNARY, Symbol
from d2c.trees.dtree import head_outward, modifiers_of

TAGS = (Symbol("a", "tag"), Symbol("b", "tag"))
PHRASES = (Symbol("X"), Symbol("Y"))
BARS = (Symbol("X", "bar"), Symbol("Y", "bar"))


def query_of(grammar: Grammar, most: int, glue: bool = False) -> Query:
    axioms, default = np.arange(len(grammar.symbols), dtype=np.int32), grammar.symbol_ids[PHRASES[0]]
    return Query(grammar.table, axioms, UNPRUNED, most, default, glue)


def observed_of(grammar: Grammar, heads: Sequence[int], tags: Sequence[Symbol]) -> Observed:
    """Heads and tags, the symbols' numbers being the tags'."""
    observed = np.zeros(len(heads) + 2, TOKEN)
    observed["head"][1:-1], observed["tag"][1:-1] = heads, [grammar.symbol_ids[tag] for tag in tags]
    return observed


def chart_of(grammar: Grammar, heads: list[int], tags: list[Symbol], most: int, glue: bool = False) -> Chart:
    return build_chart(query_of(grammar, most, glue), observed_of(grammar, heads, tags))


def random_grammar(rng: random.Random) -> Grammar:
    whole, every = TAGS + PHRASES, TAGS + PHRASES + BARS
    rules = [
        Rule(rng.choice((LEFT, RIGHT)), rng.choice(every), rng.choice(whole), rng.choice(PHRASES + BARS))
        for _ in range(rng.randint(1, 25))
    ]
    rules += [Rule(UNARY, rng.choice(whole), None, rng.choice(PHRASES)) for _ in range(rng.randint(0, 4))]
    rules += [Rule(UNARY, symbol, None, ROOT) for symbol in whole if rng.random() < 0.7]
    # Every symbol takes part, so that all have numbers.
    rules += [Rule(LEFT, head, TAGS[0], PHRASES[0]) for head in every] + [
        Rule(LEFT, TAGS[0], TAGS[1], PHRASES[1])
    ]
    return Grammar.of(rules, {rule: rng.randint(0, 2) for rule in rules if rng.random() < 0.5})


def random_heads(rng: random.Random, n: int) -> list[int]:
    order = list(range(n))
    rng.shuffle(order)
    heads = [0] * n
    for place, m in enumerate(order[1:], 1):
        heads[m] = order[rng.randrange(place)] + 1
    return heads


def enumerate_derivations(
    grammar: Grammar, heads: list[int], tags: list[Symbol], most: int
) -> Iterator[tuple[Rule, ...]]:
    """The rules of each member of Y(x, d), by plain recursion over items."""
    modifiers = modifiers_of(heads)

    def of_word(h: int) -> Iterator[tuple[Symbol, tuple[Rule, ...]]]:
        sides = head_outward(h, modifiers[h])

        def grow(
            taken: tuple[int, int], symbol: Symbol, unaries: int, used: tuple[Rule, ...]
        ) -> Iterator[tuple[Symbol, tuple[Rule, ...]]]:
            if taken == (len(sides[0]), len(sides[1])):
                yield symbol, used
            for rule in grammar.rules:
                if rule.head != symbol or rule.parent == ROOT:
                    continue
                if rule.kind == UNARY:
                    if unaries < min(most, grammar.levels[grammar.rule_ids[rule]] + 1):
                        yield from grow(taken, rule.parent, unaries + 1, (*used, rule))
                elif taken[rule.kind] < len(sides[rule.kind]):
                    after = (taken[0] + (rule.kind == LEFT), taken[1] + (rule.kind == RIGHT))
                    for dependent, below in of_word(sides[rule.kind][taken[rule.kind]]):
                        if dependent == rule.modifier:
                            yield from grow(after, rule.parent, 0, (*used, *below, rule))

        yield from grow((0, 0), tags[h], 0, ())

    for symbol, used in of_word(heads.index(0)):
        for rule in grammar.rules:
            if rule.parent == ROOT and rule.head == symbol:
                yield (*used, rule)


@pytest.mark.parametrize("seed", range(60))
def test_best_tree_count_and_marginals_equal_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    grammar, n, most = random_grammar(rng), rng.randint(1, 4), rng.randint(0, 2)
    heads, tags = random_heads(rng, n), [rng.choice(TAGS) for _ in range(n)]
    rule_scores = np.array([rng.uniform(-2, 2) for _ in grammar.rules], np.float32)
    chart = chart_of(grammar, heads, tags, most)
    forest = chart.forest
    every = list(enumerate_derivations(grammar, heads, tags, most))
    assert count_derivations(forest) == len(every)
    if not every:
        assert len(forest.head) == 0
        return
    used = chart.rules
    scores = np.where(used >= 0, rule_scores[used], 0).astype(np.float32)
    totals = [sum(float(rule_scores[grammar.rule_ids[rule]]) for rule in rules) for rules in every]
    best = viterbi(forest, scores)
    assert float(scores[best].sum()) == pytest.approx(max(totals), abs=1e-4)
    for k in (1, 2, 7, len(every) + 3):
        best_totals, edges, begin = k_best(forest, scores, k)
        assert best_totals == pytest.approx(sorted(totals, reverse=True)[:k], abs=1e-4)
        chosen = [tuple(edges[a:b].tolist()) for a, b in zip(begin, begin[1:], strict=False)]
        assert len(set(chosen)) == len(chosen) == min(k, len(every))
        assert [float(scores[list(one)].sum()) for one in chosen] == pytest.approx(best_totals, abs=1e-4)
    log_sum, shares = marginals(forest, scores)
    assert log_sum == pytest.approx(math.log(sum(map(math.exp, totals))), abs=1e-4)
    expected: Counter[int] = Counter()
    for rules, total in zip(every, totals, strict=True):
        for rule in rules:
            expected[grammar.rule_ids[rule]] += math.exp(total - log_sum)  # type: ignore[assignment]
    for number in range(len(grammar.rules)):
        assert float(shares[used == number].sum()) == pytest.approx(expected[number], abs=1e-4)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 12])
def test_the_appendix_grammar_counts_binomials(n: int) -> None:
    """One head amid 2n dependents: C(2n, n) orders of left and right ones (draft, appendix A)."""
    x = Symbol("X", "tag")
    grammar = Grammar.of([Rule(LEFT, x, x, x), Rule(RIGHT, x, x, x), Rule(UNARY, x, None, ROOT)])
    heads = [n + 1] * (2 * n + 1)
    heads[n] = 0
    query = Query(grammar.table, np.zeros(1, np.int32), UNPRUNED, 3, 0)
    chart = build_chart(query, observed_of(grammar, heads, [x] * len(heads)))
    assert count_derivations(chart.forest) == math.comb(2 * n, n)


@pytest.mark.parametrize("seed", range(40))
def test_with_the_glue_rule_every_tree_has_a_derivation(seed: int) -> None:
    rng = random.Random(seed)
    grammar, n = random_grammar(rng), rng.randint(1, 12)
    heads, tags = random_heads(rng, n), [rng.choice(TAGS) for _ in range(n)]
    chart = chart_of(grammar, heads, tags, 1, glue=True)
    rules = chart.rules[viterbi(chart.forest, np.zeros(len(chart.rules), np.float32))]
    attachments = (rules == GLUED) | (rules != COPY) & (grammar.table.kind[rules] != UNARY)
    assert attachments.sum() >= n - 1
    if len(chart_of(grammar, heads, tags, 1).rules):
        assert count_derivations(chart.forest) > 0
