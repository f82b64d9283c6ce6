"""Punctuation, gaps and traces: properties over random trees, and cases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from tests.strategies import ctrees
from trees.conversion import to_dependencies
from trees.ctree import CTree
from trees.formats.brackets import parse_bracket
from trees.formats.chunks import Chunk
from trees.formats.discbracket import format_discbracket, parse_discbracket
from trees.transforms import merge_gaps, move_punctuation, raise_gaps, resolve_traces, split_gaps


def parse(text: str) -> CTree:
    return next(parse_discbracket(Chunk(1, text), "x"))


def is_mark(form: str) -> bool:
    return form in ("w1", "w2", "w5", ",")


@given(ctrees())
def test_raising_leaves_tokens_labels_and_no_gap(ctree: CTree) -> None:
    raised = raise_gaps(ctree)
    assert raised.tokens == ctree.tokens and sorted(raised.labels) == sorted(ctree.labels)
    assert raised.is_continuous() and (raised == ctree) == ctree.is_continuous()
    dtree = to_dependencies(raised)
    assert dtree.is_projective() and dtree.is_nested()  # Proposition 3


@given(ctrees())
def test_splitting_is_undone_by_merging(ctree: CTree) -> None:
    bare = replace(ctree, head_children=None)
    parts = split_gaps(bare)
    assert parts.is_continuous() and parts.tokens == bare.tokens
    assert merge_gaps(parts) == bare


@given(ctrees())
def test_moving_punctuation_keeps_words_where_they_are(ctree: CTree) -> None:
    moved = move_punctuation(ctree, is_mark)
    assert moved.tokens == ctree.tokens and sorted(moved.labels) == sorted(ctree.labels)
    words = {i for i, form in enumerate(ctree.tokens.forms) if not is_mark(form)}
    spans = [
        sorted((label, tuple(words.intersection(below))) for label, below in zip(t.labels, y, strict=True))
        for t, y in ((t, t.yields()[len(t.tokens) :]) for t in (ctree, moved))
    ]
    assert spans[0] == spans[1]
    assert move_punctuation(moved, is_mark) == moved
    assert moved.is_continuous() or not ctree.is_continuous()


def test_marks_hang_from_what_covers_their_neighbours() -> None:
    ctree = parse("(TOP (S (NP (N 0=a) (N 2=b)) (V 4=c) (A 5=d)) (P 1=,) (P 3=,) (P 6=,))")
    moved = move_punctuation(ctree)
    assert format_discbracket(moved) == (
        "(TOP (S (NP (N 0=a) (P 1=,) (N 2=b)) (P 3=,) (V 4=c) (A 5=d)) (P 6=,))"
    )
    only = parse("(TOP (P 0=.) (P 1=.))")
    assert move_punctuation(only) == only


def test_raised_blocks_are_those_without_the_head() -> None:
    ctree = parse("(S (VP (V 0=a) (P 2=c) (Q 3=d)) (N 1=b))")
    assert format_discbracket(raise_gaps(ctree)) == "(S (V 0=a) (N 1=b) (VP (P 2=c) (Q 3=d)))"
    headed = replace(ctree, head_children=(0, 4))
    assert format_discbracket(raise_gaps(headed)) == "(S (VP (V 0=a)) (N 1=b) (P 2=c) (Q 3=d))"
    assert format_discbracket(split_gaps(ctree)) == "(S (VP*1 (V 0=a)) (N 1=b) (VP*2 (P 2=c) (Q 3=d)))"
    with pytest.raises(ValueError, match="a label ends in"):
        split_gaps(split_gaps(ctree))


def test_traces_take_their_antecedents() -> None:
    craft = "( (SBARQ (WHNP-1 (WP what)) (SQ (VBD did) (NP-SBJ (PRP he)) (VP (VB see) (NP-1 (-NONE- *T*))))))"
    resolved = resolve_traces(parse_bracket(craft))
    assert resolved and format_discbracket(resolved) == (
        "(TOP (SBARQ (SQ (VP (WHNP (WP 0=what)) (VB 3=see)) (VBD 1=did) (NP (PRP 2=he)))))"
    )
    wsj = craft.replace("(NP-1 (-NONE- *T*))", "(NP (-NONE- *T*-1))")
    assert resolve_traces(parse_bracket(wsj)) == resolved
    without = parse_bracket("(TOP (S (NP-SBJ-2 (-NONE- *)) (VP (VB go))))")
    assert resolve_traces(without) == parse_bracket("(TOP (S (VP (VB go))))")
    assert resolve_traces(parse_bracket("(TOP (S (NP (-NONE- *))))")) is None


def test_a_trace_in_its_own_antecedent_stays_where_it_is() -> None:
    inside = parse_bracket("(TOP (S-1 (VP (VB go) (S-1 (-NONE- *ICH*)))))")
    assert resolve_traces(inside) == parse_bracket("(TOP (S (VP (VB go))))")
