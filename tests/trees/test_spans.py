"""Spans of c-trees: order, heads, depths, gaps, and what is inside what."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.spans import Constituents, Source, Span, labelled, spans_of
from tests.strategies import beside, ctrees, graphs

TREE = parse_bracket("(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN mats)))) (VP (VBD slept))))")
GAP = build_ctree(Tokens(("wake", "me", "up"), ("V", "N", "P")), ["VP", "S"], [(0, 2), (3, 1)], 4, [0, 3])


def test_order_heads_and_depths() -> None:
    spans = spans_of(load_head_rules("collins").apply(TREE))
    assert [(s.label, s.start, s.end, s.head, s.depth, s.text) for s in spans] == [
        ("S", 0, 5, 4, 0, "the cat on mats slept"),
        ("NP", 0, 4, 1, 1, "the cat on mats"),
        ("NP", 0, 2, 1, 2, "the cat"),
        ("PP", 2, 4, 2, 2, "on mats"),
        ("NP", 3, 4, 3, 3, "mats"),
        ("VP", 4, 5, 4, 1, "slept"),
    ]
    assert {s.head for s in spans_of(TREE)} == {None} and "head" not in spans_of(TREE)[0].to_dict()


def test_words_of_a_text() -> None:
    tokens = Tokens(("``", "wo", "n't", "''"), ("Q", "M", "R", "Q"))
    tree = CTree(tokens, ("X", "S"), ((1, 2), (0, 4, 3)))
    source = Source(tokens.forms, ((3, 4), (4, 6), (6, 9), (9, 10)), '"won\'t"')
    whole, inner = spans_of(tree, confidences=(0.25, 1.0), source=source)
    assert (whole.text, inner.text, inner.words) == ('"won\'t"', "won't", ("wo", "n't"))
    assert (inner.start_char, inner.end_char, inner.confidence) == (4, 9, 0.25)
    assert spans_of(tree, source=Source(tokens.forms, source.offsets))[1].text == "wo n't"


def test_what_is_above_and_below() -> None:
    whole, subject, inner, prepositional, *_ = spans_of(TREE)
    assert [span.label for span in whole.children] == ["NP", "VP"] and whole.parent is None
    assert subject.children == (inner, prepositional) and inner.children == ()
    assert inner.parent == prepositional.parent == subject and subject.parent == whole


def test_they_show_their_words() -> None:
    assert [repr(span) for span in spans_of(GAP)] == [
        "<Span S 0:3 'wake me up'>",
        "<Span VP 0:1,2:3 'wake up'>",
    ]


def test_gaps() -> None:
    _, span = spans_of(GAP)
    assert (span.label, span.blocks, span.tokens, span.text) == ("VP", ((0, 1), (2, 3)), (0, 2), "wake up")
    assert span.to_dict() == {"label": "VP", "start": 0, "end": 3, "head": 0, "tokens": [0, 2]}
    assert [GAP.label(node) for node in labelled(GAP, {"VP", "S"})] == ["S"]


def test_phrases_inside_others() -> None:
    def texts(*labels: str, nested: bool) -> list[str]:
        return [span.text for span in spans_of(TREE, labelled(TREE, labels, nested))]

    assert texts("NP", nested=False) == ["the cat on mats"]
    assert texts("NP", nested=True) == ["the cat on mats", "the cat", "mats"]
    assert texts("PP", "NP", nested=False) == ["the cat on mats"]
    assert texts("PP", nested=False) == ["on mats"]
    assert texts("XP", nested=True) == []


@given(ctrees())
def test_any_tree(ctree: CTree) -> None:
    spans, n = spans_of(ctree), len(ctree.tokens)
    yields = ctree.yields()[n:]
    assert sorted((s.label, s.tokens) for s in spans) == sorted(zip(ctree.labels, yields, strict=True))
    seen: list[Span] = []
    assert [span for span in spans if span.parent is None] == spans[:1]
    for span in spans:  # what is above comes before
        assert all(child.parent == span and child in spans for child in span.children)
        assert span.depth == (0 if span.parent is None else span.parent.depth + 1)
        assert sum(set(span.tokens) <= set(other.tokens) for other in seen) >= span.depth
        seen.append(span)
    assert len(labelled(ctree, set(ctree.labels), nested=True)) == len(ctree.labels)
    assert labelled(ctree, set(ctree.labels)) == ([ctree.root] if ctree.labels else [])


def test_parts_of_a_tree_have_spans_that_can_be_in_sets() -> None:
    part = Constituents(TREE).below(TREE.root - 1)
    assert len({*spans_of(part.ctree, source=part.source)}) == len(part.ctree.labels)


def test_parts_of_a_tree_keep_what_a_file_says_of_them() -> None:
    tokens = Tokens(("wake", "me", "up"), ("V", "N", "P"), ("wake", "I", "up"), ("Mood=Imp", "_", ""), ("x",))
    gap = replace(GAP, tokens=tokens, functions=("HD", "OA", "SVP", "OC", "--"))
    part = Constituents(replace(gap, secondary=((2, "MO", 3), (1, "SB", 3)))).below(3).ctree
    assert part.tokens == Tokens(("wake", "up"), ("V", "P"), ("wake", "up"), ("Mood=Imp", ""))
    assert part.tokens.comments == () and part.functions == ("HD", "SVP", "OC")
    assert part.secondary == ((1, "MO", 2),)


@given(graphs())
def test_the_part_that_is_all_of_a_tree(ctree: CTree) -> None:
    whole = Constituents(ctree).below(ctree.root).ctree
    assert beside(whole) == beside(replace(ctree, top=None))
