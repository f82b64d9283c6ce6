"""JSON lines are read back as the trees that were written, and what is no such line is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import d2c
from d2c.base.errors import Faults, FormatError, FormatErrors, Refusals
from d2c.parsing.json_lines import _sentence, format_json, read_json_lines
from d2c.parsing.sentence import NO_CTREE, Sentence
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.parsed import PARSED_LINES, made_of
from d2c.trees.formats.registry import format_of
from d2c.trees.heads import load_head_rules
from tests.errors import faulty
from tests.strategies import ctrees

TOKENS = Tokens(("a", "b", "c"), ("A", "B", "C"), comments=("sent_id = 1",))
GAP = build_ctree(TOKENS, ["X", "Y", "S"], [(0, 2), (3,), (4, 1)], 5, [2, 3, 1], "TOP")
PARSED = Sentence(TOKENS, line=1, ctree=GAP, confidences=(0.25, 0.5, 1.0))
LINE = json.loads(format_json(PARSED))


def parsed(line: str) -> Sentence:
    return made_of(line, PARSED_LINES.name, _sentence)


def written(ctree: CTree, confidences: tuple[float, ...] | None = None) -> str:
    return format_json(Sentence(ctree.tokens, line=1, ctree=ctree, confidences=confidences))


@given(ctrees())
def test_what_is_written_is_read_back(ctree: CTree) -> None:
    headed = load_head_rules("leftmost").apply(ctree)
    shares = (0.5,) * len(headed.labels)
    sentence = parsed(written(headed, shares))
    read = sentence.tree
    assert (read.tokens, read.top) == (headed.tokens, "TOP") and (sentence.confidences or ()) == shares
    assert not sentence.error
    assert spans(read) == spans(headed)
    whole = replace(headed, top="TOP")
    assert written(read) == written(whole)
    assert d2c.Tree.from_string(json.loads(written(headed))["bracket"]) == d2c.Tree(headed)


def spans(ctree: CTree) -> list[tuple[str, tuple[int, ...]]]:
    return sorted(zip(ctree.labels, ctree.yields()[len(ctree.tokens) :], strict=True))


def test_lines_are_recognised_though_they_have_brackets(tmp_path: Path) -> None:
    file, tokens = tmp_path / "x.jsonl", Tokens(("word",) * 200, ("NN",) * 200)
    for ctree in (PARSED.tree, CTree(tokens, ("S",), (tuple(range(200)),), (0,), "TOP")):
        file.write_text(format_json(Sentence(ctree.tokens, ctree=ctree, line=1)))
        assert format_of(file) == "json"


def test_gaps_unary_nodes_and_confidences() -> None:
    assert parsed(json.dumps(LINE)) == PARSED


def test_a_sentence_that_could_not_be_parsed() -> None:
    error = FormatError("a.txt", 7, 0, "not UTF-8 text; iconv converts it")
    bad = parsed(format_json(Sentence(TOKENS, line=7).failed(error)))
    assert (bad.ctree, bad.confidences, bad.why, bad.line) == (NO_CTREE, None, error.message, 7)
    assert parsed(json.dumps({"error": "x"})).why == "x"
    assert parsed(json.dumps(LINE | {"error": None})).ctree == GAP


def test_lines_without_heads_and_confidences() -> None:
    spans = [{"label": "S", "start": 0, "end": 3}, {"label": "X", "start": 1, "end": 3, "confidence": None}]
    read = parsed(json.dumps(LINE | {"spans": spans}))
    ctree, confidences = read.tree, read.confidences
    assert (ctree.labels, ctree.children, ctree.head_children) == (("X", "S"), ((1, 2), (0, 3)), None)
    assert confidences is None


def with_span(k: int, **changed: Any) -> dict[str, Any]:
    """The line, with another span."""
    return LINE | {"spans": [span | (changed if i == k else {}) for i, span in enumerate(LINE["spans"])]}


SPAN = "is not some of 3 tokens in their order"
OUTSIDE = {"start": 1, "end": 3, "tokens": [1, 2], "head": 2}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (with_span(0, end=4), f"the span 'S' of 0 to 4 {SPAN}"),
        (with_span(1, tokens=[2, 0]), f"the span 'Y' of 0 to 3 {SPAN}"),
        (with_span(1, tokens=[-3, 0, 2]), f"the span 'Y' of 0 to 3 {SPAN}"),
        (with_span(1, tokens=[0, 2, 9]), f"the span 'Y' of 0 to 3 {SPAN}"),
        (with_span(1, end=10**15), f"the span 'Y' of 0 to {10**15} {SPAN}"),
        (with_span(1, head=1), "the head 1 of the span 'Y' is none of its tokens"),
        (with_span(1, head=None), "1 of 3 spans have no head, others have one"),
        (with_span(0, confidence=None), "1 of 3 spans have no confidence, others have one"),
        (with_span(2, head=0), "the head 2 of the span 'Y' is the head of none of its parts"),
        (with_span(2, **OUTSIDE), "'Y' over tokens 0 to 2 crosses another constituent"),
        (with_span(0, end=2), "'S' over tokens 0 to 1 crosses another constituent"),
        (with_span(0, confidence=1.5), "the confidence 1.5 is not between 0 and 1"),
        (LINE | {"spans": []}, "no constituent is over all tokens"),
        (LINE | {"tags": ["A"]}, "3 tokens with 1 tag"),
        (LINE | {"tokens": [], "tags": []}, "0 tokens with 0 tags"),
        (LINE | {"tokens": ["\ud800", "b", "c"]}, r"'\ud800' is half a character, which no file holds"),
        (LINE | {"comments": [1]}, "no JSON line as `d2c parse --to json` writes it"),
        ({}, "there is no 'tokens'"),
        (with_span(0, label=3), "no JSON line as `d2c parse --to json` writes it"),
        (with_span(0, start="0"), "no JSON line as `d2c parse --to json` writes it"),
        ([], "no JSON line as `d2c parse --to json` writes it"),
    ],
)
def test_what_is_no_such_line(line: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parsed(json.dumps(line))
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["(S (A a))", "[" * 100_000, '{"tokens": NaN}'])
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON line as `d2c parse|NaN is no number"):
        parsed(text)


def test_errors_name_file_line_and_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(LINE) + "\n\n{}\n[]\n")
    with pytest.raises(FormatErrors) as caught:
        refusals = Refusals(Faults(limit=10))
        list(refusals.over(read_json_lines(file, refusals)))
    assert str(caught.value) == (
        f"{file}:3: sentence 2: there is no 'tokens'\n"
        f"{file}:4: sentence 3: no JSON line as `d2c parse --to json` writes it"
    )
    file.write_text("\n")
    with faulty(file, 1):
        list(read_json_lines(file))


def test_the_words_of_one_token_have_its_characters() -> None:
    """As of the pipelines of languages in which `zum` is two words."""
    text = {"tokens": ["zu", "dem", "c"], "offsets": [[4, 7], [4, 7], [8, 9]], "text": "zum c"}
    source = parsed(json.dumps(LINE | text)).source
    assert source is not None and source.offsets == ((4, 7), (4, 7), (8, 9))
    for offsets in ([[4, 7], [5, 7], [8, 9]], [[4, 7], [8, 9], [4, 7]]):
        with pytest.raises(ValueError, match="^its offsets are not those of 3 tokens, one after the other"):
            parsed(json.dumps(LINE | text | {"offsets": offsets}))
    for one in (1e30, 1.5, "4", -1, 1 << 63, True):
        with pytest.raises(ValueError, match="^its offsets are not pairs of numbers of characters"):
            parsed(json.dumps(LINE | text | {"offsets": [[one, 7], [4, 7], [8, 9]]}))
