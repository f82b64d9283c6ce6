"""Constraints on constituents: what is refused, what is mended, and that nothing is left broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.trees.constraints import LabelledSpan, SpanConstraints, obeying
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from d2c.trees.heads import load_head_rules
from tests.strategies import LABELS, ctrees

SAW = (
    "(TOP (S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses)))) (. .)))"
)

SPLIT = (
    "(TOP (S (X (NP (PRP They)) (VBD saw)) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses))) (. .)))"
)


def mended(brackets: str, require: Any = (), forbid: Any = ()) -> str:
    """The tree of brackets under constraints, with Collins' heads."""
    ctree = load_head_rules("collins").headed(parse_bracket(brackets))
    constraints = SpanConstraints.of(require, forbid, len(ctree.tokens))
    assert constraints is not None
    return format_bracket(obeying(ctree, constraints)[0])


@pytest.mark.parametrize(
    ("require", "forbid", "expected"),
    [
        ([(2, 6, "NP")], [], SAW.replace("(NP (DT", "(NP (NP (DT").replace("glasses)))", "glasses))))")),
        ([(2, 6)], [], SAW.replace("(NP (DT", "(NP (NP (DT").replace("glasses)))", "glasses))))")),
        ([(0, 1, "NP"), (1, 6)], [(2, 6)], SAW),
        ([(0, 1, "PRN")], [], SAW.replace("(NP (PRP", "(PRN (PRP")),
        ([(3, 4)], [], SAW),
        ([(3, 4, "NX")], [], SAW.replace("(NN cat)", "(NX (NN cat))")),
        ([(0, 7, "SINV")], [], SAW.replace("(S ", "(SINV ")),
        ([(0, 2, "X")], [], SPLIT),
        ([], [(2, 4)], SAW.replace("(NP (DT the) (NN cat))", "(DT the) (NN cat)")),
        ([], [(2, 4, "VP")], SAW),
        ([], [(0, 7, "S")], SAW.replace("(S ", "(X ")),
        ([(0, 7)], [(0, 7, "S"), (0, 7, "X")], SAW.replace("(S ", "(XX ")),
    ],
)  # fmt: skip
def test_what_is_mended(require: Any, forbid: Any, expected: str) -> None:
    assert mended(SAW, require, forbid) == expected


def test_gaps_stay_where_they_can() -> None:
    woken = parse_discbracket("(TOP (S (VP (V 0=wake) (P 2=up)) (N 1=me)))")
    constraints = SpanConstraints.of([(1, 3, "XP")], [], 3)
    assert constraints is not None
    tree, _ = obeying(woken, constraints)
    assert format_discbracket(tree) == "(TOP (S (V 0=wake) (XP (N 1=me) (P 2=up))))"
    constraints = SpanConstraints.of([(1, 2, "NP")], [(0, 2)], 3)
    assert constraints is not None
    tree, _ = obeying(woken, constraints)
    assert format_discbracket(tree) == "(TOP (S (VP (V 0=wake) (P 2=up)) (NP (N 1=me))))"


def test_confidences_follow_their_nodes() -> None:
    ctree = parse_bracket("(S (NP (A a) (B b)) (C c))")
    constraints = SpanConstraints.of([(1, 3, "VP")], [], 3)
    assert constraints is not None
    tree, shares = obeying(ctree, constraints, (0.25, 0.5))
    assert (format_bracket(tree), shares) == ("(S (A a) (VP (B b) (C c)))", (1.0, 0.5))


MANY = [(0, 2, f"A{n}") for n in range(1_001)]


@pytest.mark.parametrize(
    ("require", "forbid", "message"),
    [
        ([(0, 2, "A"), (1, 3)], [], "required, but they cross: A over 0 to 2, a constituent over 1 to 3"),
        ([(0, 2, "NP")], [(0, 2)], "required and forbidden: NP over 0 to 2"),
        ([(0, 2, "NP")], [(0, 2, "NP")], "required and forbidden: NP over 0 to 2"),
        ([], [(0, 3)], "forbidden: a constituent over 0 to 3; every c-tree has one over the whole sentence"),
        ([(2, 2)], [], "a constituent over 2 to 2: no span of 3 words, which are counted from 0"),
        ([(0, 4)], [], "a constituent over 0 to 4: no span of 3 words, which are counted from 0"),
        ([(-1, 2)], [], "a constituent over -1 to 2: no span of 3 words, which are counted from 0"),
        ([(0,)], [], "(0,) is no span: (start, end) or (start, end, label)"),
        ([(True, 2)], [], "(True, 2) is no span: (start, end) or (start, end, label)"),
        (MANY, [], "1,001 spans required and forbidden, more than the 1,000 that may be"),
        ([3], [], "3 is no span: (start, end) or (start, end, label)"),
        (["ab"], [], "'ab' is no span: (start, end) or (start, end, label)"),
        ([(0, 2, "N P")], [], "(0, 2, 'N P'): a label has no blanks and brackets"),
        ([(0, 2, "\ud800")], [], r"'\ud800' is half a character, which no file holds"),
        ([(0, 2, "N\0P")], [], r"(0, 2, 'N\x00P'): a label has no control characters"),
        ([], [(0, 2, "\x1b[1m")], r"(0, 2, '\x1b[1m'): a label has no control characters"),
        ([(0, 2, "")], [], "(0, 2, ''): a label is a text that is not empty"),
        ([(0, 2, 1)], [], "(0, 2, 1): a label is a text that is not empty"),
    ],
)  # fmt: skip
def test_what_is_refused(require: Any, forbid: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        SpanConstraints.of(require, forbid, 3)
    assert str(caught.value) == message


def test_nothing_is_no_constraint() -> None:
    assert SpanConstraints.of(None, [], 3) is None
    assert SpanConstraints.of([], [(0, 1)], 1) == SpanConstraints((), (LabelledSpan(0, 1),))


@st.composite
def constrained(draw: st.DrawFn) -> tuple[CTree, SpanConstraints]:
    ctree = draw(ctrees())
    ctree = draw(st.sampled_from([ctree, replace(ctree, head_children=None)]))
    n, spans = len(ctree.tokens), tuple[list[Any], ...](([], []))
    for place in draw(st.lists(st.sampled_from((0, 1)), max_size=8)):
        start = draw(st.integers(0, n - 1))
        spans[place].append((start, draw(st.integers(start + 1, n)), draw(st.sampled_from((None, *LABELS)))))
        try:
            SpanConstraints.of(*spans, n)
        except ValueError:
            spans[place].pop()
    return ctree, SpanConstraints.of(*spans, n) or SpanConstraints()


@settings(max_examples=250)
@given(constrained())
def test_none_is_broken(given: tuple[CTree, SpanConstraints]) -> None:
    ctree, constraints = given
    tree, shares = obeying(ctree, constraints, (0.5,) * len(ctree.labels))
    assert constraints.broken(tree) == []
    assert tree.tokens == ctree.tokens and tree.top == ctree.top and len(shares or ()) == len(tree.labels)
    assert sorted(tree.yields()[-1]) == list(range(len(ctree.tokens)))
    assert (tree.head_children is None) == (ctree.head_children is None)
    if not constraints.broken(ctree):
        assert tree is ctree
    if ctree.is_continuous():
        assert tree.is_continuous()
