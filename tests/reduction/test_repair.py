"""Each kind of repair on a case worked out by hand: the exact tree and the exact counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.reduction.repair import DISAGREEING, NOT_NESTED, UNKNOWN_SYMBOL, UNREADABLE
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.repair import CROSSING, CYCLE, EXTRA_ROOT, HEAD_OUTSIDE, Repairs
from tests.shapes import ctrees

DEFAULTS = {"A": "XA", "B": "XB", "": "X"}
KNOWN = frozenset(("S", "NP", "VP", "PP", "X", "XA", "XB"))


def decode(
    heads: tuple[int, ...],
    labels: str | None,
    *,
    tags: str | None = None,
    encoding: str = "direct",
    continuous: bool = True,
    fitted: bool = True,
) -> tuple[CTree, dict[str, int]]:
    """The tree over the tokens a b c ... and what was counted."""
    n = len(heads)
    tokens = Tokens(tuple("abcdefgh"[:n]), tuple(tags or "T" * n))
    route = Reduction(encoding, continuous=continuous)
    route.top_ = None
    if fitted:
        route.symbols_, route.default_symbols_ = KNOWN, DEFAULTS
    repairs = Repairs()
    ctree = route.decode(
        DTree(tokens, heads, labels=None if labels is None else tuple(labels.split())), repairs
    )
    assert (repairs.sentences, repairs.tokens) == (1, n)
    return ctree, {kind: count for kind, count in repairs.counts.items() if count}


def bracketed(*arguments: object, **options: object) -> tuple[str, dict[str, int]]:
    """The tree in brackets without its tags T."""
    ctree, counts = decode(*arguments, **options)  # type: ignore[arg-type]
    text = format_bracket(ctree)
    for word, tag in zip(ctree.tokens.forms, ctree.tokens.tags, strict=True):
        text = text.replace(f"({tag} {word})", word)
    return text, counts


def test_nothing_to_repair() -> None:
    assert bracketed((2, 0, 2, 2), "S#2 root VP#1 S#2") == ("(S a (VP b c) d)", {})


def test_gaps_between_events_are_no_error() -> None:
    assert bracketed((2, 0, 2, 2), "S#7 root VP#3 S#7") == ("(S a (VP b c) d)", {})


def test_one_event_takes_the_symbol_of_the_closest_modifier() -> None:
    assert bracketed((0, 1, 1), "root VP#1 S#1") == ("(VP a b c)", {DISAGREEING: 1})
    assert bracketed((3, 3, 0), "S#1 NP#1 root") == ("(NP a b c)", {DISAGREEING: 1})


def test_of_two_equally_close_modifiers_the_left_one_decides() -> None:
    assert bracketed((2, 0, 2), "S#1 root VP#1") == ("(S a b c)", {DISAGREEING: 1})


def test_every_modifier_that_gives_way_is_counted() -> None:
    labels = "S#1 root VP#1 NP#1 S#1"
    assert bracketed((2, 0, 2, 2, 2), labels) == ("(S a b c d e)", {DISAGREEING: 2})


def test_the_event_of_a_closer_modifier_is_lowered_as_far_as_nesting_demands() -> None:
    # Events 3 and 1 to the right: the closer one falls to 1, and then both share an event.
    assert bracketed((0, 1, 1), "root VP#3 VP#1") == ("(VP a b c)", {NOT_NESTED: 1})
    assert bracketed((0, 1, 1), "root S#3 VP#1") == ("(S a b c)", {NOT_NESTED: 1, DISAGREEING: 1})


def test_nesting_comes_before_agreement() -> None:
    # As printed in section 4.3, d would first take b's symbol, with which it shares event 2.
    labels = "root VP#2 NP#1 S#2"
    assert bracketed((0, 1, 1, 1), labels) == ("(S (VP a b c) d)", {NOT_NESTED: 1, DISAGREEING: 1})


def test_lowering_goes_no_further() -> None:
    # Events 1 4 2 3 from the head outward: only 4 falls, to 2.
    labels = "root VP#1 NP#4 NP#2 S#3"
    assert bracketed((0, 1, 1, 1, 1), labels) == ("(S (NP (VP a b) c d) e)", {NOT_NESTED: 1})


def test_lowering_reaches_all_closer_modifiers() -> None:
    labels = "root S#3 S#4 S#2"
    assert bracketed((0, 1, 1, 1), labels) == ("(S a b c d)", {NOT_NESTED: 2})


def test_sides_are_nested_apart_and_to_the_left_as_well() -> None:
    # Left of c, outward: 2 (b) 1 (a). Right of it: 1 (d).
    assert bracketed((3, 3, 0, 3), "S#1 S#2 root S#1") == ("(S a b c d)", {NOT_NESTED: 1})


def test_without_continuity_orders_are_left_as_they_are() -> None:
    ctree, counts = decode((0, 1, 1), "root S#2 VP#1", continuous=False)
    assert (ctree.labels, ctree.children, counts) == (("VP", "S"), ((0, 2), (3, 1)), {})


def test_a_crossing_arc_is_lifted_and_joins_the_event_that_it_leaves() -> None:
    # c is the root, b its modifier; a hangs from d across both b and c. Lifted to c, it takes d's label.
    assert bracketed((4, 3, 0, 3), "NP#5 VP#1 root S#2") == ("(S a (VP b c) d)", {CROSSING: 1})


def test_a_crossing_arc_is_lifted_no_higher_than_needed() -> None:
    # e hangs from b across d, which hangs from a; c from b does not cross. e goes to a, beside b's event.
    assert bracketed((0, 1, 2, 1, 2), "root S#2 NP#1 S#2 PP#1") == ("(S a (NP b c) d e)", {CROSSING: 1})


def test_without_continuity_crossing_arcs_stay() -> None:
    ctree, counts = decode((4, 3, 0, 3), "NP#1 VP#1 root S#2", continuous=False)
    assert ctree.labels == ("NP", "VP", "S")
    assert ctree.yields()[4:] == [(0, 3), (1, 2), (0, 1, 2, 3)]
    assert counts == {}


def test_further_roots_hang_from_the_first() -> None:
    labels = "root S#1 root"
    # The second root's label says no event: it joins that of the modifier before it.
    assert bracketed((0, 1, 0), labels) == ("(S a b c)", {EXTRA_ROOT: 1, UNREADABLE: 1})
    assert bracketed((0, 0, 0), "root S#1 S#2") == ("(S (S a b) c)", {EXTRA_ROOT: 2})


def test_the_first_token_of_a_cycle_hangs_from_the_root() -> None:
    assert bracketed((0, 3, 2), "root S#1 NP#1") == ("(S a (NP b c))", {CYCLE: 1})


def test_a_cycle_without_any_root_becomes_one() -> None:
    assert bracketed((2, 3, 1), "S#1 VP#1 NP#1") == ("(NP a (VP b c))", {CYCLE: 1})


def test_heads_outside_the_sentence() -> None:
    assert bracketed((0, 9, -1), "root S#1 S#2") == ("(S (S a b) c)", {HEAD_OUTSIDE: 2})


def test_a_token_that_is_its_own_head_counts_as_outside() -> None:
    assert bracketed((0, 2), "root S#1") == ("(S a b)", {HEAD_OUTSIDE: 1})


def test_without_any_root_the_first_stray_token_is_it() -> None:
    assert bracketed((7, 1, 7), "S#3 S#1 NP#2") == ("(NP (S a b) c)", {HEAD_OUTSIDE: 2})


def test_labels_of_another_treebank() -> None:
    # Nothing says symbol or event: event 1 and the commonest symbol of the head's tag.
    for label in ("nsubj", "dep", "ROOT", "root", "_", "", "#", "S#x"):
        heads, labels = (2, 0), (label, "root")
        route = Reduction()
        route.symbols_, route.default_symbols_ = KNOWN, DEFAULTS
        repairs = Repairs()
        ctree = route.decode(DTree(Tokens(("a", "b"), ("A", "B")), heads, labels=labels), repairs)
        assert ctree.labels == (("S",) if label == "S#x" else ("XB",)), label
        assert dict(+repairs.counts) == {UNREADABLE: 1}, label


def test_an_unreadable_event_is_that_of_the_next_modifier_towards_the_head() -> None:
    assert bracketed((0, 1, 1, 1), "root VP#1 S#2 S#x") == ("(S (VP a b) c d)", {UNREADABLE: 1})


def test_an_unreadable_symbol_takes_that_of_its_event() -> None:
    assert bracketed((0, 1, 1), "root nsubj VP#1") == ("(VP a b c)", {UNREADABLE: 1})


def test_event_zero_is_unreadable() -> None:
    assert bracketed((0, 1), "root S#0") == ("(S a b)", {UNREADABLE: 1})


def test_no_labels_at_all() -> None:
    assert bracketed((2, 0, 2), None, tags="ABA") == ("(XB a b c)", {UNREADABLE: 2})
    assert bracketed((2, 0, 2), None, tags="TTT") == ("(X a b c)", {UNREADABLE: 2})


def test_symbols_that_the_treebank_does_not_have() -> None:
    assert bracketed((2, 0), "QQ#1 root", tags="AB") == ("(XB a b)", {UNKNOWN_SYMBOL: 1})
    assert bracketed((2, 0), "QQ#1 root", fitted=False) == ("(QQ a b)", {})
    assert bracketed((2, 0, 2), "QQ#1 root S#1") == ("(S a b c)", {UNKNOWN_SYMBOL: 1})


def test_the_empty_symbol_is_unknown_too() -> None:
    assert bracketed((2, 0), "%#1 root", tags="AB") == ("(XB a b)", {UNKNOWN_SYMBOL: 1})


def test_an_unknown_symbol_beside_an_unreadable_event_is_not_used() -> None:
    assert bracketed((2, 0), "QQ#x root", tags="AB") == ("(XB a b)", {UNREADABLE: 1})


def test_deltas() -> None:
    assert bracketed((0, 1, 1, 1), "root VP#1 S#1 S#0", encoding="delta") == ("(S (VP a b) c d)", {})
    # An unreadable delta leaves the sum as it is.
    labels = "root VP#1 nsubj S#1"
    assert bracketed((0, 1, 1, 1), labels, encoding="delta") == ("(S (VP a b c) d)", {UNREADABLE: 1})
    # A first delta of 0 gives no event.
    assert bracketed((0, 1), "root S#0", encoding="delta") == ("(S a b)", {UNREADABLE: 1})


def test_deltas_are_read_along_the_repaired_tree() -> None:
    labels = "root VP#1 S#1"
    assert bracketed((0, 1, 0), labels, encoding="delta") == ("(S (VP a b) c)", {EXTRA_ROOT: 1})


def test_a_label_of_a_tree_with_gaps_that_is_made_continuous_counts_once() -> None:
    heads, labels = (3, 4, 0, 3), "%#1 X#1 root|S Y#1"
    counts = [
        decode(heads, labels, encoding="spine", continuous=one, fitted=False)[1] for one in (False, True)
    ]
    assert [one[UNREADABLE] for one in counts] == [1, 1]


def test_spines() -> None:
    assert bracketed((2, 0), "NP#2 root|VP|S", encoding="spine") == ("(S (NP a) (VP b))", {})
    # The head's spine has no third node.
    third = bracketed((2, 0), "NP#3 root|VP|S", encoding="spine", tags="AB")
    assert third == ("(XB (NP a) (S (VP b)))", {UNREADABLE: 1})
    # A spine with an unknown symbol says nothing.
    assert bracketed((2, 0), "QQ#1 root|S", encoding="spine") == ("(S a b)", {})


def test_spines_with_empty_symbols_say_nothing() -> None:
    for fitted in (True, False):
        for label in ("root||NP", "root|NP|", "root|%|NP"):
            assert bracketed((0,), label, encoding="spine", fitted=fitted) == ("a", {UNREADABLE: 1}), label
    assert bracketed((0, 1), "root|NP |#1", encoding="spine") == ("(NP a b)", {UNREADABLE: 1})


def test_empty_symbols_of_any_route_become_the_default() -> None:
    for encoding in ("direct", "delta"):
        assert bracketed((0, 1), "root %#1", encoding=encoding, fitted=False) == (
            "(X a b)",
            {UNKNOWN_SYMBOL: 1},
        )


def test_a_wrapper_made_by_labels_is_the_wrapper() -> None:
    """As in the file that is written: there a node VROOT over one child is no node."""
    route = Reduction("spine")
    route.top_ = None
    dtree = DTree(Tokens(("a",), ("A",)), (0,), labels=("root|NP|VROOT",))
    ctree = route.decode(dtree)
    assert (ctree.labels, ctree.top) == (("NP",), "VROOT")
    assert route.confidences(dtree) == (ctree, (1.0,))


def test_repairs_add_up() -> None:
    a, b = Repairs(), Repairs()
    a.tokens, a.sentences = 500, 1
    a.counts[CYCLE] = 2
    b.tokens, b.sentences = 1500, 3
    b.counts.update({CYCLE: 1, UNKNOWN_SYMBOL: 1})
    a.add(b)
    assert (a.tokens, a.sentences, a.counts) == (2000, 4, {CYCLE: 3, UNKNOWN_SYMBOL: 1})
    assert (a.per_thousand(), a.per_thousand(CYCLE), a.per_thousand(CROSSING)) == (2.0, 1.5, 0.0)
    assert Repairs().per_thousand() == 0.0


@given(ctrees(gaps=False), st.sampled_from(list(ENCODINGS)), st.booleans())
def test_well_formed_trees_count_nothing(ctree: CTree, encoding: str, continuous: bool) -> None:
    route, repairs = Reduction(encoding, continuous=continuous), Repairs()
    route.decode(route.encode(ctree), repairs)
    assert repairs.counts.total() == 0
    assert (repairs.sentences, repairs.tokens) == (1, len(ctree.tokens))


@given(ctrees(gaps=True), st.sampled_from(["direct", "spine"]))
def test_continuous_decoding_of_trees_with_gaps(ctree: CTree, encoding: str) -> None:
    route, repairs = Reduction(encoding, continuous=True), Repairs()
    decoded = route.decode(route.encode(ctree), repairs)
    assert decoded.is_continuous() and decoded.tokens == ctree.tokens
    assert (repairs.counts[CROSSING] + repairs.counts[NOT_NESTED] > 0) == (not ctree.is_continuous())
