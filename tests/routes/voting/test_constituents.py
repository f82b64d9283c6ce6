"""Constituents voted on: majorities, the best tree by enumeration, unary chains, heads, learned weights."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.routes.voting.constituents import (
    Parse,
    candidates,
    combine,
    constituents,
    learn_constituents,
    ranked_by_votes,
)
from d2c.trees.compatible import cross
from d2c.trees.ctree import CTree, Tokens, tree_of
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from d2c.trees.heads import load_head_rules
from tests.strategies import ctrees, words


def trees_of_one_sentence(gaps: bool, most: int) -> st.SearchStrategy[list[Parse]]:
    def of_length(n: int) -> st.SearchStrategy[list[Parse]]:
        trees = ctrees(gaps=gaps, max_tokens=n, min_tokens=n)
        return st.lists(trees.map(Parse), min_size=2, max_size=most)

    return st.integers(1, 6).flatmap(of_length)


def of_brackets(*texts: str) -> list[Parse]:
    return [Parse(parse_bracket(text)) for text in texts]


@pytest.mark.parametrize("gaps", [False, True])
def test_a_majority_is_the_constituents_of_more_than_half(gaps: bool) -> None:
    @settings(max_examples=50)
    @given(trees_of_one_sentence(gaps, 5))
    def check(parses: list[Parse]) -> None:
        n = len(parses[0].ctree.tokens)
        every = [constituents(parse.ctree) for parse in parses]
        wanted = {
            one for found in every for one in found if 2 * sum(one in other for other in every) > len(every)
        }
        voted = combine(parses)
        found = set(constituents(voted.ctree))
        root = {one for one in found - wanted if one.tokens == (1 << n) - 1}
        assert found - root == wanted
        rooted = all(parse.ctree.labels for parse in parses)
        assert len(root) == (rooted and not any(one.tokens == (1 << n) - 1 for one in wanted))
        assert voted.ctree.top == parses[0].ctree.top
        voted.ctree.lexical_heads()

    check()


@pytest.mark.parametrize("gaps", [False, True])
def test_no_tree_is_better(gaps: bool) -> None:
    @settings(max_examples=30)
    @given(trees_of_one_sentence(gaps, 2), st.sampled_from((0.0, 0.3)))
    def check(parses: list[Parse], threshold: float) -> None:
        found = candidates(parses)
        gains = {one: sum(each.votes) / len(parses) - threshold for one, each in found.items()}
        by_yield: dict[int, float] = {}
        for one, gain in gains.items():
            by_yield[one.tokens] = by_yield.get(one.tokens, 0.0) + gain
        best = max(
            sum(by_yield[one] for one in chosen)
            for k in range(len(by_yield) + 1)
            for chosen in combinations(by_yield, k)
            if not any(cross(a, b) for a, b in combinations(chosen, 2))
        )
        voted = combine(parses, threshold=threshold)
        assert sum(gains[one] for one in constituents(voted.ctree)) == pytest.approx(best)

    check()


@given(ctrees(gaps=True))
def test_one_tree_is_its_own_combination(ctree: CTree) -> None:
    assert combine([Parse(ctree)]) == Parse(ctree, (1.0,) * len(ctree.labels))
    assert combine([None, Parse(ctree), None]) == Parse(ctree, (1.0,) * len(ctree.labels))


def test_agreement_is_the_confidence() -> None:
    a = "(TOP (S (NP (D the) (N cat)) (VP (V sat) (PP (P on) (N it)))))"
    b = "(TOP (S (NP (D the) (N cat)) (VP (V sat)) (PP (P on) (N it))))"
    c = "(TOP (S (NP (D the)) (XP (N cat) (V sat)) (PP (P on) (N it))))"
    voted = combine(of_brackets(a, b, c))
    assert format_bracket(voted.ctree) == "(TOP (S (NP (D the) (N cat)) (V sat) (PP (P on) (N it))))"
    shares = dict(zip(voted.ctree.labels, voted.confidences or (), strict=True))
    assert shares == pytest.approx({"NP": 2 / 3, "PP": 1.0, "S": 1.0})


def test_a_low_threshold_decides_between_crossing_ones() -> None:
    a, b = "(S (X (A a) (B b)) (C c))", "(S (A a) (Y (B b) (C c)))"
    assert format_bracket(combine(of_brackets(a, b)).ctree) == "(S (A a) (B b) (C c))"
    assert format_bracket(combine(of_brackets(a, b), threshold=0.4).ctree) == a  # of equal ones the first
    sure = [Parse(parse_bracket(a), (0.7, 1.0)), Parse(parse_bracket(b), (0.9, 1.0))]
    voted = combine(sure, threshold=0.3)
    assert format_bracket(voted.ctree) == b and voted.confidences == (0.45, 1.0)


def test_chains_and_labels_that_are_twice_in_them() -> None:
    a, b, c = "(S (S (NP (A a) (B b))))", "(S (NP (NP (A a) (B b))))", "(S (S (NP (NP (A a) (B b)))))"
    assert format_bracket(combine(of_brackets(a, b, c)).ctree) == "(S (S (NP (NP (A a) (B b)))))"
    assert format_bracket(combine(of_brackets(a, b, b)).ctree) == "(S (NP (NP (A a) (B b))))"
    a, b, c = "(X (A a))", "(Y (A a))", "(A a)"
    assert format_bracket(combine(of_brackets(a, b, c)).ctree) == "(A a)"


def test_a_root_is_always_there() -> None:
    assert format_bracket(combine(of_brackets("(X (A a))", "(Y (A a))")).ctree) == "(X (A a))"
    a, b, c = "(X (A a) (B b))", "(Y (A a) (B b))", "(Z (Y (A a) (B b)))"
    assert format_bracket(combine(of_brackets(a, b)).ctree) == "(X (A a) (B b))"
    assert format_bracket(combine(of_brackets(a, b, c)).ctree) == "(Y (A a) (B b))"


def test_tags_are_voted_on() -> None:
    a, b, c = "(S (A a) (B b))", "(S (X a) (C b))", "(S (X a) (D b))"
    assert combine(of_brackets(a, b, c)).ctree.tokens.tags == ("X", "B")


def test_gaps_are_kept() -> None:
    gap, flat = "(S (VP (A 0=x) (B 2=z)) (C 1=y))", "(S (A 0=x) (B 2=z) (C 1=y))"
    parses = [Parse(parse_discbracket(text)) for text in (gap, flat, gap)]
    assert format_discbracket(combine(parses).ctree) == gap


def test_heads_are_those_of_most_trees() -> None:
    tree = parse_bracket("(S (NP (N a) (N b)) (VP (V c)))")
    left, right = (load_head_rules(name).apply(tree) for name in ("leftmost", "rightmost"))
    voted = combine([Parse(left), Parse(right), Parse(right)]).ctree
    assert voted == right
    assert combine([Parse(tree), Parse(left)]).ctree == left
    assert combine([Parse(tree)]).ctree.head_children is None


def test_weights_know_who_is_right_about_which_labels() -> None:
    """The first parser is right about X, the second about Y; alike, nothing that one has alone is kept."""
    gold = "(S (X (A a) (B b)) (Y (C c) (D d)))"
    first, second = "(S (X (A a) (B b)) (C c) (Y (D d)))", "(S (X (A a)) (B b) (Y (C c) (D d)))"
    parses = of_brackets(first, second)
    assert format_bracket(combine(parses).ctree) == "(S (A a) (B b) (C c) (D d))"
    weights = learn_constituents([(parse_bracket(gold), parses)] * 20)
    voted = combine(parses, weights, weights.threshold)
    assert format_bracket(voted.ctree) == gold
    assert min(voted.confidences or ()) > 0.8
    assert (weights.kind, weights.parsers, sorted(weights.labels)) == ("constituents", 2, ["S", "X", "Y"])


def test_the_threshold_is_half_of_the_f1_that_is_reached() -> None:
    """X, which is right in 45 of 100, is left out at first; that is an F1 of 2 · 100 / (145 + 100)."""
    proposed, flat = "(S (X (A a) (B b)) (C c))", "(S (A a) (B b) (C c))"
    golds = [proposed] * 45 + [flat] * 55
    weights = learn_constituents((parse_bracket(gold), of_brackets(proposed)) for gold in golds)
    assert weights.threshold == pytest.approx(0.5 * 200 / 245, abs=1e-6)


def test_what_is_no_tree_is_refused() -> None:
    tokens = words(3)
    for nodes, message in (
        ([("A", [0, 1]), ("B", [1, 2]), ("S", [0, 1, 2])], "'B' over tokens 1 to 2 crosses another"),
        ([("A", [0, 1])], "no constituent is over all tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            tree_of(tokens, nodes, None)
    other = CTree(Tokens(("x",), ("X",)), (), ())
    with pytest.raises(ValueError, match="same words"):
        combine([Parse(other), Parse(CTree(words(1), (), ()))])
    with pytest.raises(ValueError, match="same words"):
        combine([None])


def test_trees_are_ranked_by_votes() -> None:
    """NP has votes 0.9 and 0.5, VP 0.3 and none; nobody votes for PP."""
    parses = [
        Parse(parse_bracket("(TOP (S (NP (A a) (B b)) (C c)))"), [0.9, 1.0]),
        Parse(parse_bracket("(S (VP (A a) (B b) (C c)))"), [0.3, 1.0]),
        Parse(parse_bracket("(S (NP (X a) (B b)) (C c))"), [0.5, 1.0]),
    ]
    best = combine(parses).ctree
    assert format_bracket(best) == "(TOP (S (A a) (B b) (C c)))"  # NP has 1.4 / 3
    others = [
        parse_bracket("(S (A a) (PP (B b) (C c)))"),  # -0.5
        parse_bracket("(S (VP (NP (A a) (B b)) (C c)))"),  # (1.4 + 0.3) / 3 - 1
        parse_bracket("(S (X a) (B b) (C c))"),  # the best with another tag
        *(parse.ctree for parse in parses),  # 0.3 / 3 - 0.5, 1.4 / 3 - 0.5
    ]
    assert [format_bracket(ctree) for ctree in ranked_by_votes(parses, best, others)] == [
        "(TOP (S (NP (A a) (B b)) (C c)))",
        "(TOP (S (VP (A a) (B b) (C c))))",
        "(TOP (S (VP (NP (A a) (B b)) (C c))))",
        "(TOP (S (A a) (PP (B b) (C c))))",
    ]
