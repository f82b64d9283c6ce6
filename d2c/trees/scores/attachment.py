"""Attachment scores: the share of tokens with the right head (UAS), and the right head and label (LAS); of a
file also by relation, with labels cut at `:`, and the accuracy of tags.

Labels are compared whole unless stated. Tokens whose form in gold is punctuation only (Unicode's category P)
can be left out, as the papers and the CoNLL-X scorer do. With them, UAS, LAS cut at `:`, and the accuracy of
tags are those of the CoNLL 2018 scorer, and the table by label is that of spaCy's scorer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import eq

from d2c.base.columns import in_columns
from d2c.base.counting import many, ranked
from d2c.trees.cleaning import is_punctuation
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import tag_columns
from d2c.trees.scores.matches import Matches, percent

_COLUMNS = "relation", "gold", "guess", "precision", "recall", "F1", "UAS"
_KINDS = {True: "with", False: "without"}


@dataclass(frozen=True, slots=True)
class Attachment:
    """Counts of tokens, of those with the right head, and of those with the right head and label."""

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


@dataclass
class AttachmentTotals:
    """Counts over all sentences of a file.

    punctuation: whether punctuation counts
    arcs: tokens that count, by their label in gold, that in the guess, and whether the head is right
    tokens: all tokens; tagged, right: by column of CoNLL-U, those with a tag in gold, and with the same value
    """

    punctuation: bool = False
    arcs: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    tokens: int = 0
    tagged: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, gold: DTree, guess: DTree) -> None:
        """Count a sentence. Raises ValueError where the trees are not over the same number of tokens."""
        self.arcs.update(_arcs(gold, guess, self.punctuation))
        others = tag_columns(guess.tokens)
        for column, tags in tag_columns(gold.tokens).items():
            self.tagged[column] += len(tags) - tags.count("_")
            self.right[column] += sum(map(eq, tags, others[column]))
        self.tokens += len(gold.tokens)

    def lines(self, width: int | None = None) -> Iterator[str]:
        """Yield a table with a row for each label, no wider than a terminal of this width, then the scores of
        all tokens."""
        gold, guess, heads, both = (Counter[str]() for _ in range(4))
        cut = 0
        for (label, other, right), count in self.arcs.items():
            gold[label] += count
            guess[other] += count
            heads[label] += count * right
            both[label] += count * (right and label == other)
            cut += count * (right and label.partition(":")[0] == other.partition(":")[0])
        rows = list[tuple[str, ...]]()
        for label in ranked({one: gold[one] for one in gold | guess}):
            one = Matches(gold[label], guess[label], both[label])
            shares = one.precision, one.recall, one.f1, percent(heads[label], one.gold)
            rows.append((label, f"{one.gold:,}", f"{one.guess:,}", *(f"{share:.2f}" for share in shares)))
        yield from in_columns([_COLUMNS, *rows], width, [0])
        tokens = gold.total()
        every = Attachment(tokens, heads.total(), both.total())
        kept = _KINDS[self.punctuation]
        yield ""
        yield f"UAS {every.uas:.2f}  LAS {every.las:.2f}  ({many(tokens, 'token')}, {kept} punctuation)"
        if any(":" in label for label in gold | guess):
            yield f"LAS {percent(cut, tokens):.2f} with relations cut at ':'"
        tags = [f"{name} {percent(self.right[name], self.tokens):.2f}" for name in +self.tagged]
        if tags:
            yield f"{'  '.join(tags)}  ({many(self.tokens, 'token')}, with punctuation)"
        yield "Precision, recall and F1 are those of head and relation together."
        if not self.punctuation:
            yield "Punctuation: words of gold whose characters are all in Unicode's category P."


def _arcs(gold: DTree, guess: DTree, punctuation: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield the label in gold and in the guess, and whether the head is right, of each token that counts."""
    if len(gold.heads) != len(guess.heads):
        raise ValueError(f"{many(len(gold.heads), 'token')} in gold, {len(guess.heads)} in guess")
    nothing = ("_",) * len(gold.heads)
    labels = gold.labels or nothing, guess.labels or nothing
    rows = zip(gold.tokens.forms, *labels, gold.heads, guess.heads, strict=True)
    for form, label, other, head, guessed in rows:
        if punctuation or not is_punctuation(form):
            yield label, other, head == guessed


def attachment_scores(gold: Iterable[DTree], guess: Iterable[DTree], punctuation: bool = False) -> Attachment:
    """Return the counts of all sentences, without punctuation unless it is asked for.

    Raises ValueError where one side has fewer sentences, or two trees have different numbers of tokens.
    """
    tokens = heads = labelled = 0
    for pair in zip(gold, guess, strict=True):
        for label, other, right in _arcs(*pair, punctuation):
            tokens += 1
            heads += right
            labelled += right and label == other
    return Attachment(tokens, heads, labelled)
