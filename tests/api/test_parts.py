"""Parts of trees: trees of their own over the words below a node, as nltk and Stanza have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

import pytest
from hypothesis import given

from d2c import Tree
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from tests.strategies import ctrees

BRACKETS = "(TOP (S (NP (DT The) (NN cat)) (VP (MD ca) (RB n't) (VP (VB sleep)))))"
TEXT = "The cat can't sleep"
OFFSETS = ((10, 13), (14, 17), (18, 20), (20, 23), (24, 29))
CTREE = load_head_rules("collins").apply(parse_bracket(BRACKETS))
TREE = Tree(CTREE, (1.0, 0.5, 0.25, 0.75), OFFSETS, TEXT)
# (S (VP (V 1=wo) (RB 2=n't) (X 4=wake) (P 6=up)) (NP (D 3=the) (N 5=cat)) (, 0=,)), with a gap in each phrase
GAPS = build_ctree(
    Tokens((",", "wo", "n't", "the", "wake", "cat", "up"), (",", "V", "RB", "D", "X", "N", "P")),
    ["VP", "NP", "S"],
    [(1, 2, 4, 6), (3, 5), (0, 7, 8)],
    9,
    [1, 5, 7],
)
GAPPED = Tree(
    GAPS, None, ((0, 1), (1, 3), (3, 6), (7, 10), (11, 15), (16, 19), (20, 22)), ",won't the wake cat up"
)


def below(tree: Tree, *position: int) -> Tree:
    found = tree[position]
    assert isinstance(found, Tree)
    return found


def test_children_are_trees_of_their_own() -> None:
    sentence, verbs = below(TREE, 0), below(TREE, 0, 1)
    assert (TREE.label, sentence.label, verbs.label, below(TREE, 0, 0, 1).label) == ("TOP", "S", "VP", "NN")
    assert [child.label for child in verbs.children] == ["MD", "RB", "VP"]
    assert str(verbs) == "(VP (MD ca) (RB n't) (VP (VB sleep)))" and repr(verbs) == f"<Tree {verbs}>"
    assert verbs.words == ("ca", "n't", "sleep") and verbs.tags == ("MD", "RB", "VB")
    assert verbs.text == "can't sleep" and verbs.offsets == OFFSETS[2:]
    assert TEXT == TREE.text == sentence.text
    labels, confidences = zip(*((span.label, span.confidence) for span in TREE.spans()), strict=True)
    assert [(span.label, span.confidence) for span in sentence.spans()] == [
        *zip(labels, confidences, strict=True)
    ]
    outer, inner = verbs.spans()
    assert (outer.start, outer.end, outer.depth, outer.text) == (0, 3, 0, "can't sleep")
    assert (inner.start, inner.start_char, inner.end_char, inner.text) == (2, 24, 29, "sleep")
    assert {span.confidence for span in verbs.spans()} == {*confidences[2:]}
    assert [span.text for span in verbs.phrases("VP")] == ["can't sleep"] and not verbs.phrases("NP")
    assert verbs.to_dict()["tokens"] == ["ca", "n't", "sleep"] and verbs.to_dict()["offsets"][0] == [18, 20]
    assert str(verbs.to_nltk()).split() == str(verbs).split() == str(verbs.to_stanza()).split()
    picture = verbs._repr_svg_()
    assert picture and "sleep" in picture and "cat" not in picture


def test_a_word_with_its_tag() -> None:
    word = below(TREE, 0, 0, 1)
    assert (str(word), word.label, word.words, word.text) == ("(NN cat)", "NN", ("cat",), "cat")
    assert word.children == () and [*word] == ["cat"] and len(word) == 1 and word[0] == "cat"
    assert word.labels == () and word.spans() == [] and word.height() == 2 and word.heads == (0,)
    assert (word.span.label, word.span.start, word.span.confidence) == ("NN", 1, None)
    with pytest.raises(IndexError, match=r"^\(0, 0, 1, 0, 0\): there is nothing below the word 'cat'$"):
        _ = TREE[0, 0, 1, 0, 0]
    with pytest.raises(IndexError):
        _ = word[1]


def test_a_sequence_as_in_nltk() -> None:
    sentence = below(TREE, 0)
    assert len(TREE) == 1 and len(sentence) == 2 and [*sentence] == [*sentence.children]
    assert sentence[:1] == sentence.children[:1] and sentence[1:] == (sentence[1],)
    assert TREE[()] is TREE and TREE[0, 1] == sentence[1] == sentence[-1]
    assert TREE.leaves() == ["The", "cat", "ca", "n't", "sleep"] and TREE.pos()[1] == ("cat", "NN")
    assert [tree.label for tree in TREE.subtrees()] == [
        "TOP",
        "S",
        "NP",
        "DT",
        "NN",
        "VP",
        "MD",
        "RB",
        "VP",
        "VB",
    ]


def test_some_subtrees() -> None:
    assert [tree.text for tree in TREE.subtrees(lambda tree: tree.label == "VP")] == ["can't sleep", "sleep"]
    assert [*TREE.subtrees(filter=lambda tree: tree.label == "QP")] == []


def test_spans_and_matches_are_trees() -> None:
    """With confidences and places; `Tree.span` is the way back."""
    for span in GAPPED.spans() + TREE.spans():
        tree = span.tree
        assert (tree.label, tree.words, tree.text, tree.span) == (span.label, span.words, span.text, span)
        assert tree.confidences is None or tree.confidences[-1] == span.confidence
    [match] = below(TREE, 0, 1).search("VP=name !< VP")
    assert match.tree == below(TREE, 0, 1, 2) and match.tree.offsets == ((24, 29),)
    [word] = TREE.search("cat")
    assert str(word.tree) == "(NN cat)"


def test_heads_of_spans() -> None:
    sentence, subject, verbs, _ = TREE.spans()
    assert [(one.head_word, one.governor) for one in (sentence, subject, verbs)] == [
        ("ca", None),
        ("cat", 2),
        ("ca", None),
    ]
    assert {(one.head_word, one.governor) for one in Tree.from_string(BRACKETS).spans()} == {(None, None)}


def test_the_place_in_the_sentence() -> None:
    verbs = below(TREE, 0, 1, 2)
    assert (verbs.span.start, verbs.span.end, verbs.span.head, verbs.span.depth) == (4, 5, 4, 2)
    assert verbs.span.parent == below(TREE, 0, 1).span and verbs.span.parent.parent == TREE.span
    assert TREE.span.parent is None and TREE.span.label == "S" and below(TREE, 0).span == TREE.span


def test_heads() -> None:
    """As in spaCy: from 0, and the root is its own; of a part, over its own words."""
    assert TREE.heads == (1, 2, 2, 2, 2) and below(TREE, 0, 0).heads == (1, 1)
    assert below(TREE, 0, 1).heads == (0, 0, 0)
    assert Tree.from_string(BRACKETS).heads is None


def test_gaps_of_parts_are_closed() -> None:
    comma, verbs, nouns = GAPPED.children
    assert (comma.text, verbs.text, nouns.text) == (",", "won't wake up", "the cat")
    assert str(verbs) == "(VP (V wo) (RB n't) (X wake) (P up))" and not verbs.has_gaps and GAPPED.has_gaps
    assert verbs.offsets == ((1, 3), (3, 6), (11, 15), (20, 22)) and verbs.span.tokens == (1, 2, 4, 6)
    [span] = verbs.spans()
    assert (span.blocks, span.text, span.start_char, span.end_char) == (((0, 4),), "won't wake up", 1, 22)
    assert verbs.to_nltk().leaves() == verbs.leaves() == ["wo", "n't", "wake", "up"]


def test_trees_are_equal_in_brackets() -> None:
    same = Tree.from_string(BRACKETS)
    assert same == TREE and hash(same) == hash(TREE) and same[0] == TREE[0] != TREE
    assert len({same, TREE, *TREE.children, *same.children}) == 2
    others = (
        "(S (A a) (B b))",
        "(S (A a) (B c))",
        "(S (A a) (C b))",
        "(T (A a) (B b))",
        "(S (X (A a)) (B b))",
    )
    assert len({*map(Tree.from_string, (*others, "(TOP (S (A a) (B b)))"))}) == 6
    assert TREE != BRACKETS


def test_strings() -> None:
    tree = Tree.from_string("( (S (NP-SBJ (-NONE- *))\n (VP (V slept) (-LRB- -LRB-))) )")
    assert tree.label == "" and tree.labels == ("S", "NP-SBJ", "VP") and tree.words == ("*", "slept", "(")
    gapped = "(S (VP (V 0=wake) (P 2=up)) (N 1=me))"
    assert str(Tree.from_string(gapped)) == gapped
    assert str(Tree.from_string("(S (VP (V 1=slept)) (N 0=Mary))")) == "(S (N Mary) (VP (V slept)))"
    assert Tree.from_string("(S (X 1=2) (Y =))").words == ("1=2", "=")
    numbered = Tree(parse_bracket("(TOP (S (X 0=a) (Y 1=)))"))  # brackets that would be read as discbracket
    assert str(numbered) == "(TOP (S (X 0=0=a) (Y 1=1=)))" and Tree.from_string(str(numbered)) == numbered
    for wrong in (
        "",
        "word",
        "()",
        "(S (A a)",
        "(S (A a)) (S (A a))",
        "(S (A 0=a) (B 2=b))",
        "(S (A 0=a) 0=b)",
    ):
        with pytest.raises(ValueError):
            Tree.from_string(wrong)


def test_deep_trees() -> None:
    levels = 20_000
    tree = Tree.from_string("(S " * levels + "(A a)" + ")" * levels)
    assert tree.height() == levels + 2 and tree == Tree.from_string(str(tree)) and hash(tree)
    assert sum(1 for _ in tree.subtrees()) == levels + 1
    inner = below(tree, *[0] * (levels - 1))
    assert (str(inner), inner.span.depth, inner.label) == ("(S (A a))", levels - 1, "S")
    assert tree._repr_html_() is None and "<Tree (S (S" in repr(tree)


def positions(tree: Tree) -> Iterator[tuple[tuple[int, ...], Tree]]:
    found: list[tuple[tuple[int, ...], Tree]] = [((), tree)]
    for place, one in found:
        yield place, one
        found += [((*place, i), child) for i, child in enumerate(one.children)]


@given(ctrees())
def test_any_tree_is_read_back(ctree: CTree) -> None:
    for _, tree in positions(Tree(ctree)):
        assert Tree.from_string(str(tree)) == tree == Tree(tree.ctree)


@given(ctrees())
def test_children_share_out_the_words(ctree: CTree) -> None:
    whole = Tree(ctree, [i / 100 for i in range(len(ctree.labels))], [(2 * i, 2 * i + 1) for i in range(9)])
    for place, tree in positions(whole):
        assert whole[place] == tree and tree.height() == 1 + max(
            (child.height() for child in tree.children), default=1
        )
        tokens = tree.span.tokens
        assert tree.words == tree.span.words and len(tree.words) == len(tokens)
        assert tree.offsets is not None and tree.offsets[0] == (tree.span.start_char, tokens[0] * 2 + 1)
        if tree.children:
            assert sorted(chain(*(child.span.tokens for child in tree.children))) == [*tokens]
        below = [one.span for one in tree.subtrees() if len(one.children) and one.label != ctree.top]
        assert sorted(
            (tuple(tokens[i] for i in span.tokens), span.label, span.confidence) for span in tree.spans()
        ) == (sorted((span.tokens, span.label, span.confidence) for span in below))
        assert tree.ctree.head_children is not None
        numbered = [head + 1 if head != i else 0 for i, head in enumerate(tree.heads or ())]
        assert (*numbered,) == to_dependencies(tree.ctree).heads
        for span in tree.spans():
            above = span.parent
            while above and above.head == span.head:
                above = above.parent
            assert span.governor == (above and above.head)


@given(ctrees(gaps=False))
def test_the_same_as_in_nltk(ctree: CTree) -> None:
    ours, theirs = Tree(ctree), Tree(ctree).to_nltk()
    for position in theirs.treepositions():
        one, other = ours[position], theirs[position]
        if isinstance(one, str):
            assert one == other
        else:
            assert one.to_nltk() == other and one.height() == other.height() and len(one) == len(other)
            assert (one.label, one.leaves(), one.pos()) == (other.label(), other.leaves(), other.pos())
    assert [tree.label for tree in ours.subtrees()] == [tree.label() for tree in theirs.subtrees()]
    assert ours.productions() == theirs.productions()


def test_nodes_inside_each_other() -> None:
    words = [
        {"label": "MD", "word": "ca", "token": 0, "start_char": 18, "end_char": 20},
        {"label": "RB", "word": "n't", "token": 1, "start_char": 20, "end_char": 23},
        {"label": "VB", "word": "sleep", "token": 2, "start_char": 24, "end_char": 29},
    ]
    lower = {"label": "VP", "confidence": 0.5, "children": [words[2]]}
    verbs = {"label": "VP", "confidence": 0.25, "children": [*words[:2], lower]}
    assert below(TREE, 0, 1).to_nested() == verbs and json.loads(json.dumps(verbs)) == verbs
    whole = TREE.to_nested()
    assert whole["label"] == "TOP" and whole["children"][0]["children"][1]["children"][0]["token"] == 2
    assert below(TREE, 0, 0, 1).to_nested() == {
        "label": "NN", "word": "cat", "token": 0, "start_char": 14, "end_char": 17
    }  # fmt: skip
    labels = [kid["label"] for kid in GAPPED.to_nested()["children"]]
    tokens = [kid["token"] for kid in GAPPED.to_nested()["children"][1]["children"]]
    assert labels == [",", "VP", "NP"] and tokens == [1, 2, 4, 6]


@given(ctrees())
def test_nodes_inside_each_other_say_the_tree(ctree: CTree) -> None:
    nested = Tree(ctree).to_nested()
    spans, stack = [], [nested if ctree.top is None else nested["children"][0]]
    for node in stack:
        stack += node.get("children", ())
        inside = [node]
        for one in inside:
            inside += one.get("children", ())
        spans.append((node["label"], sorted(one["token"] for one in inside if "word" in one)))
    every = (*ctree.tokens.tags, *ctree.labels)
    assert sorted(spans) == sorted(
        (label, [*below]) for label, below in zip(every, ctree.yields(), strict=True)
    )
