"""What all scorers of brackets count; recall, precision and F1 are computed here and nowhere else.

Percentages are 0 where there is nothing to divide by. The order of operations is EVALB's: the last printed
digit may depend on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from operator import add, attrgetter
from typing import Any, Self


def percent(part: int, whole: int) -> float:
    """Return `part` of `whole`, in percent."""
    return 100.0 * part / whole if whole else 0.0


class Counts:
    """A dataclass of numbers that adds up with `+`, field by field."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        numbers = _numbers(type(self))  # type: ignore[arg-type]
        return type(self)(*map(add, numbers(self), numbers(other)))


@cache
def _numbers(counts: type[Any]) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*[one.name for one in fields(counts)])


class Matching:
    """Anything with counts of brackets in gold, in a guess, and in both."""

    __slots__ = ()
    gold: int
    guess: int
    matched: int

    @property
    def matches(self) -> Matches:
        """Return these counts alone."""
        return Matches(self.gold, self.guess, self.matched)

    @property
    def recall(self) -> float:
        """Return the percent of the gold brackets that the guess has."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Return the percent of the guess's brackets that gold has."""
        return percent(self.matched, self.guess)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, in percent."""
        recall, precision = self.recall, self.precision
        return 2 * precision * recall / (precision + recall) if self.matched else 0.0


@dataclass(frozen=True, slots=True)
class Matches(Matching, Counts):
    """Counts of brackets and nothing else."""

    gold: int = 0
    guess: int = 0
    matched: int = 0


VALID, ERROR, SKIPPED, FAILED = 0, 1, 2, 3
NO_TREE, OTHER_WORDS = "not parsed", "with other words than gold"  # why a guess has FAILED


class _WithTags(Matching):
    """Brackets, and words compared, of which some have the right tag."""

    __slots__ = ()
    words: int
    correct_tags: int

    @property
    def accuracy(self) -> float:
        """Return the percent of the words with the right tag."""
        return percent(self.correct_tags, self.words)


@dataclass(frozen=True, slots=True)
class Score(_WithTags):
    """The counts of one sentence.

    id:       its number, from 1; of its line, where lines are scored
    length:   gold tokens, without those left out "for length"
    status:   VALID, ERROR (words differ, or brackets are unbalanced), SKIPPED (no words in the guess),
              FAILED (no guess over the words of gold: all gold brackets are missed)
    matched:  gold brackets found in the guess, out of `gold` and `guess` brackets
    crossing: brackets of the guess that cross a gold bracket, where these have no gaps
    words:    words compared, of which `correct_tags` have the right tag
    problem:  in words, what is wrong with the sentence; empty for most
    other_tags: whether the guess has other tags than gold
    disc_gold, disc_guess: brackets with gaps
    distinct_gold, distinct_guess: brackets, equal ones counted once
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
    other_tags: bool = False
    disc_gold: int = 0
    disc_guess: int = 0
    distinct_gold: int = 0
    distinct_guess: int = 0

    @property
    def valid(self) -> bool:
        """Return whether the sentence counts in sums."""
        return self.status in (VALID, FAILED)

    @property
    def failed(self) -> bool:
        """Return whether there is no guess over the words of gold; all gold brackets are missed then."""
        return self.status == FAILED

    @property
    def complete_match(self) -> bool:
        """Return whether all brackets match."""
        return self.gold == self.guess == self.matched and not self.failed


@dataclass(frozen=True, slots=True)
class Summary(_WithTags, Counts):
    """Sums over sentences, which add up with `+`. Only valid sentences have brackets, crossings and words.

    complete, uncrossed, twice_crossed: sentences whose brackets all match; with no, with at most 2 crossings
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
    disc_gold: int = 0
    disc_guess: int = 0
    distinct_gold: int = 0
    distinct_guess: int = 0

    @classmethod
    def of(cls, score: Score) -> Self:
        """Return the summary of one sentence."""
        if not score.valid:
            return cls(1, int(score.status == ERROR), int(score.status == SKIPPED))
        crossing = 3 if score.failed else score.crossing  # a failed sentence is not uncrossed
        brackets = score.matched, score.gold, score.guess, score.crossing, score.words, score.correct_tags
        sentences = int(score.complete_match), int(crossing == 0), int(crossing <= 2)
        distinct = score.disc_gold, score.disc_guess, score.distinct_gold, score.distinct_guess
        return cls(1, 0, 0, *brackets, *sentences, *distinct)

    @property
    def valid(self) -> int:
        """Return how many sentences count."""
        return self.sentences - self.errors - self.skipped

    @property
    def complete_match(self) -> float:
        """Return the percent of the sentences whose brackets all match."""
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        """Return the crossing brackets per sentence."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Return the percent of the sentences without crossing brackets."""
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Return the percent of the sentences with at most two crossing brackets."""
        return percent(self.twice_crossed, self.valid)


@dataclass
class Totals:
    """The summaries of all sentences and of the short ones, those with at most `cutoff` tokens.

    longest: the largest length of each
    other_tags: how many sentences have other tags than gold
    failed: how many sentences failed, by problem; first: the number of the first of them, by problem
    """

    cutoff: int = 40
    every: Summary = field(default_factory=Summary)
    short: Summary = field(default_factory=Summary)
    longest: dict[str, int] = field(default_factory=lambda: {"every": 0, "short": 0})
    other_tags: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def over(self, scores: Iterable[Score]) -> Iterator[Score]:
        """Yield scores, and add them to the totals."""
        for score in scores:
            one = Summary.of(score)
            self.every += one
            self.longest["every"] = max(self.longest["every"], score.length)
            if score.length <= self.cutoff:
                self.short += one
                self.longest["short"] = max(self.longest["short"], score.length)
            self.other_tags += score.other_tags
            if score.failed:
                self.first.setdefault(score.problem, score.id)
                self.failed[score.problem] += 1
            yield score

    def notes(self) -> Iterator[str]:
        """Yield what sums do not show: how many sentences have other tags or failed."""
        of_all = f"of {self.every.sentences:,} sentences"
        if self.other_tags:
            yield (
                f"{self.other_tags:,} {of_all} have other tags than gold; words are left out by gold's tags, "
                "on both sides."
            )
        if self.failed:
            told = [
                f"{count:,} {why} ({'the first is ' * (count > 1)}sentence {self.first[why]})"
                for why, count in self.failed.items()
            ]
            yield f"{self.failed.total():,} {of_all} failed, and count with recall 0: {', '.join(told)}."


def summed(scores: Iterable[Score]) -> Summary:
    """Return the sum of scores."""
    return sum(map(Summary.of, scores), Summary())


def notes(scores: Iterable[Score]) -> Iterator[str]:
    """Yield what sums of these scores do not show, as `Totals.notes` does."""
    totals = Totals()
    for _ in totals.over(scores):
        pass
    yield from totals.notes()
