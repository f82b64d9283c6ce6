"""What EVALB counts in a sentence, the sums over sentences, and the table that it prints of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from d2c.trees.scores import matches
from d2c.trees.scores.matches import percent

VALID, ERROR, SKIPPED = 0, 1, 2

_RULE = "=" * 76
HEADER = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
    _RULE,
)


@dataclass(frozen=True, slots=True)
class Score(matches.Score):
    """The counts of one sentence.

    id:       line number, from 1
    length:   gold tokens, without those left out "for length"
    status:   VALID, ERROR (words differ, or brackets are unbalanced), SKIPPED (no words in the guess)
    matched:  gold brackets found in the guess, out of `gold` and `guess` brackets
    crossing: brackets of the guess that cross a gold bracket
    words:    words compared, of which `correct_tags` have the right tag
    problem:  in words, what is wrong with the sentence; empty for most
    """

    id: int
    length: int
    status: int = VALID
    matched: int = 0
    gold: int = 0
    guess: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    problem: str = ""

    @property
    def valid(self) -> bool:
        return self.status == VALID


@dataclass(frozen=True, slots=True)
class Summary(matches.Summary):
    """Sums over sentences, which add up with `+`. Only valid sentences have brackets, crossings and words.

    complete, uncrossed, twice_crossed: sentences whose brackets all match; whose crossings are 0, at most 2
    """

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    guess: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    complete: int = 0
    uncrossed: int = 0
    twice_crossed: int = 0

    @classmethod
    def of(cls, score: Score) -> Self:
        if not score.valid:
            return cls(1, int(score.status == ERROR), int(score.status == SKIPPED))
        crossing = score.crossing
        counts = score.matched, score.gold, score.guess, crossing, score.words, score.correct_tags
        return cls(1, 0, 0, *counts, int(score.complete_match), int(crossing == 0), int(crossing <= 2))

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def average_crossing(self) -> float:
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        return percent(self.twice_crossed, self.valid)


@dataclass
class Totals:
    """The summaries of all sentences and of the short ones, those with at most `cutoff` tokens."""

    cutoff: int = 40
    every: Summary = field(default_factory=Summary)
    short: Summary = field(default_factory=Summary)

    def add(self, score: Score) -> None:
        one = Summary.of(score)
        self.every += one
        if score.length <= self.cutoff:
            self.short += one


def report_lines(scores: Iterable[Score], totals: Totals) -> Iterator[str]:
    """What EVALB prints, without line ends, while the scores come in; they are added to `totals`.

    An error that `scores` raises passes through: like EVALB's own output, the report then ends there.
    """
    yield from HEADER
    for score in scores:
        totals.add(score)
        yield format_line(score)
    yield from format_totals(totals)


def format_line(score: Score) -> str:
    """The line of one sentence in EVALB's table."""
    return (
        f"{score.id:4d}  {score.length:3d}    {score.status}  {score.recall:6.2f} {score.precision:6.2f}"
        f"   {score.matched:3d}    {score.gold:3d}  {score.guess:3d}    {score.crossing:3d}"
        f"   {score.words:4d}  {score.correct_tags:4d}   {score.accuracy:6.2f}"
    )


def format_totals(totals: Totals) -> list[str]:
    """The lines below EVALB's table: sums, then the summaries of all and of short sentences."""
    every = totals.every
    sums = f"  {every.words:5d} {every.correct_tags:5d}   {every.accuracy:6.2f}"
    if every.gold and every.guess:
        sums = (
            f"                {every.recall:6.2f} {every.precision:6.2f} {every.matched:6d}"
            f" {every.gold:5d} {every.guess:5d}  {every.crossing:5d}{sums}"
        )
    lines = [_RULE, sums, "=== Summary ===", "", "-- All --", *_block(every)]
    return [*lines, "", f"-- len<={totals.cutoff} --", *_block(totals.short)]


def _block(summary: Summary) -> list[str]:
    counts = {
        "Number of sentence": summary.sentences,
        "Number of Error sentence": summary.errors,
        "Number of Skip  sentence": summary.skipped,
        "Number of Valid sentence": summary.valid,
    }
    values = {
        "Bracketing Recall": summary.recall,
        "Bracketing Precision": summary.precision,
        "Bracketing FMeasure": summary.f1 if summary.matched else None,
        "Complete match": summary.complete_match,
        "Average crossing": summary.average_crossing,
        "No crossing": summary.no_crossing,
        "2 or less crossing": summary.two_or_less_crossing,
        "Tagging accuracy": summary.accuracy,
    }
    lines = [f"{name:<25} = {count:6d}" for name, count in counts.items()]
    for name, value in values.items():
        # Zero divided by zero is a negative NaN on x86, and C prints its sign.
        shown = "-nan" if value is None else f"{value:.2f}"
        lines.append(f"{name:<25} = {shown:>6}")
    return lines
