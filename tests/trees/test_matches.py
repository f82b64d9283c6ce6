"""Recall, precision and F1 against their definitions on sets, and metrics against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.scores.brackets import METRICS, bracket_scores, metric_for
from d2c.trees.scores.matches import Matches
from tests.strategies import ctrees
from tests.trees.test_evalb import VECTORS, needs_vectors

bags = st.lists(st.sampled_from("abcde"), max_size=8)


def matches(gold: list[str], guess: list[str]) -> Matches:
    return Matches(len(gold), len(guess), (Counter(gold) & Counter(guess)).total())


def hits(these: list[str], others: list[str]) -> int:
    """One after another, each of these takes an equal one of the others away."""
    left, found = list(others), 0
    for one in these:
        if one in left:
            left.remove(one)
            found += 1
    return found


@given(bags, bags)
def test_shares_of_bags(gold: list[str], guess: list[str]) -> None:
    m = matches(gold, guess)
    recall = Fraction(hits(gold, guess), len(gold)) if gold else Fraction(0)
    precision = Fraction(hits(guess, gold), len(guess)) if guess else Fraction(0)
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else Fraction(0)
    assert (m.recall, m.precision, m.f1) == pytest.approx(
        tuple(float(100 * x) for x in (recall, precision, f1))
    )


@given(st.lists(st.tuples(bags, bags)))
def test_sums_are_of_all_brackets(pairs: list[tuple[list[str], list[str]]]) -> None:
    numbered = [([f"{i}{x}" for x in a], [f"{i}{x}" for x in b]) for i, (a, b) in enumerate(pairs)]
    every = matches([x for a, _ in numbered for x in a], [x for _, b in numbered for x in b])
    assert sum((matches(a, b) for a, b in pairs), Matches()) == every


@pytest.mark.parametrize("name", METRICS)
@given(st.lists(st.tuples(ctrees(), ctrees()), max_size=3))
def test_metrics_count_what_they_say(name: str, pairs: list[tuple[CTree, CTree]]) -> None:
    """Brackets by a metric's label and tokens left out, on both sides of a tree with itself."""
    metric = METRICS[name]
    gold = [a for a, _ in pairs if name == "disco" or a.is_continuous()]
    for ctree, score in zip(gold, metric.score(gold, gold), strict=True):
        pairs_of = zip(ctree.tokens.forms, ctree.tokens.tags, strict=True)
        kept = {
            i for i, (form, tag) in enumerate(pairs_of) if tag not in metric.tags and form not in metric.forms
        }
        nodes = list(zip(ctree.labels, ctree.yields()[len(ctree.tokens) :], strict=True))
        if ctree.top or (ctree.top == "" and metric.bare_wrapper):
            nodes.append((ctree.top, tuple(range(len(ctree.tokens)))))
        counted = [label for label, below in nodes if metric.label(label) is not None and kept & set(below)]
        if kept:
            assert score.matched == score.gold == score.guess == len(counted)


@needs_vectors
def test_spmrl_counts_as_its_program() -> None:
    """Of 600 pairs, those that are trees over the same words, sentence by sentence."""
    expected = {}
    for line in (VECTORS / "expected-spmrl.txt").read_text().splitlines()[3:603]:
        number, _, status, _, _, *counts = line.split()
        if status == "0":
            expected[int(number)] = tuple(map(int, counts[:3]))
    sides = ((VECTORS / name).read_text().splitlines() for name in ("gold.mrg", "guess.mrg"))
    compared = 0
    for number, lines in enumerate(zip(*sides, strict=True), 1):
        if number in expected and "-NONE-" not in "".join(lines):
            gold, guess = map(parse_bracket, lines)
            if gold.tokens.forms == guess.tokens.forms:
                (score,) = METRICS["spmrl"].score([gold], [guess])
                assert (score.matched, score.gold, score.guess) == expected[number]
                compared += 1
    assert compared > 500


@given(ctrees())
def test_a_tree_with_gaps_is_itself_where_they_are_raised(ctree: CTree) -> None:
    for metric in METRICS.values():
        (score,) = metric.score([ctree], [replace(ctree, head_children=None)])
        assert score.matched == score.gold == score.guess


def test_the_metric_is_that_of_gold() -> None:
    gold = parse_bracket("(TOP (S (NP (NN a)) (VP (VB b) (NN c))))")
    gap = parse_discbracket("(S (VP (VB 0=a) (NN 2=c)) (NN 1=b))")
    assert metric_for([gold]) is METRICS["evalb"]
    assert metric_for([gold], gaps=True) is metric_for([gold, gap]) is METRICS["disco"]
    assert bracket_scores([gold, gap], [gold, gap]).f1 == bracket_scores([gold], [gold]).f1 == 100
    assert bracket_scores([], []).f1 == 0
