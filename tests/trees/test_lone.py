"""Nodes over punctuation alone, and copies: what treebanks have of them stays, what decoders add goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from d2c.base.model_files import read_as, write_settings
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.lone import LoneNodes, Noted
from tests.steps import is_linear
from tests.strategies import ctrees

NONE = LoneNodes(frozenset(), frozenset())


def mended(tree: str, lone: LoneNodes = NONE) -> str:
    return format_bracket(lone.mended(parse_bracket(tree))[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(TOP (S (NP (PRP it)) (NP (. !))))", "(TOP (S (NP (PRP it)) (. !)))"),
        ("(TOP (S (NN a) (PRN (: -) (NP (: -)))))", "(TOP (S (NN a) (: -) (: -)))"),
        ("(TOP (S (NP (NP (NP (PRP it)))) (VBZ is)))", "(TOP (S (NP (PRP it)) (VBZ is)))"),
        ("(TOP (NP (NP (NN a) (NP (. .)))))", "(TOP (NP (NN a) (. .)))"),
        ("(TOP (FRAG (X (: ...)) (. .)))", "(TOP (FRAG (: ...) (. .)))"),  # the root is over anything
        ("(TOP (NP (S (NP (NN a)))))", "(TOP (NP (S (NP (NN a)))))"),
        ("(. .)", "(. .)"),
    ],
)  # fmt: skip
def test_what_no_treebank_had_goes(before: str, after: str) -> None:
    assert mended(before) == after


def test_shares_stay_with_their_nodes() -> None:
    tree = parse_bracket("(TOP (S (NP (. !)) (NP (NP (NN a)))))")
    assert NONE.mended(tree, (0.1, 0.2, 0.3, 0.4))[1] == (0.3, 0.4)
    assert NONE.mended(tree)[1] is None


def test_what_is_not_known() -> None:
    """Models from before have copies, and nodes over punctuation that is tagged as words."""
    tree = "(TOP (S (NP (NP (NN a))) (NP (SYM *)) (NP (. *)) (PRN (-LRB- -LRB-) (LS -) (-RRB- -RRB-))))"
    after = "(TOP (S (NP (NP (NN a))) (NP (SYM *)) (. *) (PRN (-LRB- -LRB-) (LS -) (-RRB- -RRB-))))"
    assert mended(tree, LoneNodes()) == after


def test_what_was_seen() -> None:
    tree = "(TOP (S (LST (LS *)) (NP (NP (NN a))) (PRN (-LRB- -LRB-) (NP (: -)) (-RRB- -RRB-))))"
    told = list[LoneNodes]()
    assert len([*Noted(map(parse_bracket, (tree, "(TOP (FRAG (: ...)))")), told.append)]) == 2
    known = {("LST", "*"), ("NP", "-"), ("PRN", "(", "-", ")")}
    assert told == [LoneNodes(frozenset(known), frozenset({"NP"}))]
    tree = "(TOP (S (LST (. *)) (NP (. *)) (NP (NP (NN a))) (VP (VP (VB b)))))"
    assert mended(tree, told[0]) == "(TOP (S (LST (. *)) (. *) (NP (NP (NN a))) (VP (VB b))))"


@given(ctrees())
def test_trees_that_were_seen_stay(ctree: CTree) -> None:
    """Whatever was read comes back as it was."""
    forms = tuple("a!"[i % 3 > 0] for i in range(len(ctree.tokens)))
    given = replace(ctree, tokens=replace(ctree.tokens, forms=forms))
    told = list[LoneNodes]()
    assert [*Noted([given], told.append)] == [given]
    assert told[0].mended(given) == (given, None)


def test_a_file_holds_it(tmp_path: Path) -> None:
    for lone in (LoneNodes(), LoneNodes(frozenset({("PRN", "(", ")"), ("NP", "*")}), frozenset({"NP"}))):
        write_settings(tmp_path / "lone.json", 1, lone)
        assert read_as(tmp_path / "lone.json", 1, LoneNodes) == lone


def test_many_nodes_over_marks_take_linear_time() -> None:
    def mend(n: int) -> None:
        tree = f"(TOP (S (NN a){' (NP (. !))' * n}))"
        assert mended(tree).count("NP") == mended(tree, LoneNodes()).count("NP") == 0

    assert is_linear(mend, 100)
