"""Long sentences are cut where they can be best, and their trees joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.parsing.pieces import _after_mark, pieces_of, whole_of
from d2c.parsing.sentence import Sentence
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from tests.strategies import ctrees


def chained(sentences: Iterable[Tokens]) -> Iterator[DTree]:
    """Each word is the head of the next one, but for `new`, whose head is far to the left."""
    for tokens in sentences:
        yield DTree(tokens, tuple(1 if form == "new" else m for m, form in enumerate(tokens.forms)))


def none(sentences: Iterable[Tokens]) -> Iterator[DTree]:
    assert not [*sentences], "marks are enough"
    return iter(())


def words(text: str) -> Sentence:
    return Sentence(Tokens.untagged(text.split()), line=3)


def cut(text: str, most: int, arcs: object = none) -> list[str]:
    [pieces] = pieces_of([words(text)], most, arcs)  # type: ignore[arg-type]
    return [" ".join(piece.tokens.forms) for piece in pieces]


def test_a_piece_ends_after_the_likeliest_mark() -> None:
    assert cut("a " * 16, 16) == [("a " * 16).strip()]
    a, b = "a " * 7, "b " * 9
    assert cut(f"{a}. {b}", 16) == [f"{a}.", b.strip()]
    assert cut(f"{a}, ; {b}", 16) == [f"{a}, ;", b.strip()]
    assert cut(f"{a}. ; {b}", 16) == [f"{a}.", f"; {b.strip()}"]
    assert cut(f"{a}. '' ) {b}", 16) == [f"{a}. '' )", b.strip()]


def test_a_mark_is_looked_for_nearby() -> None:
    forms = [".", *")" * 11, *"a" * 12]
    assert _after_mark(forms, 12, 2) is None
    assert _after_mark(forms, 12, 6) == 12


def test_without_marks_it_ends_where_the_fewest_arcs_cross() -> None:
    text = "a " * 8 + "b c d " + "new " + "e " * 12
    assert cut("a " * 25, 16, chained)[0] == "a a a a a a a a"
    first, second = cut("a " * 9 + "new " + "b " * 9, 16, chained)[:2]
    assert first == "a " * 8 + "a", text
    assert second.startswith("new b")


@given(
    st.lists(st.sampled_from(["a", "b", ".", ",", "''", "new"]), min_size=9, max_size=200), st.integers(8, 60)
)
def test_pieces_are_the_sentence(forms: list[str], most: int) -> None:
    [pieces] = pieces_of([Sentence(Tokens.untagged(forms))], most, chained)
    assert [*chain.from_iterable(piece.tokens.forms for piece in pieces)] == forms
    assert all(1 <= len(piece.tokens) <= most for piece in pieces)
    assert (len(pieces) == 1) == (len(forms) <= most)


def parsed(text: str, shares: tuple[float, ...] | None = None) -> Sentence:
    ctree = parse_bracket(text)
    n = len(ctree.tokens)
    dtree = DTree(ctree.tokens, (0, *[1] * (n - 1)), labels=("root", *["x"] * (n - 1)))
    return Sentence(ctree.tokens, dtree=dtree, ctree=ctree, confidences=shares)


def test_trees_of_pieces_are_joined() -> None:
    pieces = [
        parsed("(TOP (S (NP (A a)) (VP (B b))))", (0.1, 0.2, 0.9)),
        parsed("(TOP (NP (C c)))", (0.4,)),
        parsed("(TOP (S (D d) (E e)))", (0.5,)),
    ]
    whole = whole_of(words("a b c d e"), pieces)
    assert whole.line == 3
    assert whole.pieces == 3
    assert format_bracket(whole.tree) == ("(TOP (S (S (NP (A a)) (VP (B b))) (NP (C c)) (S (D d) (E e))))")
    assert whole.confidences == (0.1, 0.2, 0.9, 0.4, 0.5, 0.4)
    assert whole.dtree == DTree(whole.tree.tokens, (0, 1, 1, 1, 4), labels=("root", "x", "dep", "dep", "x"))


def test_a_piece_with_an_error() -> None:
    error = FormatError("", 3, 0, "memory is short")
    whole = whole_of(words("a b c d"), [parsed("(TOP (S (A a) (B b)))"), words("c d").failed(error)])
    assert whole.error is error
    assert not whole.pieces


def test_constraints_are_those_of_pieces_and_of_the_whole() -> None:
    sentence = words("a a a a a a a a . b b b b b b b b b")
    wanted = SpanConstraints.of([(0, 2, "NP"), (9, 12), (7, 11, "X")][:2], [(0, 9), (4, 6)], 18)
    across = SpanConstraints.of([(7, 11, "X")], [], 18)
    [pieces] = pieces_of([Sentence(sentence.tokens, wanted=wanted)], 16, none)
    assert [one.wanted for one in pieces] == [
        SpanConstraints.of([(0, 2, "NP")], [(4, 6)], 9),
        SpanConstraints.of([(0, 3)], [], 9),
    ]
    [pieces] = pieces_of([Sentence(sentence.tokens, wanted=across)], 16, none)
    assert [one.wanted for one in pieces] == [None, None]
    flat = [parsed(f"(TOP (S {' '.join('(A a)' for _ in range(9))}))") for _ in pieces]
    assert across is not None
    whole = whole_of(Sentence(sentence.tokens, wanted=across), flat)
    assert not across.broken(whole.tree)


@given(st.lists(ctrees(), min_size=2, max_size=4))
def test_any_trees_are_joined(trees: list[CTree]) -> None:
    given = Tokens.untagged(chain.from_iterable(tree.tokens.forms for tree in trees))
    pieces = [Sentence(tree.tokens, ctree=tree) for tree in trees]
    whole = whole_of(Sentence(given), pieces).tree
    assert whole.tokens.forms == given.forms
    assert len(whole.labels) == 1 + sum(len(tree.labels) for tree in trees)
    assert len(whole.children[-1]) == len(trees)
    begin = 0
    for tree in trees:
        spans = {(label, tuple(begin + i for i in own)) for label, own in labelled(tree)}
        assert spans <= labelled(whole)
        begin += len(tree.tokens)


def labelled(tree: CTree) -> set[tuple[str, tuple[int, ...]]]:
    n = len(tree.tokens)
    return {*zip(tree.labels, tree.yields()[n:], strict=True)}
