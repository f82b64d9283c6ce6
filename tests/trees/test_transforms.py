"""Punctuation, gaps and traces: properties over random trees, and cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.conventions import EMPTY_TAG, remove_empty, strip_function
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from d2c.trees.formats.registry import read_treebank
from d2c.trees.traces import resolve_traces
from d2c.trees.transforms import collapse, merge_gaps, move_punctuation, raise_gaps, split_gaps
from tests.steps import is_linear
from tests.strategies import ctrees


def parse(text: str) -> CTree:
    return parse_discbracket(text)


@st.composite
def with_traces(draw: st.DrawFn) -> CTree:
    """Trees some of whose words are traces, and some of whose labels have indices."""
    ctree = draw(ctrees())
    forms, tags = list(ctree.tokens.forms), list(ctree.tokens.tags)
    for i in range(len(forms)):
        if draw(st.booleans()):
            kinds = ("*", "*T*", "*T*-1", "*T*-2", "*ICH*-2", "*RNR*-1", "*EXP*", "0")
            forms[i], tags[i] = draw(st.sampled_from(kinds)), EMPTY_TAG
    indices = st.sampled_from(("", "-1", "-2", "=1", "-2=1", "-1-SBJ"))
    labels = tuple(label + draw(indices) for label in ctree.labels)
    tokens = replace(ctree.tokens, forms=tuple(forms), tags=tuple(tags))
    return replace(ctree, tokens=tokens, labels=labels, head_children=None)


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
def test_heads_are_split_and_merged(ctree: CTree) -> None:
    """Each node has a part with its head; the words on the way to the root's head keep their nodes."""
    parts, n = split_gaps(ctree), len(ctree.tokens)
    found = zip((label.partition("*")[0] for label in parts.labels), parts.lexical_heads()[n:], strict=True)
    assert not Counter(zip(ctree.labels, ctree.lexical_heads()[n:], strict=True)) - Counter(found)
    merged = merge_gaps(parts)
    assert merged.lexical_heads()[merged.root] == ctree.lexical_heads()[ctree.root]
    assert merged == ctree or not ctree.is_continuous()


def test_heads_of_parts() -> None:
    ctree = parse("(S (VP (N 0=a) (V 2=c)) (A 1=b) (B 3=d))")
    assert split_gaps(replace(ctree, head_children=(2, 4))).lexical_heads()[4:] == [0, 2, 2]
    assert split_gaps(replace(ctree, head_children=(2, 1))).lexical_heads()[4:] == [0, 2, 1]
    for heads in ((2, 4), (0, 4), (0, 1)):
        headed = replace(ctree, head_children=heads)
        assert merge_gaps(split_gaps(headed)) == headed


@given(ctrees())
def test_raising_and_lowering_again_keep_tokens_and_order(ctree: CTree) -> None:
    bare = replace(ctree, head_children=None)
    assert raise_gaps(merge_gaps(split_gaps(bare))) == raise_gaps(bare)
    assert raise_gaps(raise_gaps(ctree)) == raise_gaps(ctree)
    assert merge_gaps(raise_gaps(bare)).tokens == split_gaps(bare).tokens == ctree.tokens


@given(with_traces())
def test_resolving_traces_and_deleting_them_keep_tokens_and_order(ctree: CTree) -> None:
    resolved, deleted = resolve_traces(ctree), remove_empty(ctree)
    assert (resolved is None) == (deleted is None)
    if resolved is None or deleted is None:
        return
    words = [form for form, tag in zip(*_columns(ctree), strict=True) if tag != EMPTY_TAG]
    assert resolved.tokens == deleted.tokens and list(resolved.tokens.forms) == words
    assert remove_empty(resolved) == resolved and resolve_traces(resolved) == resolved
    for tree in (resolved, raise_gaps(resolved)):  # each constituent over words is there once, or never
        assert not Counter(tree.labels) - Counter(map(strip_function, ctree.labels))
    assert raise_gaps(resolved).tokens == resolved.tokens
    unmoved = replace(ctree, labels=tuple(map(strip_function, ctree.labels)))
    if not any(label.endswith(("1", "2", "SBJ")) for label in ctree.labels):
        assert resolved.yields() == (remove_empty(unmoved) or unmoved).yields()


def _columns(ctree: CTree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return ctree.tokens.forms, ctree.tokens.tags


@given(ctrees())
def test_moving_punctuation_keeps_words_where_they_are(ctree: CTree) -> None:
    marks = {"w1": ",", "w2": "``", "w5": "."}
    forms = tuple(marks.get(form, form) for form in ctree.tokens.forms)
    ctree = replace(ctree, tokens=replace(ctree.tokens, forms=forms))
    moved = move_punctuation(ctree)
    assert moved.tokens == ctree.tokens and sorted(moved.labels) == sorted(ctree.labels)
    words = {i for i, form in enumerate(ctree.tokens.forms) if form not in marks.values()}
    spans = [
        sorted((label, tuple(words.intersection(below))) for label, below in zip(t.labels, y, strict=True))
        for t, y in ((t, t.yields()[len(t.tokens) :]) for t in (ctree, moved))
    ]
    assert spans[0] == spans[1]
    assert move_punctuation(moved) == moved
    assert moved.is_continuous() or not ctree.is_continuous()


def test_marks_hang_from_what_covers_their_neighbours() -> None:
    ctree = parse("(TOP (S (NP (N 0=a) (N 2=b)) (V 4=c) (A 5=d)) (P 1=,) (P 3=,) (P 6=,))")
    moved = move_punctuation(ctree)
    assert format_discbracket(moved) == (
        "(TOP (S (NP (N 0=a) (P 1=,) (N 2=b)) (P 3=,) (V 4=c) (A 5=d)) (P 6=,))"
    )
    quoted = parse("(VROOT (S (N 0=er) (V 1=nennt) (NP 2=das 4=Wunder)) (Q 3=``) (P 5=.))")
    assert move_punctuation(quoted).is_continuous()
    only = parse("(TOP (P 0=.) (P 1=.))")
    assert move_punctuation(only) == only


def test_many_marks_between_deep_words_take_linear_time() -> None:
    def move(n: int) -> None:
        depth, forms = 3 * n, ("a", *[","] * n, "b")
        rows = [(0,), *((n + 1 + k,) for k in range(1, depth)), (n + 1 + depth, *range(1, n + 2))]
        ctree = CTree(Tokens(forms, forms), ("X",) * len(rows), tuple(rows))
        assert move_punctuation(ctree) == ctree

    move(3_000)
    assert is_linear(move, 100)


def test_raised_blocks_are_those_without_the_head() -> None:
    ctree = parse("(S (VP (V 0=a) (P 2=c) (Q 3=d)) (N 1=b))")
    assert format_discbracket(raise_gaps(ctree)) == "(S (V 0=a) (N 1=b) (VP (P 2=c) (Q 3=d)))"
    headed = replace(ctree, head_children=(0, 4))
    assert format_discbracket(raise_gaps(headed)) == "(S (VP (V 0=a)) (N 1=b) (P 2=c) (Q 3=d))"
    assert format_discbracket(split_gaps(ctree)) == "(S (VP*1 (V 0=a)) (N 1=b) (VP*2 (P 2=c) (Q 3=d)))"
    with pytest.raises(ValueError, match="a label ends in"):
        split_gaps(split_gaps(ctree))


@given(ctrees(), st.data())
def test_nodes_that_are_not_collapsed_keep_label_and_yield(ctree: CTree, data: st.DataObject) -> None:
    n, nodes = len(ctree.tokens), len(ctree.labels)
    kept = data.draw(st.lists(st.booleans(), min_size=nodes, max_size=nodes))
    less = collapse(ctree, kept)
    stays = [*kept[:-1], True] if nodes else []
    for of_old, of_new in ((ctree.labels, less.labels), (ctree.yields()[n:], less.yields()[n:])):
        assert list(of_new) == [value for value, stay in zip(of_old, stays, strict=True) if stay]
    if ctree.head_children is not None:
        heads = [head for head, stay in zip(ctree.lexical_heads()[n:], stays, strict=True) if stay]
        assert less.lexical_heads()[n:] == heads
    assert less == build_ctree(
        *(less.tokens, less.labels, less.children, less.root, less.head_children, ctree.top)
    )


def test_children_of_a_collapsed_node_stand_in_its_place() -> None:
    ctree = parse("(TOP (S (NP (X (D 1=b) (N 2=c)) (PP (P 4=e))) (V 0=a) (A 3=d)))")
    labels = list(ctree.labels)
    assert labels == ["X", "PP", "NP", "S"]
    kept = [[label == one for label in labels] for one in ("X", "NP", "")]
    shown = [format_discbracket(collapse(ctree, some)) for some in kept]
    assert shown == [
        "(TOP (S (V 0=a) (X (D 1=b) (N 2=c)) (A 3=d) (P 4=e)))",
        "(TOP (S (V 0=a) (NP (D 1=b) (N 2=c) (P 4=e)) (A 3=d)))",
        "(TOP (S (V 0=a) (D 1=b) (N 2=c) (A 3=d) (P 4=e)))",
    ]
    assert collapse(ctree, [True, True, True, False]) == ctree


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


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        # The index before another tag, and before an index of gapping.
        (
            "(S (NP (DT a) (S-TTL-3 (-NONE- *ICH*))) (VP (VB is)) (S-TTL-3-FRM (NN x)))",
            "(S (NP (DT 0=a) (S (NN 2=x))) (VP (VB 1=is)))",
        ),
        (
            "(S (NP (DT a) (NP-2 (-NONE- *ICH*))) (VP (VB is)) (NP-2=4 (NN x)))",
            "(S (NP (DT 0=a) (NP (NN 2=x))) (VP (VB 1=is)))",
        ),
        # An index of gapping is no antecedent of the trace -1; CRAFT has =1 on both once or twice.
        (
            "(S (NP=1 (NN a)) (VP (VB b) (NP-1 (-NONE- *T*))))",
            "(S (NP (NN 0=a)) (VP (VB 1=b)))",
        ),
        (
            "(S (NP (A a) (NP=1 (-NONE- *RNR*))) (C and) (NP (B b) (NP=1 (-NONE- *RNR*))) (NP=1 (N x)))",
            "(S (NP (A 0=a) (NP (N 3=x))) (C 1=and) (NP (B 2=b)))",
        ),
        # An antecedent without words, a trace without index, one beside words.
        ("(S (WHNP-1 (-NONE- 0)) (S (NP-1 (-NONE- *T*)) (VB is)))", "(S (S (VB 0=is)))"),
        ("(S (WHNP-1 (WP who)) (S (NP (-NONE- *T*)) (VB is)))", "(S (WHNP (WP 0=who)) (S (VB 1=is)))"),
        ("(S (NP (CD one) (-NONE- *T*)) (NP-1 (NN x)))", "(S (NP (CD 0=one)) (NP (NN 1=x)))"),
        # Subjects of relative clauses move over nothing: no gap.
        (
            "(NP (NP (N a)) (SBAR (WHNP-1 (WDT that)) (S (NP-SBJ-1 (-NONE- *T*)) (VP (V is)))))",
            "(NP (NP (N 0=a)) (SBAR (S (WHNP (WDT 1=that)) (VP (V 2=is)))))",
        ),
    ],
)
def test_indices_of_traces(text: str, resolved: str) -> None:
    assert resolve_traces(parse_bracket(f"(TOP {text})")) == parse(f"(TOP {resolved})")


def test_traces_of_historical_treebanks(tmp_path: Path) -> None:
    path = tmp_path / "x.psd"
    path.write_text(
        "( (IP-MAT (NP-SBJ (D-N sá-sá) (N-N maður-maður) (CP-REL *ICH*-2)) (CODE {x}) (VBDI kom-koma)\n"
        "  (CP-REL-2 (WNP-1 0) (C er-er) (IP-SUB (NP-SBJ *T*-1) (RP út-út) (VBDI fór-fara)))) (ID X,.1))\n"
        "( (CP-QUE (WNP-1 (WPRO-A hvað-hvað)) (IP-SUB (VBDI sá-sjá) (NP-OB1 *T*-1*)) (. ?-?)))\n"
        "( (CODE x) (ID X,.2))\n"
    )
    expected = [
        "(TOP (IP-MAT (NP-SBJ (D-N 0=sá) (N-N 1=maður) (CP-REL (C 3=er) (IP-SUB (RP 4=út) (VBDI 5=fór)))) "
        "(VBDI 2=kom)))",
        "(TOP (CP-QUE (IP-SUB (WNP (WPRO-A 0=hvað)) (VBDI 1=sá)) (. 2=?)))",
    ]
    assert [format_discbracket(tree) for tree in read_treebank(path, traces=True)] == expected
    assert all(tree.is_continuous() for tree in read_treebank(path, clean=True))
    assert [tree.tokens.lemmas for tree in read_treebank(path, traces=True)] == [
        tree.tokens.lemmas for tree in read_treebank(path, clean=True)
    ]
