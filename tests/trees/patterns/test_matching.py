"""Patterns in the language of Tregex: counts checked by hand, captures, gaps, and what cannot be read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from d2c import Tree
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes
from tests.trees.patterns.manual import PATTERNS, TREES

RULES = load_head_rules("collins")
CTREES = [RULES.apply(parse_bracket(line)) for line in TREES.splitlines()]
FLAT = "(A (B b) (C c) (B b))"


def found(pattern: str, text: str = FLAT) -> list[Any]:
    """The labels of what is found, with those of captures by name."""
    return [
        (match.span.label, {name: span.label for name, span in match.captures.items()})
        if match.captures
        else match.span.label
        for match in Tree(parse_bracket(text)).search(pattern)
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts(pattern: str) -> None:
    assert len(find(compiled(pattern), TreeNodes(CTREES))[0]) == PATTERNS[pattern]
    assert sum(len(Tree(ctree).search(pattern)) for ctree in CTREES) == PATTERNS[pattern]


def test_nodes_are_root_constituents_tags_and_words_from_left_to_right() -> None:
    assert found("__") == ["ROOT", "A", "B", "b", "C", "c", "B", "b"]
    [root, word] = Tree(CTREES[0]).search("ROOT | cat")
    assert (root.span.blocks, root.span.depth, root.span.head) == (((0, 7),), 0, 1)
    assert (word.span.label, word.span.blocks, word.span.depth, word.span.head) == ("cat", ((3, 4),), 4, 3)
    assert [span.label for span in (root.span, word.span)] == ["ROOT", "cat"]
    assert found("ROOT < __", "(TOP (S (A a)))") == ["ROOT"]
    assert found("TOP", "(TOP (S (A a)))") == []
    assert found("_ROOT_ < __", "(TOP (S (A a)))") == ["ROOT"]


def test_possessive_tags_need_no_regular_expression() -> None:
    text = "(NP (PRP$ her) (NN cat) (WP$ whose))"
    for pattern, labels in {
        "PRP$": ["PRP$"],
        "PRP$|WP$": ["PRP$", "WP$"],
        "NN|WP$": ["NN", "WP$"],
        "PRP$ $ NN": ["PRP$"],
        "PRP$=x $+ NN": [("PRP$", {"x": "PRP$"})],
        "NP < PRP$ < WP$": ["NP"],
        "NN$PRP$": ["NN"],
        "WP$..NN": [],
    }.items():
        assert found(pattern, text) == labels, pattern


def test_a_match_says_where_it_is() -> None:
    tree = Tree(CTREES[0], tuple(k / 10 for k in range(6)), [(k * 10, k * 10 + 5) for k in range(7)])
    [match] = tree.search("NP < (PP=part $ NP)")
    assert match.to_dict() == {
        **{"file": "", "sentence": 0},
        **{"label": "NP", "start": 2, "end": 6, "head": 3, "start_char": 20, "end_char": 55},
        **{"confidence": match.span.confidence, "text": "the cat with glasses"},
        "captures": {
            "part": {
                **{"label": "PP", "start": 4, "end": 6, "head": 4, "start_char": 40, "end_char": 55},
                **{"confidence": match.captures["part"].confidence, "text": "with glasses"},
            }
        },
    }
    same = {span.blocks: span.confidence for span in tree.phrases("NP", "PP", nested=True)}
    assert same[match.span.blocks] == match.span.confidence


def test_each_assignment_comes_once() -> None:
    assert found("A < B=b") == [("A", {"b": "B"})] * 2
    assert found("A < B") == ["A"]
    assert found("A < B=x < B=y") == [("A", {"x": "B", "y": "B"})] * 4
    assert found("A [< B=x | < C=y]") == [
        ("A", {"y": "C"}),
        ("A", {"x": "B"}),
        ("A", {"x": "B"}),
    ]
    assert found("A ?< (B=x $- C) ?< D=y") == [("A", {"x": "B"})]
    assert found("A|C [< B | < c]") == ["A", "C"]
    assert found("B | C") == ["B", "C", "B"]


def test_references() -> None:
    assert found("A < B=x <1 =x") == [("A", {"x": "B"})]
    assert found("A < B=x !<1 =x") == [("A", {"x": "B"})]
    assert found("B=x $++ ~x") == [("B", {"x": "B"})]
    assert found("B=x $++ ~x=y") == [("B", {"x": "B", "y": "B"})]
    assert found("A < C=x < (=x $+ B)") == [("A", {"x": "C"})]
    assert found("A [< D=x | < B] <1 =x") == []


def test_variables_of_regular_expressions() -> None:
    text = "(S (NP-1 (A a)) (VP-2 (X x)) (NP-2 (B b)))"
    ctree = parse_bracket(text, clean=False)
    assert [m.span.label for m in Tree(ctree).search("/-([0-9])$/#1%i $++ /NP-([0-9])/#1%i")] == ["VP-2"]


def test_words_in_a_row_are_found_whole() -> None:
    text = "(S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (DT the) (NN day)))) (VP (VBD slept)))"
    [match] = Tree(parse_bracket(text)).search('S=s << "of the *"=row')
    row = match.captures["row"]
    assert (row.text, row.label, row.start, row.end, row.head) == ("of the day", "of the day", 2, 5, None)
    assert str(row.tree) == "(PP (IN of) (NP (DT the) (NN day)))" and match.captures["s"].end == 6
    [match] = Tree(parse_bracket(text)).search('"cat of"')
    assert (str(match.tree), match.span.depth) == (
        "(NP (NP (DT the) (NN cat)) (PP (IN of) (NP (DT the) (NN day))))",
        3,
    )
    assert match.span.around(1) == ("the", "the") and match.span.around(9) == ("the", "the day slept")
    assert [m.span.text for m in Tree(parse_bracket(text)).search('"the" | ("the *" >> PP)')] == [
        "the",
        "the day",
    ]
    gap = Tree(parse_discbracket("(S (VP (V 0=wake) (P 2=up)) (N 1=me))"))
    [match] = gap.search('"me up" , V')
    assert (match.span.blocks, str(match.tree)) == (((1, 3),), str(gap))
    assert gap.search("VP")[0].span.around(2) == ("", "") and gap.search("N")[0].span.around(0) == ("", "")


def test_labels() -> None:
    text = "(S (NP-SBJ (DT The)) (NP=2 (DT the)) (-LRB- -LRB-) (NPX the))"
    ctree = parse_bracket(text, clean=False)

    def labels(pattern: str) -> list[str]:
        return [match.span.label for match in Tree(ctree).search(pattern)]

    assert labels("@NP") == ["NP-SBJ", "NP=2"] and labels("NP") == []
    assert labels("@/^NP$/") == ["NP-SBJ", "NP=2"] and labels("/^NP/") == ["NP-SBJ", "NP=2", "NPX"]
    assert labels("@-LRB-|NP") == ["NP-SBJ", "NP=2", "-LRB-"]
    assert labels("!@NP > S") == ["-LRB-", "NPX"] and labels('"("') == ["("]
    assert labels("the") == ["the", "the"] and labels("/(?i)^the$/") == ["The", "the", "the"]
    assert labels('"the"') == ["The", "the", "the"] and labels('"The"') == ["The"] and labels('"NPX"') == []
    assert labels('"t*e the"') == ["The the"] and labels('"*"') == ["The", "the", "(", "the"]


def test_trees_with_gaps() -> None:
    tree = Tree(parse_discbracket("(S (VP (V 0=wake) (P 2=up)) (N 1=me) (A 3=now))"))

    def labels(pattern: str) -> list[str]:
        return [match.span.label for match in tree.search(pattern)]

    assert labels("__ .. N") == ["V", "wake"]  # the verb phrase does not precede what is in its gap
    assert labels("__ . A") == ["VP", "P", "up"] and labels("N $.. A") == ["N"]
    assert labels("VP $.. N") == [] and labels("VP $++ N") == ["VP"] and labels("VP $. A") == ["VP"]
    assert labels("VP $+ N") == ["VP"] and labels("VP << P") == ["VP"]
    [match] = tree.search("VP")
    assert match.span.tokens == (0, 2) and match.span.text == "wake up"


def test_deep_trees_and_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = Tree(parse_bracket("(A " * 400 + "(B b)" + ")" * 400))
    assert len(deep.search("A << B")) == len(deep.search("A <+(A) B")) == len(deep.search("A <<: b")) == 400
    assert len(deep.search("B >> A")) == 1 and len(deep.search("B >> A=a")) == 400
    tree = Tree(parse_bracket("(S " + "(A a) " * 60 + ")"))
    monkeypatch.setattr("d2c.trees.patterns.matches.MOST", 8000)  # less than all triples together
    assert len(tree.search("A=a .. A=b")) == 60 * 59 // 2
    assert len(tree.search("A=a .. (A=b .. A=c)")) == 60 * 59 * 58 // 6


def test_nodes_of_several_trees_do_not_meet() -> None:
    nodes = TreeNodes(
        [parse_bracket(FLAT), build_ctree(Tokens(("x",), ("X",)), [], [], 0), parse_bracket(FLAT)]
    )
    for relation in ("$", ".", "..", ":", "$++", ",", "<<-", "<<,", "<<:"):
        for a, b in find(compiled(f"__=a {relation} __=b"), nodes)[0][:, 1:]:
            assert nodes.tree[a] == nodes.tree[b], relation
    assert np.array_equal(nodes.tree[find(compiled("X"), nodes)[0][:, 0]], [1])
    assert all(a <= b for a, b in pairwise(nodes.tree))


def test_heads_are_asked_for() -> None:
    with pytest.raises(ValueError) as caught:
        Tree(parse_bracket(FLAT)).search("A <# B")
    rules = "head_rules, of d2c.read or d2c.search, names rules that find them"
    assert str(caught.value) == f"the pattern asks for heads, and a tree has none; {rules}"


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "at character 1, its end: a label, a /regular expression/ or __ is missing here"),
        ("NP <", "at character 5, its end: a label"),
        ("NP < )", r"at character 6, '\)': a label"),
        ("NP PP", "at character 4, 'PP': here a relation is missing"),
        ("NP)", r"at character 3, '\)': here a relation is missing, or a bracket closes"),
        ("(NP < PP", r"at character 9, its end: \) is missing here"),
        ("NP [< PP)", r"at character 9, '\)': ] is missing here"),
        ("NP < 'x^\\", None),
        ("NP /x", "at character 4, '/': no part of the language"),
        ("/(/", r"at character 1, '/\(/': no regular expression of Python's: missing \)"),
        ("NP < =x", "at character 7, 'x': no node before it has this name"),
        ("NP=x | =x", "'x': no node before it has this name"),
        ("NP=x < PP=x", "at character 11, 'x': two nodes have this name"),
        ("NP !< PP=x", "at character 10, 'x': a node that must not be there cannot have a name"),
        ("NP <0 PP", "at character 7, 'PP': children are counted from 1"),
        ("arc:nsubj", "arcs are found in pages only"),
        ("NP < (" + "(" * 60 + "PP", "more than 50 brackets inside each other"),
        ("NP " + "?" * 60 + "< PP", "more than 50 brackets inside each other"),
        ('"" < x', "there are no words in the quotation marks"),
        (f'"{"a " * 101}"', "101 words in a row are too many; at most 100 are looked for"),
        (f"/{'(' * 3000}{')' * 3000}/", "no regular expression of Python's: "),
        ("/[[:upper:]]/", r"no regular expression of Python's: it has \[:upper:], a class"),
        ("/[a[:foo:]]/", r"no regular expression of Python's: it has \[:foo:], a class"),
        ("NP <1234567 PP", "at character 11, '7': a label"),
        (f"/(a)/#{'1' * 5000}%x", "% is missing here"),
        ("/a/#1%x", "so many groups"),
        ("!/(a)/#1%x", "so many groups"),
        ("NP ?? PP", "'PP': a relation is missing here"),
        ("NP < PP |", "its end: a label"),
        ("NP" + " < PP" * 200, "a pattern has at most 200 nodes"),
        (f"/{'a' * 1001}/", "it has more than 1,000 characters"),
        ("/(a{900}){900}/", "its repetitions are too large"),
        (f"/{'a{9999}' * 9}/", "its repetitions are too large"),
        (f"NP < PP {'x' * 5000}", r"'x+\.\.\.x+': here a relation is missing"),
    ],
)
def test_what_cannot_be_read_says_where(pattern: str, says: str | None) -> None:
    if says is None:
        compiled(pattern)
        return
    with pytest.raises(ValueError, match=r"^the pattern\b") as error:
        compiled(pattern)
    error.match(says)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


def test_python_alone_reads_a_tree_of_one_token() -> None:
    tree: CTree = build_ctree(Tokens(("x",), ("X",)), [], [], 0)
    assert [match.span.label for match in Tree(tree).search("__")] == ["ROOT", "X", "x"]
