"""Encodings: decode(encode(t)) is t, on random trees and on a real treebank; and labels by hand."""

from __future__ import annotations

import pytest
from hypothesis import given

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, build_ctree, canonical
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.heads import load_head_rules
from d2c.trees.labels import quote, unquote_symbol
from d2c.trees.repair import Repairs
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.shapes import SYMBOLS, ctrees, tokens_of
from tests.treebanks import TREEBANKS, needs_treebanks

encode_direct, encode_delta, encode_spine = (ENCODINGS[name].encode for name in ("direct", "delta", "spine"))


def round_trip(route: Reduction, ctree: CTree) -> CTree:
    """The tree after encoding and decoding, gold unary chains given back unless labels carry them."""
    repairs = Repairs()
    route.top_ = ctree.top
    dtree = route.encode(ctree)
    back = canonical(route.decode(dtree, repairs))
    assert not repairs.counts.total()
    if ENCODINGS[route.encoding].carries_unaries:
        return back
    return restore_unaries(back, strip_unaries(canonical(ctree))[1])


@given(ctrees())
def test_direct_round_trip(ctree: CTree) -> None:
    assert round_trip(Reduction("direct", continuous=False), ctree) == ctree


@given(ctrees(gaps=False))
def test_delta_round_trip(ctree: CTree) -> None:
    assert round_trip(Reduction("delta"), ctree) == ctree


@given(ctrees())
def test_spine_round_trip(ctree: CTree) -> None:
    assert round_trip(Reduction("spine", continuous=False), ctree) == ctree


@needs_treebanks
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_craft_dev_round_trip(encoding: str) -> None:
    rules = load_head_rules("collins")
    route = Reduction(encoding)
    count = 0
    for ctree in read_brackets(TREEBANKS / "craft-dev.mrg.gz", clean=True):
        headed = rules.apply(ctree)
        assert round_trip(route, headed) == headed
        count += 1
    assert count == 2872


TREE = "(TOP (S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS hats)))) (. .)))"


def test_labels_by_hand() -> None:
    ctree = load_head_rules("collins").apply(parse_bracket(TREE))
    heads = (2, 0, 4, 2, 2, 5, 2)
    direct, delta, spine = encode_direct(ctree), encode_delta(ctree), encode_spine(ctree)
    assert direct.heads == delta.heads == spine.heads == heads
    assert direct.labels == ("S#2", "root", "NP#1", "VP#1", "VP#1", "PP#1", "S#2")
    assert delta.labels == ("S#2", "root", "NP#1", "VP#1", "VP#0", "PP#1", "S#1")
    assert spine.labels == ("NP#2", "root|VP|S", "#1", "NP#1", "PP#1", "NP#1", "#2")


def test_deltas_of_the_papers_footnote() -> None:
    """#1 #3 #4 to the left and #2 #3 #3 #5 to the right are written #1 #2 #1 and #2 #1 #0 #2."""
    events = {1: [2], 2: [4], 3: [1, 5, 6], 4: [0], 5: [7]}  # the head is token 3
    labels, children, heads, node = [], [], [], 3
    for event, modifiers in sorted(events.items()):
        labels.append(f"E{event}")
        children.append([node, *modifiers])
        heads.append(node)
        node = 8 + len(labels) - 1
    dtree = encode_delta(build_ctree(tokens_of(8), labels, children, node, heads))
    assert dtree.labels is not None
    assert [label[-2:] for label in dtree.labels[2::-1]] == ["#1", "#2", "#1"]
    assert [label[-2:] for label in dtree.labels[4:]] == ["#2", "#1", "#0", "#2"]


def test_delta_refuses_gaps() -> None:
    ctree = build_ctree(tokens_of(3), ["A", "B"], [[0, 2], [3, 1]], 4, [0, 3])
    with pytest.raises(ValueError, match="the delta encoding takes continuous trees only"):
        encode_delta(ctree)


def test_symbols_are_quoted() -> None:
    assert [quote(symbol) for symbol in ("NP", "ADVP|PRT", "X#1", "a:b", "50%", "")] == [
        *("NP", "ADVP%7CPRT", "X%231", "a%3Ab", "50%25", "%")
    ]
    assert [unquote_symbol(quote(symbol)) for symbol in (*SYMBOLS, "")] == [*SYMBOLS, ""]


@given(ctrees())
def test_conllu_has_one_root_labelled_root(ctree: CTree) -> None:
    for encoding in ("direct", "spine"):
        rows = [row.split("\t") for row in format_conllu(Reduction(encoding).encode(ctree)).split("\n")[:-2]]
        assert [row[0] for row in rows] == [str(i) for i in range(1, len(rows) + 1)]
        assert {len(row) for row in rows} == {10}
        assert [row[7].split("|")[0] for row in rows if row[6] == "0"] == ["root"]
