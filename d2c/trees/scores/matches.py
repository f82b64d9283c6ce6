"""What all scorers of brackets count; recall, precision and F1 are computed here and nowhere else.

Percentages are 0 where there is nothing to divide by. The order of operations is EVALB's: the last printed
digit may depend on it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self, TypeVar


def percent(part: int, whole: int) -> float:
    """Return `part` of `whole`, in percent."""
    return 100.0 * part / whole if whole else 0.0


class Counts:
    """A dataclass of numbers that adds up with `+`, field by field."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        names = _names(type(self))  # type: ignore[arg-type]
        return type(self)(*[getattr(self, name) + getattr(other, name) for name in names])


@cache
def _names(counts: type[Any]) -> list[str]:
    return [field.name for field in fields(counts)]


class Matching:
    """Anything with counts of brackets in gold, in a guess, and in both."""

    __slots__ = ()
    gold: int
    guess: int
    matched: int

    @property
    def matches(self) -> Matches:
        """These counts alone."""
        return Matches(self.gold, self.guess, self.matched)

    @property
    def recall(self) -> float:
        """Percent of the gold brackets that the guess has."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Percent of the guess's brackets that gold has."""
        return percent(self.matched, self.guess)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two, in percent."""
        recall, precision = self.recall, self.precision
        return 2 * precision * recall / (precision + recall) if self.matched else 0.0


@dataclass(frozen=True, slots=True)
class Matches(Matching, Counts):
    """Counts of brackets and nothing else."""

    gold: int = 0
    guess: int = 0
    matched: int = 0


class _WithTags(Matching):
    """Brackets, and words compared, of which some have the right tag."""

    __slots__ = ()
    words: int
    correct_tags: int

    @property
    def accuracy(self) -> float:
        """Percent of the words with the right tag."""
        return percent(self.correct_tags, self.words)


class Score(_WithTags):
    """The counts of one sentence, whose number is `id`; `length` as the scorer counts tokens.

    problem: in words, what is wrong with the sentence; empty for most
    other_tags: whether the guess has other tags than gold
    """

    __slots__ = ()
    id: int
    length: int
    problem: str
    other_tags: bool

    @property
    def valid(self) -> bool:
        """Whether the sentence counts in sums."""
        return True

    @property
    @abstractmethod
    def failed(self) -> bool:
        """Whether there is no guess over the words of gold; all gold brackets are missed then."""

    @property
    def complete_match(self) -> bool:
        """Whether all brackets match."""
        return self.gold == self.guess == self.matched and not self.failed


class Summary(_WithTags, Counts):
    """Sums over sentences; the brackets of `complete` ones all match."""

    __slots__ = ()
    complete: int

    @classmethod
    @abstractmethod
    def of(cls, score: Any) -> Self:
        """Return the summary of one sentence."""

    @property
    @abstractmethod
    def valid(self) -> int:
        """How many sentences count."""

    @property
    def complete_match(self) -> float:
        """Percent of the sentences whose brackets all match."""
        return percent(self.complete, self.valid)


AnyScore = TypeVar("AnyScore", bound=Score)


class Notes:
    """What sums do not tell of sentences: how many have other tags than gold, and how many failed."""

    def __init__(self) -> None:
        self.sentences = self.other_tags = self.failed = 0
        self.first = ""

    def over(self, scores: Iterable[AnyScore]) -> Iterator[AnyScore]:
        """Yield scores, and count."""
        for score in scores:
            self.sentences += 1
            self.other_tags += score.other_tags
            if score.failed:
                self.first = self.first or f"{score.id}: {score.problem}"
                self.failed += 1
            yield score

    def lines(self) -> Iterator[str]:
        """Yield what there is to say."""
        if self.other_tags:
            other = f"{self.other_tags:,} of {self.sentences:,} sentences have other tags than gold"
            yield f"{other}; words are left out by gold's tags, on both sides."
        if self.failed:
            first = f"the first is sentence {self.first}"
            yield f"{self.failed:,} of {self.sentences:,} sentences failed, and count with recall 0; {first}."


def notes(scores: Iterable[Score]) -> Iterator[str]:
    """Yield what `Notes` has to say of scores."""
    counted = Notes()
    for _ in counted.over(scores):
        pass
    yield from counted.lines()
