"""Conversion rules by hand."""

from __future__ import annotations

import pytest

from d2c.routes.rules.conversion_rules import AT_THE_ROOT as ROOT
from d2c.routes.rules.conversion_rules import MOST_PROJECTIONS as MOST
from d2c.routes.rules.conversion_rules import ON_THE_LEFT as LEFT
from d2c.routes.rules.conversion_rules import ON_THE_RIGHT as RIGHT
from d2c.routes.rules.conversion_rules import Arc, ConversionRule, arcs_into, extract_rules
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import parse_bracket

CAT = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .)))")


def test_rules_by_hand() -> None:
    assert extract_rules(CAT, (2, 3, 0, 3)) == [
        ConversionRule(Arc("NN", "DT", None, LEFT), ("NP",), (), 0),
        ConversionRule(Arc("VBD", "NN", None, LEFT), ("VP", "S"), ("NP",), 1),
        ConversionRule(Arc(None, "VBD", None, ROOT), (), ("VP", "S"), 2),
        ConversionRule(Arc("VBD", ".", None, RIGHT), ("VP", "S"), (), 0),
    ]


def test_rules_of_another_convention() -> None:
    """The determiner is the head, and the full stop the root."""
    assert extract_rules(CAT, (3, 1, 4, 0), ("subj", "noun", "verb", "root")) == [
        ConversionRule(Arc("VBD", "DT", "subj", LEFT), ("VP", "S"), ("NP",), 1),
        ConversionRule(Arc("DT", "NN", "noun", RIGHT), ("NP",), (), 0),
        ConversionRule(Arc(".", "VBD", "verb", LEFT), ("S",), ("VP",), 1),
        ConversionRule(Arc(None, ".", "root", ROOT), (), ("S",), 1),
    ]


def test_what_an_arc_backs_off_to() -> None:
    assert [*Arc("VBD", "NN", "subj", LEFT).backed_off()] == [
        Arc("VBD", "NN", "subj", LEFT),
        Arc("VBD", "NN", None, LEFT),
        Arc(None, "NN", None, LEFT),
        Arc("VBD", None, None, LEFT),
        Arc(None, None, None, LEFT),
        Arc(None, None, None, None),
    ]
    assert [*Arc(None, "VBD", None, ROOT).backed_off()] == [
        Arc(None, "VBD", None, ROOT),
        Arc(None, None, None, ROOT),
        Arc(None, None, None, None),
    ]
    assert arcs_into(("A", "B", "C"), (2, 0, 2)) == [
        Arc("B", "A", None, LEFT),
        Arc(None, "B", None, ROOT),
        Arc("B", "C", None, RIGHT),
    ]


@pytest.mark.parametrize("height", [MOST, MOST + 1])
def test_what_attaches_too_high_makes_no_rule(height: int) -> None:
    """A comb whose head is its first word: what is learned of it can be read back."""
    tokens = Tokens(("a",) * (height + 1), ("A",) * (height + 1))
    children = [(0, 1), *((height + 1 + k, k + 2) for k in range(height - 1))]
    comb = CTree(tokens, ("X",) * height, tuple(children))
    longest = max(len(rule.attachment) for rule in extract_rules(comb, (0, *(1,) * height)))
    assert longest == MOST


def test_no_rule_of_too_many_projections() -> None:
    for height in (MOST, MOST + 1):
        labels = ("X",) * height
        children = ((0, 1), *((node,) for node in range(2, height + 1)))
        found = extract_rules(CTree(Tokens(("a", "b"), ("A", "B")), labels, children), (0, 1))
        attached = ConversionRule(Arc("A", "B", None, RIGHT), ("X",), (), 0)
        root = ConversionRule(Arc(None, "A", None, ROOT), (), labels, 1)
        assert found == [root, attached][height > MOST :]
