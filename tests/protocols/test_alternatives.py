"""The best trees of a sentence: each once, with the sum of its probabilities."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given

from d2c.protocols.route import merged_ctrees
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.unaries import without_copies
from tests.strategies import ctrees

ONCE = "(TOP (S (NP (N a)) (VP (V b))))"
COPIED = "(TOP (S (S (NP (NP (NP (N a)))) (VP (V b)))))"
OTHER = "(TOP (S (NP (NX (N a))) (VP (V b))))"


@pytest.mark.parametrize("first", [ONCE, COPIED])
def test_copies_of_a_node_above_it_make_no_other_tree(first: str) -> None:
    """The likeliest stays as it is."""
    found = [(log(0.4), first), (log(0.2), OTHER), (log(0.1), ONCE), (log(0.1), COPIED)]
    merged = merged_ctrees((share, parse_bracket(tree)) for share, tree in found)
    assert [format_bracket(tree) for _, tree in merged] == [first, OTHER]
    assert [exp(share or 0) for share, _ in merged] == pytest.approx([0.6, 0.2])


def test_a_node_above_a_copy_of_itself_is_one() -> None:
    assert format_bracket(without_copies(parse_bracket(COPIED))) == ONCE
    assert format_bracket(without_copies(parse_bracket("(N (N (N a)))"))) == "(N (N a))"
    assert without_copies(parse_bracket(OTHER)) == parse_bracket(OTHER)


@given(ctrees())
def test_nothing_but_copies_goes(ctree: CTree) -> None:
    less = without_copies(ctree)
    pairs = [
        (label, kids[0] - len(less.tokens))
        for label, kids in zip(less.labels, less.children, strict=True)
        if len(kids) == 1
    ]
    assert not [label for label, kid in pairs if kid >= 0 and less.labels[kid] == label]
    nodes = {
        (label, tokens)
        for label, tokens in zip(ctree.labels, ctree.yields()[len(ctree.tokens) :], strict=True)
    }
    assert {*zip(less.labels, less.yields()[len(less.tokens) :], strict=True)} == nodes
    rules = load_head_rules("leftmost")
    assert rules.apply(less).lexical_heads()[-1] == rules.apply(ctree).lexical_heads()[-1]
    assert less.tokens == ctree.tokens and less.top == ctree.top
