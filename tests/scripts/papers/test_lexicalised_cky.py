"""The lexicalised chart against the constrained one, summed over all projective d-trees."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.search.deduction import Chart
from d2c.cky.search.derivations import derivation
from d2c.learning.semirings import count_derivations, marginals, viterbi
from d2c.trees.binarization import UNARY
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import is_projective, is_tree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from papers.lexicalised_cky import build_lexicalised_chart, lexicalised_oracle, parse_lexicalised
from tests.cky.test_chart import TAGS, chart_of, observed_of, query_of, random_grammar
from tests.cky.test_constrained_cky import sample


def projective_trees(n: int) -> Iterator[list[int]]:
    for heads in product(range(n + 1), repeat=n):
        if is_tree(heads) and is_projective(heads):
            yield list(heads)


def test_there_are_as_many_projective_trees_as_known() -> None:
    assert [sum(1 for _ in projective_trees(n)) for n in range(1, 6)] == [1, 2, 7, 30, 143]


def scores_of(chart: Chart, table: np.ndarray) -> np.ndarray:
    """A score for each rule at each head, dependent and span; 0 for copies."""
    scores = np.zeros(len(chart.rules), np.float32)
    for edge in range(len(chart.rules)):
        sites, rules = derivation(chart, np.array([edge], np.int32), 0).parts
        if len(rules):
            scores[edge] = table[rules[0], sites["h"][0], sites["m"][0], sites["i"][0], sites["j"][0]]
    return scores


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_sum_over_all_projective_d_trees(seed: int) -> None:
    rng = random.Random(seed)
    grammar, n, most = random_grammar(rng), rng.randint(1, 4), rng.randint(0, 2)
    tags = [rng.choice(TAGS) for _ in range(n)]
    table = np.random.default_rng(seed).normal(size=(len(grammar.rules), n, n, n, n)).astype(np.float32)
    together = build_lexicalised_chart(query_of(grammar, most), observed_of(grammar, range(n), tags))
    counts, log_sums, bests = [], [], []
    for heads in projective_trees(n):
        chart = chart_of(grammar, heads, tags, most)
        if len(chart.rules):
            scores = scores_of(chart, table)
            counts.append(count_derivations(chart.forest))
            log_sums.append(marginals(chart.forest, scores)[0])
            bests.append((float(scores[viterbi(chart.forest, scores)].sum()), heads))
    assert count_derivations(together.forest) == sum(counts)
    if not counts:
        return
    scores = scores_of(together, table)
    log_sum, shares = marginals(together.forest, scores)
    assert log_sum == pytest.approx(math.log(sum(map(math.exp, log_sums))), abs=1e-4)
    best = viterbi(together.forest, scores)
    value, heads = max(bests)
    assert float(scores[best].sum()) == pytest.approx(value, abs=1e-4)
    sites = derivation(together, best, 0).parts.sites
    attached = [(site["m"], site["h"] + 1) for site in sites if site["side"] != UNARY]
    assert sorted(attached) == [(m, head) for m, head in enumerate(heads) if head]
    attachments = grammar.table.kind[np.maximum(together.rules, 0)] != UNARY
    taken = shares[attachments & (together.rules >= 0)].sum()
    assert taken == pytest.approx(n - 1, abs=1e-4)  # each derivation attaches all words but one


def test_sentences_are_parsed_without_a_d_tree() -> None:
    trees = [tree for tree in sample("train", 300) if len(tree.tokens) <= 10][:100]
    route = ConstrainedCKY(epochs=3, table_bits=16, context=False).fit(trees)
    heads = load_head_rules("collins")
    parsed = [parse_lexicalised(route, tree.tokens) for tree in trees[:30]]
    assert sum(guess == heads.apply(gold) for guess, gold in zip(parsed, trees, strict=False)) >= 8
    assert [lexicalised_oracle(route, gold) for gold in trees[:10]] == list(map(heads.apply, trees[:10]))
    assert [tree and tree.tokens for tree in parsed] == [tree.tokens for tree in trees[:30]]


def test_what_it_cannot_do_is_refused() -> None:
    gold = [parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c))))")]
    route = ConstrainedCKY(epochs=1, table_bits=10, context=False).fit(gold)
    assert parse_lexicalised(route, Tokens(("a", "b"), ("DT", "DT"))) is None
    with pytest.raises(ValueError, match="21 words; lexicalised CKY takes 20 at most"):
        parse_lexicalised(route, Tokens(("a",) * 21, ("DT",) * 21))
    with pytest.raises(ValueError, match="these weights need a d-tree"):
        parse_lexicalised(ConstrainedCKY(epochs=1, table_bits=10).fit(gold), gold[0].tokens)
