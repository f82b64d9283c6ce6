"""Scores by the tags of gold: a guess's own decide nothing, every sentence counts, EVALB's figures stay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.ctree import NO_CTREE, CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.evalb import evaluate_by_gold, evaluate_files
from d2c.trees.scores.evalb_sides import from_line
from d2c.trees.scores.matches import Matches, notes
from d2c.trees.scores.prm import EvalbParameters
from tests.strategies import ctrees
from tests.trees.test_evalb import VECTORS, needs_vectors


@needs_vectors
@pytest.mark.parametrize("name", ["collins", "spmrl"])
def test_600_sentences_by_gold_as_by_evalb(name: str) -> None:
    """Where EVALB finds no error and tags are equal; all others count, too."""
    parameters = EvalbParameters.read(VECTORS / f"{name}.prm", spmrl=name == "spmrl")
    sides = [
        list(map(from_line, (VECTORS / f"{side}.mrg").read_text().splitlines())) for side in ("gold", "guess")
    ]
    strict = {
        score.id: score for score in evaluate_files(VECTORS / "gold.mrg", VECTORS / "guess.mrg", parameters)
    }
    by_gold = list(evaluate_by_gold(zip(*sides, strict=True), parameters))
    same = [score for score in by_gold if not score.other_tags and not strict[score.id].problem]
    assert same == [strict[score.id] for score in same] and len(same) > 300
    assert len(by_gold) == 600 == sum(score.valid for score in by_gold)


def wrong_tags(ctree: CTree) -> CTree:
    return replace(ctree, tokens=replace(ctree.tokens, tags=(".",) * len(ctree.tokens)))


@pytest.mark.parametrize("name", METRICS)
@given(st.lists(st.tuples(ctrees(), ctrees()), min_size=1, max_size=3))
def test_tags_of_the_guess_never_decide(name: str, pairs: list[tuple[CTree, CTree]]) -> None:
    """With any tags a guess has the brackets that it has with gold's."""
    metric, gold = METRICS[name], [a for a, _ in pairs]
    guess = [b if a.tokens.forms == b.tokens.forms else None for a, b in pairs]
    own = [b and replace(b, tokens=a.tokens) for a, b in zip(gold, guess, strict=True)]
    odd = [b and wrong_tags(b) for b in guess]
    one, other = (metric.summary(metric.score(gold, side)) for side in (own, odd))
    assert one.matches == other.matches and one.valid == other.valid


@pytest.mark.parametrize("name", METRICS)
def test_a_sentence_without_a_tree_has_recall_0(name: str) -> None:
    metric = METRICS[name]
    gold = parse_bracket("(TOP (S (NP (NN a)) (VP (VB b) (NN c)) (. .)))")
    other = parse_bracket("(TOP (S (NP (NN a)) (VP (VB b) (NN d)) (. .)))")
    scores = metric.score([gold] * 4, [wrong_tags(gold), other, None, NO_CTREE])
    summary = metric.summary(scores)
    assert summary.matches == Matches(12, 3, 3) and summary.valid == 4 and summary.complete == 1
    assert [score.failed for score in scores] == [False, True, True, True]
    assert list(notes(scores)) == [
        "1 of 4 sentences have other tags than gold; words are left out by gold's tags, on both sides.",
        "3 of 4 sentences failed, and count with recall 0: "
        "1 with other words than gold (sentence 2), 2 not parsed (the first is sentence 3).",
    ]
    assert list(notes(metric.score([gold], [gold]))) == []
