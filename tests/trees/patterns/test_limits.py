"""Searches end: at a limit of time or of matches for each tree; the other trees are searched all the same."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c import Tree
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.limits import RanOver, searchers
from d2c.trees.patterns.matches import find, matches
from d2c.trees.patterns.nodes import TreeNodes

FLAT = Tree.from_string("(S " + "(A a) " * 1000 + ")")
DEEP = Tree.from_string("(A " * 1000 + "(B b)" + ")" * 1000)
LONG = Tree.from_string(f"(S (A {'a' * 40}!) (B {'a' * 3000}))")


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("S <(A=a) <(A=b) <(A=c) <(A=d)", FLAT),
        ("A=a .. (A=b .. (A=c .. A=d))", FLAT),
        ("S : A=a : A=b : A=c", FLAT),
        ("A=a .+(A) A=b", FLAT),
        ("A=a << A=b", DEEP),
        ("A << (A << (A << A=n))", DEEP),
        ("A=a >+(A) A=b", DEEP),
    ],
)
def test_products_of_names_end(pattern: str, tree: Tree) -> None:
    begin = time.process_time()
    with pytest.raises(RanOver, match=r"^.{,62}: there are more than 100,000 matches, or nodes from which"):
        tree.search(pattern)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("pattern", ["/^(a|aa)+$/", "!/(a|aa)+$/", "@/^(a|aa)+$/", "/^(a|aa)+($)/#2%x"])
def test_regular_expressions_end(pattern: str) -> None:
    begin = time.process_time()
    message = "the search takes more than 0.1 s; a longer timeout can be set"
    with pytest.raises(RanOver, match=message):
        LONG.search(pattern, timeout=0.1)
    assert time.process_time() - begin < 1


def test_sets_of_nodes_take_no_products() -> None:
    """Where names do not ask for pairs, thousands of nodes in a row or in a chain are no matter."""
    for pattern, tree, count in (
        ("A .+(A) A", FLAT, 999),
        ("A ,+(A) A", FLAT, 999),
        ("A <+(A) A", DEEP, 999),
        ("A >+(A) A", DEEP, 999),
        ("B >+(A) A=a", DEEP, 1000),
        ("A << (A << (A << (A << B)))", DEEP, 997),
        ("A $ (A $ (A $ A))", FLAT, 1000),
        ("A << (A << (A << (A << B=b)))", DEEP, 997),
        ("A >> (A >> (A >> (A >: ROOT=b)))", DEEP, 997),
        ("B >> (A >+(A) (A >: ROOT=b))", DEEP, 1),
        ("S <: (A=a << (A << (A << B=b)))", Tree.from_string(f"(S {DEEP})"), 1),
        ("S < (A .. (A .. (A .. (A < a=a))))", Tree.from_string("(S " + "(A b) " * 500 + "(A a))"), 1),
    ):
        assert len(tree.search(pattern, timeout=1)) == count, pattern


def test_stars_of_words_take_linear_time() -> None:
    begin = time.process_time()
    assert LONG.search('"' + "a*" * 25 + 'b"') == []
    assert len(LONG.search('"*a*a*a*"')) == 2 and len(LONG.search('"A*!" | "*a!"')) == 1
    assert time.process_time() - begin < 1


@given(
    st.text("aAb", max_size=8), st.text("aAb*", min_size=1, max_size=6).filter(lambda star: star.strip("*"))
)
def test_stars_stand_for_any_letters(word: str, star: str) -> None:
    flags = re.IGNORECASE if star == star.lower() else 0
    wanted = re.compile(star.replace("*", ".*"), flags).fullmatch(word or "b")
    assert bool(Tree.from_string(f"(X (Y {word or 'b'}))").search(f'"{star}"')) == bool(wanted)


def test_the_other_trees_of_a_batch_are_searched() -> None:
    small = Tree.from_string("(S (A a) (A b))")
    found = [
        found for _, found in matches("A=a .. A=b", [small, FLAT, small], lambda tree: tree.constituents)
    ]
    first, over, last = found
    assert isinstance(over, RanOver) and isinstance(first, list) and isinstance(last, list)
    assert len(first) == len(last) == 1


def test_a_limit_of_time_for_all_steps() -> None:
    with pytest.raises(RanOver, match="more than 1e-09 s"):
        find(compiled("A < B"), TreeNodes([FLAT.ctree]), 1e-9)
    assert len(LONG.search("/^(?:a|b)+$/", timeout=float("inf"))) == 1


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_no_time_at_all_is_refused(seconds: float) -> None:
    """It would leave out every tree."""
    with pytest.raises(ValueError, match="more than 0") as caught:
        LONG.search("A", timeout=seconds)
    assert not isinstance(caught.value, RanOver)


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            (
                "a",
                "b",
                ".",
                "^",
                "$",
                "[ab]",
                r"\w",
                r"\b",
                "(?:a|b)",
                "(ab?)",
                "*",
                "+",
                "?",
                "{2}",
                "{,2}",
                "{e<=1}",
            )
            + (
                "{",
                "}",
                r"\{",
                "[{]",
                r"\N{DIGIT ONE}",
                "|",
                "(?i)",
                "(?=b)",
                r"(a)\1",
                "(?P<x>b)(?P=x)",
                "[^a]",
            )
        ),
        max_size=7,
    ).map("".join),
    st.text("abA1{e<=}", max_size=8),
)
def test_both_engines_find_the_same(source: str, text: str) -> None:
    try:
        wanted = re.search(source, text)
    except re.error:
        return
    for search in searchers(source):
        found = search(text) if search else wanted
        assert (found and (found.span(), found.groups())) == (wanted and (wanted.span(), wanted.groups()))
