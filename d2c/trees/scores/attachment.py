"""Attachment scores: the share of tokens with the right head (UAS), and the right head and label (LAS).

Labels are compared whole. Tokens whose form is punctuation only (Unicode category P) can be left out, as the
papers and the CoNLL-X scorer do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from d2c.base.counting import many
from d2c.trees.cleaning import is_punctuation
from d2c.trees.dtree import DTree
from d2c.trees.scores.matches import Counts, percent


@dataclass(frozen=True, slots=True)
class Attachment(Counts):
    """Counts over some tokens; adds with `+`."""

    tokens: int = 0
    heads: int = 0
    labelled: int = 0

    @property
    def uas(self) -> float:
        """Return the percent of tokens with the right head."""
        return percent(self.heads, self.tokens)

    @property
    def las(self) -> float:
        """Return the percent of tokens with the right head and label."""
        return percent(self.labelled, self.tokens)


def score_attachment(gold: DTree, guess: DTree, punctuation: bool = False) -> Attachment:
    """Return the counts of one sentence, without punctuation unless it is asked for.

    Raises ValueError where the trees are not over the same number of tokens.
    """
    if len(gold.heads) != len(guess.heads):
        raise ValueError(f"{many(len(gold.heads), 'token')} in gold, {len(guess.heads)} in guess")
    nothing = ("_",) * len(gold.heads)
    tokens = heads = labelled = 0
    labels = gold.labels or nothing, guess.labels or nothing
    rows = zip(gold.tokens.forms, gold.heads, guess.heads, *labels, strict=True)
    for form, gold_head, head, gold_label, label in rows:
        if punctuation or not is_punctuation(form):
            tokens += 1
            if gold_head == head:
                heads += 1
                labelled += gold_label == label
    return Attachment(tokens, heads, labelled)


def attachment_scores(gold: Iterable[DTree], guess: Iterable[DTree], punctuation: bool = False) -> Attachment:
    """Return the counts of all sentences, as `score_attachment`. Raises ValueError where one has fewer."""
    pairs = zip(gold, guess, strict=True)
    return sum((score_attachment(a, b, punctuation) for a, b in pairs), Attachment())
