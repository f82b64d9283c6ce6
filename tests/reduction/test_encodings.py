"""The three encodings: exact labels on trees drawn by hand, and everything comes back from its labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.encodings.encoding import Order
from d2c.reduction.encodings.spine import read_spine_label
from d2c.reduction.reduction import Reduction
from d2c.trees.conversion import to_constituents
from d2c.trees.ctree import CTree, Tokens, build_ctree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.labels import quote, read_label, unquote_symbol, write_label
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.shapes import ctrees

HEADS = load_head_rules("collins")
DIRECT, DELTA, SPINE = ENCODINGS["direct"], ENCODINGS["delta"], ENCODINGS["spine"]
encode_direct, encode_delta, encode_spine = DIRECT.encode, DELTA.encode, SPINE.encode
decode_direct, decode_delta, decode_spine = DIRECT.decode, DELTA.decode, SPINE.decode
AWKWARD = ("", "%", "root", "root|S", "A|B", "A#1", "A:b", "a b", "a\u00a0b", "%23", "50%", "é", "||", "#")
symbols = st.sampled_from(AWKWARD) | st.text(max_size=6)


def tokens(n: int) -> Tokens:
    return Tokens(tuple(f"w{i}" for i in range(n)), ("T",) * n)


def side_tree() -> CTree:
    """A head with the events 1 3 4 from it to the left and 2 3 3 5 from it to the right."""
    # tokens: l4 l3 l1 h r2 r3a r3b r5
    children = [(2, 3), (8, 4), (1, 9, 5, 6), (0, 10), (11, 7)]
    return build_ctree(tokens(8), list("ABCDE"), children, 12, [3, 8, 9, 10, 11])


def gapped_tree() -> CTree:
    """S over VP (tokens 0 and 2) and token 1."""
    return build_ctree(tokens(3), ["VP", "S"], [(0, 2), (3, 1)], 4, [0, 3])


def headed(text: str) -> CTree:
    return HEADS.apply(parse_bracket(text))


THEY_SLEPT = "(TOP (S (NP (PRP They)) (VP (VBD slept)) (. .)))"
EARLY = "(TOP (S (NP (PRP She)) (VP (VP (VBD ate) (NP (NN rice))) (ADVP (RB early))) (. .)))"


def test_direct_labels() -> None:
    dtree = encode_direct(headed(EARLY))
    assert dtree.heads == (2, 0, 2, 2, 2)
    assert dtree.labels == ("S#3", "root", "VP#1", "VP#2", "S#3")


def test_delta_labels() -> None:
    dtree = encode_delta(headed(EARLY))
    assert dtree.labels == ("S#3", "root", "VP#1", "VP#1", "S#1")


def test_spine_labels() -> None:
    dtree = encode_spine(headed(EARLY))
    assert dtree.heads == (2, 0, 2, 2, 2)
    assert dtree.labels == ("NP#3", "root|VP|VP|S", "NP#1", "ADVP#2", "#3")


def test_unary_nodes_use_up_places_of_spines_but_no_events() -> None:
    ctree = headed(THEY_SLEPT)
    assert encode_direct(ctree).labels == ("S#1", "root", "S#1")
    assert encode_delta(ctree).labels == ("S#1", "root", "S#1")
    assert encode_spine(ctree).labels == ("NP#2", "root|VP|S", "#2")
    assert encode_spine(ctree).events == encode_direct(ctree).events == (1, 0, 1)


def test_the_spine_of_a_modifier_goes_from_the_tag_upwards() -> None:
    ctree = build_ctree(tokens(2), ["X1", "X2", "X3", "Z"], [(0,), (2,), (3,), (4, 1)], 5, [0, 2, 3, 1])
    assert encode_spine(ctree).labels == ("X1|X2|X3#1", "root|Z")


def test_the_differences_of_the_papers_footnote() -> None:
    direct, delta = encode_direct(side_tree()), encode_delta(side_tree())
    assert direct.labels == ("D#4", "C#3", "A#1", "root", "B#2", "C#3", "C#3", "E#5")
    assert delta.labels == ("D#1", "C#2", "A#1", "root", "B#2", "C#1", "C#0", "E#2")
    assert decode_delta(delta).events == [4, 3, 1, 0, 2, 3, 3, 5]


def test_one_token() -> None:
    bare, unary = build_ctree(tokens(1), [], [], 0, []), build_ctree(tokens(1), ["S"], [(0,)], 1, [0])
    assert [encode(bare).labels for encode in (encode_direct, encode_delta, encode_spine)] == [("root",)] * 3
    assert encode_direct(unary).labels == ("root",)
    assert encode_spine(unary).labels == ("root|S",)


def test_gaps() -> None:
    dtree = encode_direct(gapped_tree())
    assert (dtree.heads, dtree.labels) == ((0, 1, 1), ("root", "S#2", "VP#1"))
    with pytest.raises(ValueError, match="continuous trees only"):
        encode_delta(gapped_tree())


@pytest.mark.parametrize("encode", [encode_direct, encode_delta, encode_spine])
def test_head_children_are_needed(encode: object) -> None:
    with pytest.raises(ValueError, match="no head children"):
        encode(parse_bracket(THEY_SLEPT))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("NP", "NP"),
        ("", "%"),
        ("%", "%25"),
        ("ADVP|PRT", "ADVP%7CPRT"),
        ("X#1", "X%231"),
        ("a:b", "a%3Ab"),
        ("a b", "a%20b"),
        ("a\tb", "a%09b"),
        ("a\u00a0b", "a%C2%A0b"),
        ("é", "é"),
        ("-LRB-", "-LRB-"),
    ],
)
def test_quoting(symbol: str, text: str) -> None:
    assert quote(symbol) == text
    assert unquote_symbol(text) == symbol
    assert write_label(symbol, 12) == f"{text}#12"
    assert read_label(f"{text}#12") == (symbol, 12)
    assert read_spine_label(f"{text}|{text}#12") == ((symbol, symbol), 12)


@pytest.mark.parametrize(
    ("label", "read", "spine"),
    [
        ("root", (None, -1), ((), -1)),
        ("root|S|VP", (None, -1), (("S", "VP"), -1)),
        ("root|S#2", ("root|S", 2), (("root", "S"), 2)),
        ("#2", (None, 2), ((), 2)),
        ("nsubj", (None, -1), (None, -1)),
        ("", (None, -1), (None, -1)),
        ("S#x", ("S", -1), (None, -1)),
        ("S#-1", ("S", -1), (None, -1)),
        ("S#1#2", ("S", -1), (None, -1)),
        ("S#0", ("S", 0), (("S",), 0)),
        ("S#999999", ("S", 999999), (("S",), 999999)),
        ("S#1000000", ("S", -1), (None, -1)),
        ("S#１", ("S", -1), (None, -1)),
    ],
)
def test_reading_labels(label: str, read: object, spine: object) -> None:
    assert read_label(label) == read
    assert read_spine_label(label) == spine


@given(symbols, st.integers(0, 999_999))
def test_labels_are_read_as_written(symbol: str, number: int) -> None:
    label = write_label(symbol, number)
    assert read_label(label) == (symbol, number)
    assert label.count("#") == 1
    assert not any(c in "|:" or c.isspace() for c in label)


@given(st.lists(symbols, max_size=4), st.integers(0, 20))
def test_spine_labels_are_read_as_written(spine: list[str], number: int) -> None:
    quoted = "|".join(map(quote, spine))
    assert read_spine_label(f"{quoted}#{number}") == (tuple(spine), number)
    assert read_spine_label("|".join(["root", *map(quote, spine)])) == (tuple(spine), -1)


def _unaryless(dtree: DTree, decoded: Order, top: str | None) -> CTree:
    root = dtree.heads.index(0)
    names, events, _ = decoded
    names[root], events[root] = "", 0
    return canonical(
        to_constituents(DTree(dtree.tokens, dtree.heads, tuple(map(str, names)), tuple(events)), top)
    )


@given(ctrees())
def test_direct_round_trip(ctree: CTree) -> None:
    unaryless, chains = strip_unaries(canonical(ctree))
    dtree = encode_direct(ctree)
    back = _unaryless(dtree, decode_direct(dtree), ctree.top)
    assert back == unaryless
    assert restore_unaries(back, chains) == ctree


@given(ctrees(gaps=False))
def test_delta_round_trip(ctree: CTree) -> None:
    unaryless, chains = strip_unaries(canonical(ctree))
    dtree = encode_delta(ctree)
    assert dtree.is_projective() and encode_direct(ctree).is_nested()
    assert decode_delta(dtree).events == list(encode_direct(ctree).events or ())
    back = _unaryless(dtree, decode_delta(dtree), ctree.top)
    assert back == unaryless
    assert restore_unaries(back, chains) == ctree


@given(ctrees())
def test_spine_round_trip_with_unaries(ctree: CTree) -> None:
    dtree = encode_spine(ctree)
    order = decode_spine(dtree)
    assert order.spines is not None
    unaryless = _unaryless(dtree, order, ctree.top)
    root = dtree.heads.index(0)
    events = tuple(0 if m == root else event for m, event in enumerate(order.events))
    ordered = DTree(dtree.tokens, dtree.heads, dtree.symbols, events)
    assert restore_unaries(unaryless, SPINE.chains(ordered, unaryless, order.spines)) == ctree


@given(ctrees(gaps=True))
def test_delta_takes_exactly_the_trees_without_gaps(ctree: CTree) -> None:
    if ctree.is_continuous():
        assert encode_delta(ctree).heads == encode_direct(ctree).heads
    else:
        with pytest.raises(ValueError, match="continuous trees only"):
            encode_delta(ctree)


@given(ctrees(), st.sampled_from(["direct", "spine"]))
def test_the_route_needs_no_repair(ctree: CTree, encoding: str) -> None:
    route = Reduction(encoding, continuous=False)
    route.top_ = ctree.top
    if encoding == "spine":
        assert route.decode(route.encode(ctree)) == ctree
    else:
        assert route.decode(route.encode(ctree)) == strip_unaries(ctree)[0]


def test_a_phrase_symbol_may_be_called_root() -> None:
    ctree = build_ctree(tokens(3), ["root", "S"], [(1, 2), (0, 3)], 4, [1, 0])
    assert encode_spine(ctree).labels == ("root|S", "root#1", "#1")
    nested = build_ctree(tokens(3), ["root", "NP", "S"], [(1, 2), (3,), (0, 4)], 5, [1, 3, 0])
    route = Reduction("spine")
    route.top_ = None
    assert encode_spine(nested).labels == ("root|S", "root|NP#1", "#1")
    assert route.decode(route.encode(nested)) == nested
