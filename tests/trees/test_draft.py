"""Editing a tree node by node, against lists of children that are changed in place, as nltk's are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.draft import Draft, Edited, unchanged
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from tests.steps import is_linear
from tests.strategies import ctrees, words

NEW = parse_bracket("(XP (X new) (Y words))")
PLACES = [("$+", 0), ("$-", 0), (">", 0), (">", 1), (">", 2), (">", -1), (">", -2)]


class Listed:
    """Nodes as lists of their children, in the order of the sentence; without gaps."""

    def __init__(self, ctree: CTree) -> None:
        n = len(ctree.tokens)
        self.labels: dict[int, str] = dict(enumerate((*ctree.tokens.tags, *ctree.labels)))
        self.forms = dict(enumerate(ctree.tokens.forms))
        self.kids = {node: [*kids] for node, kids in enumerate(ctree.children, n)}
        self.kids[-1], self.new = [ctree.root], ctree.root + 2

    def above(self, node: int) -> int:
        return next(above for above, kids in self.kids.items() if node in kids)

    def below(self, node: int) -> list[int]:
        return [node, *(one for kid in self.kids.get(node, ()) for one in self.below(kid))]

    def prune(self, node: int) -> None:
        while not self.kids[node]:
            node, gone = self.above(node), node
            self.kids[node].remove(gone)

    def delete(self, node: int) -> None:
        above = self.above(node)
        self.kids[above].remove(node)
        self.prune(above)

    def excise(self, node: int) -> None:
        kids = self.kids[self.above(node)]
        at = kids.index(node)
        kids[at : at + 1] = self.kids.pop(node)

    def wrap(self, first: int, last: int, label: str) -> None:
        kids = self.kids[self.above(first)]
        low, high = sorted([kids.index(first), kids.index(last)])
        self.labels[self.new], self.kids[self.new] = label, kids[low : high + 1]
        kids[low : high + 1] = [self.new]
        self.new += 1

    def insert(self, anchor: int, tree: CTree, place: tuple[str, int]) -> None:
        own, n = Listed(tree), len(tree.tokens)
        self.labels |= {self.new + node: label for node, label in own.labels.items()}
        self.forms |= {self.new + node: form for node, form in own.forms.items()}
        below = {self.new + node: [self.new + kid for kid in kids] for node, kids in own.kids.items()}
        self.kids |= {node: kids for node, kids in below.items() if node != self.new - 1}
        self.put(self.new + tree.root, anchor, place)
        self.new += n + len(tree.labels)

    def move(self, node: int, anchor: int, place: tuple[str, int]) -> None:
        assert anchor not in self.below(node)
        above = self.above(node)
        at = self.kids[above].index(node)
        self.kids[above][at] = -2  # keeps its place
        self.put(node, anchor, place)
        self.kids[above].remove(-2)
        self.prune(above)

    def put(self, node: int, anchor: int, place: tuple[str, int]) -> None:
        sign, number = place
        kids = self.kids[anchor if sign == ">" else self.above(anchor)]
        if sign != ">":
            kids.insert(kids.index(anchor) + (sign == "$-"), node)
            return
        others = [kid for kid in kids if kid != -2]
        at = number - 1 if number > 0 else len(others) + 1 + number
        assert number and 0 <= at <= len(others)
        kids.insert(kids.index(others[at]) if at < len(others) else len(kids), node)

    def brackets(self, node: int = -1) -> str:
        if node == -1:
            return self.brackets(*self.kids[-1])
        inside = map(self.brackets, self.kids[node]) if node in self.kids else [self.forms[node]]
        return f"({self.labels[node]} {' '.join(inside)})"


@st.composite
def operations(draw: st.DrawFn, count: int) -> tuple[str, list[int], dict[str, Any]]:
    """One that may or may not be possible in a tree of so many nodes."""
    node = st.integers(0, count - 1)
    nodes, place = [draw(node), draw(node)], draw(st.sampled_from(PLACES))
    arguments: dict[str, tuple[list[int], dict[str, Any]]] = {
        "delete": (nodes[:1], {}),
        "excise": (nodes[:1], {}),
        "wrap": (nodes, {"label": "W"}),
        "insert": (nodes[:1], {"tree": NEW, "place": place}),
        "move": (nodes, {"place": place}),
    }
    verb = draw(st.sampled_from([*arguments]))
    return verb, *arguments[verb]


def is_tree(edited: Edited, old: CTree) -> bool:
    """Whether all its nodes stand in the right order, with heads and origins of their own."""
    tree = edited.ctree
    n, parents, first = len(tree.tokens), tree.parents(), list(range(len(tree.tokens)))
    for node, kids in enumerate(tree.children, n):
        assert all(kid < node for kid in kids) and [*kids] == sorted(kids, key=first.__getitem__)
        first.append(first[kids[0]])
    assert parents.count(-1) == 1 and sum(map(len, tree.children)) == len(parents) - 1
    heads = tree.head_children
    assert heads is not None and all(head in kids for head, kids in zip(heads, tree.children, strict=True))
    names = zip(edited.words, tree.tokens.forms, strict=True)
    assert all(word < 0 or old.tokens.forms[word] == form for word, form in names)
    return len(edited.nodes) == len(tree.labels) and [*tree.yields()[-1]] == [*range(n)]


@given(st.data(), ctrees(gaps=False, min_tokens=2, max_tokens=6))
def test_operations_are_those_on_lists_of_children(data: st.DataObject, ctree: CTree) -> None:
    ctree = replace(ctree, labels=tuple([f"L{k}" for k in range(len(ctree.labels))]), top=None)
    draft, listed = Draft(ctree), Listed(ctree)
    for _ in range(3):
        verb, nodes, arguments = data.draw(operations(ctree.root + 1))
        assume(all(node in draft for node in nodes))
        assume(arguments.get("place") != (">", 0))
        try:
            getattr(draft, verb)(*nodes, **arguments)
        except ValueError:
            return
        getattr(listed, verb)(*nodes, **arguments)
        edited = draft.finished()
        assert format_bracket(edited.ctree) == listed.brackets()
        assert is_tree(edited, ctree)


@given(st.data(), ctrees(min_tokens=2))
def test_whatever_is_done_is_a_tree(data: st.DataObject, ctree: CTree) -> None:
    draft = Draft(ctree)
    for _ in range(4):
        verb, nodes, arguments = data.draw(operations(ctree.root + 1))
        if not all(node in draft for node in nodes):
            continue
        try:
            getattr(draft, verb)(*nodes, **arguments)
        except ValueError:
            return
    assert is_tree(draft.finished(), ctree)


@given(st.data(), ctrees(min_tokens=2))
def test_what_is_wrapped_and_excised_is_as_before(data: st.DataObject, ctree: CTree) -> None:
    node = data.draw(st.integers(0, ctree.root))
    sisters = next((kids for kids in ctree.children if node in kids), (node,))
    draft = Draft(ctree)
    draft.wrap(node, data.draw(st.sampled_from(sisters)), label="W")
    wrapped = draft.finished().ctree
    assert wrapped.tokens == ctree.tokens and sorted(wrapped.labels) == sorted([*ctree.labels, "W"])
    draft = Draft(wrapped)
    draft.excise(len(ctree.tokens) + wrapped.labels.index("W"))
    assert draft.finished().ctree == ctree  # head children, too


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data(), ctrees(min_tokens=2))
def test_words_and_what_is_known_of_them_stay(data: st.DataObject, ctree: CTree) -> None:
    n, node = len(ctree.tokens), st.integers(0, ctree.root)
    gone, *nodes = data.draw(st.tuples(node, node, node).filter(lambda three: three[0] not in three[1:]))
    tokens = replace(
        ctree.tokens, lemmas=tuple(f"l{i}" for i in range(n)), comments=("sent_id = 1", "text = w0")
    )
    ctree = replace(ctree, tokens=tokens, functions=tuple(f"f{i}" for i in range(ctree.root + 1)))
    draft = Draft(ctree)
    try:
        draft.excise(gone)
        draft.move(*nodes, (">", 0))
    except ValueError:
        assume(False)
    edited = draft.finished()
    assert edited.ctree.tokens == tokens and edited.words == tuple(range(n)) and is_tree(edited, ctree)
    for at, kept, same in zip(range(n, 99), edited.nodes, unchanged(ctree, edited), strict=False):
        assert edited.ctree.functions and edited.ctree.functions[at] == f"f{kept}"
        assert (same == kept) == (edited.ctree.yields()[at] == ctree.yields()[kept])


def test_words_take_along_what_is_known_of_them() -> None:
    tokens = Tokens(("a", "b", "c"), ("A", "B", "C"), ("l", "m", "n"), None, ("sent_id = 1", "text = a b c"))
    draft = Draft(
        CTree(tokens, ("X", "S"), ((0, 1), (2, 3)), (0, 3), "TOP", None, ((3, "f", 4), (0, "g", 3)))
    )
    draft.move(2, 3, ("$+", 0))
    draft.insert(0, NEW, ("$-", 0))
    draft.delete(0)
    edited = draft.finished()
    assert edited.ctree.tokens == Tokens(
        ("c", "new", "words", "b"), ("C", "X", "Y", "B"), ("n", "_", "_", "m")
    )
    assert edited.ctree.tokens.comments == ("sent_id = 1",) and edited.words == (2, -1, -1, 1)
    assert format_bracket(edited.ctree) == "(TOP (S (C c) (X (XP (X new) (Y words)) (B b))))"
    assert edited.nodes == (-1, 3, 4) and edited.ctree.secondary == ((5, "f", 6),)


@pytest.mark.parametrize(
    ("brackets", "gone", "head"),
    [("(S (X a) (Y b) (Z c))", 1, 0), ("(S (X ,) (Y b) (Z c))", 1, 1), ("(S (X ,) (Y b) (Z c))", 2, 1)],
)
def test_a_head_that_goes_is_followed_by_the_first_word(brackets: str, gone: int, head: int) -> None:
    draft = Draft(replace(parse_bracket(brackets), head_children=(gone,)))
    draft.delete(gone)
    assert draft.finished().ctree.head_children == (head,)


def test_time_is_linear_in_depth() -> None:
    def work(size: int) -> None:
        n = size
        children = ((0, 1), *((i + 1, n + i - 1) for i in range(1, n - 1)))
        draft = Draft(CTree(words(n), ("X",) * (n - 1), children, (0, *range(n, 2 * n - 2))))
        for node in range(2 * n - 3, n, -1):
            draft.excise(node)
            draft.wrap(node - n, label="W")
            draft.delete(node - n + 1)
        draft.finished()

    assert is_linear(work, 500)
