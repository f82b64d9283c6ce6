"""C-trees as NLTK's and Stanza's trees, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import nltk
import pytest
from hypothesis import given
from stanza.models.constituency import tree_reader
from stanza.models.constituency.parse_tree import Tree as StanzaTree

from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.objects import from_nltk, from_stanza, to_nltk, to_stanza
from tests.strategies import ctrees

WITH_BRACKETS = build_ctree(
    Tokens(("(", "f(x)", ")"), ("-LRB-", "NN", ")")), ("NP", "S"), ((0, 1, 2), (3,)), 4, top="ROOT"
)
BOTH: tuple[tuple[Callable[[CTree], Any], Callable[[Any], CTree]], ...] = (
    (to_nltk, from_nltk),
    (to_stanza, from_stanza),
)


@given(ctrees(gaps=False))
def test_trees_come_back(ctree: CTree) -> None:
    without_heads = replace(ctree, head_children=None)
    for there, back in BOTH:
        assert back(there(ctree)) == without_heads


@given(ctrees(gaps=False))
def test_the_libraries_print_what_we_print(ctree: CTree) -> None:
    assert to_nltk(ctree).pformat(margin=10**6) == format_bracket(ctree)
    assert str(to_stanza(ctree)) == format_bracket(ctree)


def test_words_with_round_brackets() -> None:
    tree = to_nltk(WITH_BRACKETS)
    assert tree.leaves() == ["-LRB-", "f-LRB-x-RRB-", "-RRB-"]
    assert nltk.Tree.fromstring(str(tree)) == tree
    stanza_tree = to_stanza(WITH_BRACKETS)
    assert stanza_tree.leaf_labels() == ["(", "f(x)", ")"]
    assert tree_reader.read_trees(str(stanza_tree))[0].leaf_labels() == ["(", "f(x)", ")"]
    assert from_nltk(tree).tokens.forms == from_stanza(stanza_tree).tokens.forms == ("(", "f(x)", ")")


def test_what_the_libraries_read() -> None:
    text = "(TOP (S (NP (PRP They)) (VP (VBP have) (NP (NP (NN two)) (PRN (-LRB- -LRB-) (CD 2))))))"
    ctree = parse_bracket(text)
    assert from_nltk(nltk.Tree.fromstring(text)) == ctree
    assert from_nltk(nltk.ParentedTree.fromstring(text)) == ctree
    assert format_bracket(from_stanza(tree_reader.read_trees(text)[0])) == text
    assert from_stanza(StanzaTree(None, [StanzaTree("NN", [StanzaTree("cat")])])).top == ""


def test_a_wrapper_with_several_children_is_a_root() -> None:
    ctree = from_nltk(nltk.Tree.fromstring("(TOP (NN a) (NN b))"))
    assert (ctree.labels, ctree.top) == (("TOP",), None)


def test_a_single_word() -> None:
    ctree = CTree(Tokens(("cat",), ("NN",)), (), ())
    for there, back in BOTH:
        assert back(there(ctree)) == ctree
        assert str(there(ctree)) == "(NN cat)"


def test_trees_with_gaps_are_refused() -> None:
    crossing = build_ctree(Tokens(("a", "b", "c"), ("A", "B", "C")), ("X", "S"), ((0, 2), (3, 1)), 4)
    for there, _ in BOTH:
        with pytest.raises(ValueError, match="a tree with gaps"):
            there(crossing)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (nltk.Tree("S", []), "the node 'S' has no children"),
        (nltk.Tree("S", ["a", "b"]), "the word 'a' stands beside other words or nodes"),
        (nltk.Tree("S", [nltk.Tree("NN", ["a"]), "b"]), "the word 'b' stands beside other words or nodes"),
    ],
)
def test_nltk_trees_without_tags_are_refused(tree: nltk.Tree, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_nltk(tree)


def test_stanza_trees_without_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="the node 'S' has words beside other words or nodes"):
        from_stanza(StanzaTree("S", [StanzaTree("a"), StanzaTree("b")]))
    with pytest.raises(ValueError, match="the node 'S' has no children"):
        from_stanza(StanzaTree("S"))


def test_deep_trees() -> None:
    deep = CTree(Tokens(("w",), ("T",)), ("X",) * 5000, tuple((i,) for i in range(5000)))
    for there, back in BOTH:
        assert back(there(deep)).labels == deep.labels


def test_leaves_that_are_no_words() -> None:
    with pytest.raises(ValueError, match="^5 is neither a word, which is a str, nor a tree$"):
        from_nltk(nltk.Tree("S", [nltk.Tree("CD", [5])]))


@pytest.mark.parametrize("label", ["", None, 5])
def test_labels_are_text(label: object) -> None:
    inner = nltk.Tree(label, [nltk.Tree("NN", ["a"])])
    with pytest.raises(ValueError, match="is not a label"):
        from_nltk(nltk.Tree("TOP", [inner]))
    with pytest.raises(ValueError, match="is not a label"):
        from_nltk(nltk.Tree("S", [nltk.Tree("VP", [nltk.Tree(label, ["a"])])]))
    assert from_nltk(nltk.Tree("", [nltk.Tree("S", [nltk.Tree("NN", ["a"])])])).labels == ("S",)


def test_labels_with_round_brackets() -> None:
    ctree = parse_bracket("(S (N(x (NN a)) ($-LRB- -LRB-) (-RRB- -RRB-))".replace("N(x", "N-LRB-x"))
    assert (ctree.labels, ctree.tokens.tags) == (("N(x", "S"), ("NN", "$(", "-RRB-"))
    tree = to_nltk(ctree)
    assert [one.label() for one in tree.subtrees()] == ["S", "N-LRB-x", "NN", "$-LRB-", "-RRB-"]
    for there, back in BOTH:
        assert back(there(ctree)) == ctree
