"""Labelled constituents of c-trees, scored as EVALB does or, where there are gaps, as disco-dop does."""

from __future__ import annotations

from collections.abc import Sequence

from d2c.trees.ctree import CTree
from d2c.trees.scores import disco
from d2c.trees.scores.evalb import Score, Summary, score_ctrees
from d2c.trees.scores.evalb.report import VALID


def score_brackets(gold: Sequence[CTree], guess: Sequence[CTree]) -> list[Score]:
    """EVALB's scores under collins.prm; where any tree has gaps, disco-dop's under proper.prm."""
    if all(ctree.is_continuous() for side in (gold, guess) for ctree in side):
        return list(score_ctrees(gold, guess))
    return [
        Score(s.id, s.length, VALID, s.matched, s.gold, s.cand, 0, s.words, s.correct_tags)
        for s in disco.evaluate(zip(gold, guess, strict=True), disco.Parameters.proper())
    ]


def bracket_scores(gold: Sequence[CTree], guess: Sequence[CTree]) -> Summary:
    """The sum of `score_brackets`."""
    return sum(map(Summary.of, score_brackets(gold, guess)), Summary())
