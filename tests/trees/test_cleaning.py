"""Wrappers, kept tokens and punctuation, each on trees small enough to see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.cleaning import is_punctuation, unwrap, without_tokens
from d2c.trees.conventions import functions_of, remove_empty, strip_function
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.reading import Reading
from tests.strategies import ctrees


@pytest.mark.parametrize("form", [".", "...", "“", "-", "¿", "%"])
def test_marks(form: str) -> None:
    assert is_punctuation(form)


@pytest.mark.parametrize("form", ["a", "U.S.", "$", "+", "<", "3", "n't"])
def test_words_and_symbols_are_no_marks(form: str) -> None:
    assert not is_punctuation(form)


@given(ctrees(), st.data())
def test_kept_tokens_and_what_is_over_them(ctree: CTree, data: st.DataObject) -> None:
    n = len(ctree.tokens)
    kept = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    found = without_tokens(ctree, {*range(n)}.difference(kept))
    if not kept:
        assert found is None
        return
    assert found is not None and found.tokens.forms == tuple(ctree.tokens.forms[i] for i in kept)
    wanted = [
        (label, tuple(kept.index(i) for i in below if i in kept))
        for label, below in zip(ctree.labels, ctree.yields()[n:], strict=True)
    ]
    nodes = zip(found.labels, found.yields()[len(kept) :], strict=True)
    assert sorted(nodes) == sorted(node for node in wanted if node[1])


@given(ctrees(), st.sampled_from(["", "TOP", "VROOT"]))
def test_wrappers(ctree: CTree, wrapper: str) -> None:
    bare = replace(ctree, top=None)
    heads = None if bare.head_children is None else (*bare.head_children, bare.root)
    wrapped = CTree(bare.tokens, (*bare.labels, wrapper), (*bare.children, (bare.root,)), heads)
    assert unwrap(wrapped, clean=False) == replace(bare, top=wrapper)
    assert unwrap(wrapped, clean=True).top == (wrapper or "TOP")


def test_empty_elements_without_their_tag(tmp_path: Path) -> None:
    """MASC has one; a word with the tag NP-SBJ would teach a tagger this tag."""
    text = "( (S (NP-SBJ-1 (PRP She)) (VP (VBD seemed) (S (NP-SBJ *PRO*-1) (ADJP-PRD (JJ shallow))))) )"
    (tmp_path / "x.mrg").write_text(f"{text}\n(NP (SYM *) (SYM **) (NN *-x))\n(NP *-1)\n", encoding="utf-8")
    for traces in (False, True):
        first, second = Reading(traces=traces)(tmp_path / "x.mrg")
        assert format_bracket(first) == "(TOP (S (NP (PRP She)) (VP (VBD seemed) (S (ADJP (JJ shallow))))))"
        assert second.tokens.forms == ("*", "**", "*-x")


def test_empty_elements_and_function_tags() -> None:
    ctree = parse_bracket("(S (NP-SBJ-1 (PRP They)) (VP (VBD slept) (NP (-NONE- *))))")
    kept = remove_empty(ctree)
    assert kept is not None and format_bracket(kept) == "(S (NP-SBJ-1 (PRP They)) (VP (VBD slept)))"
    assert list(map(strip_function, ("NP-SBJ-1", "ADVP|PRT", "NP=2", "-"))) == ["NP", "ADVP", "NP", "-"]


def test_functions_of_a_label() -> None:
    labels = ("PP-LOC-PRD-1", "NP-SBJ=2", "NP=2", "ADVP-TMP|PRT-X", "NP", "-NONE-", "NP-SBJ-SBJ")
    found = (("LOC", "PRD"), ("SBJ",), (), ("TMP",), (), (), ("SBJ",))
    assert tuple(map(functions_of, labels)) == found
