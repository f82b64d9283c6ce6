"""disco-dop's evaluator: labelled recall and precision of constituents that may have gaps.

Source: A. van Cranenburgh, disco-dop (`discodop eval`), with its parameter files (proper.prm). Equal to it
number for number: a bracket is a label with a set of tokens, the root's too unless its label is deleted.
Equal brackets of a sentence (a unary chain with one label twice) count each, but in the summary's numbers of
brackets they count once. Tokens that the *gold* tree's tag or the word deletes are taken out of both trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Self

from d2c.trees.ctree import Block, CTree, joined
from d2c.trees.scores import matches
from d2c.trees.scores.matches import Counts
from d2c.trees.scores.prm import DiscoParameters

Bracket = tuple[str, tuple[Block, ...]]

HEADER = (
    "   Sentence                 Matched   Brackets            Corr POS",
    "  ID Length  Recall  Precis Bracket   gold   cand  Words  POS  Accur.",
    " ___________________________________________________________________",
)


@dataclass(frozen=True, slots=True)
class _DiscoCounts:
    """Counts of a sentence, or of many.

    words: tokens compared; disc_gold, disc_guess: brackets with gaps
    distinct_gold, distinct_guess: brackets, equal ones of a sentence counted once
    """

    matched: int = 0
    gold: int = 0
    guess: int = 0
    disc_gold: int = 0
    disc_guess: int = 0
    words: int = 0
    correct_tags: int = 0
    distinct_gold: int = 0
    distinct_guess: int = 0


@dataclass(frozen=True, slots=True)
class DiscoScore(_DiscoCounts, matches.Score):
    """The counts of one sentence; length: gold tokens but for the uncounted."""

    id: int = 0
    length: int = 0
    problem: str = ""
    other_tags: bool = False

    @property
    def failed(self) -> bool:
        return bool(self.problem)

    def line(self) -> str:
        """Return the sentence's line of the table."""
        recall, precision = _shown(self.recall, self.gold), _shown(self.precision, self.guess)
        return (
            f"{self.id:>3} {self.length:>6} {recall:>7} {precision:>7} {self.matched:>7} {self.gold:>6} "
            f"{self.guess:>6} {self.words:>6} {self.correct_tags:>5} {_shown(self.accuracy, self.words):>7} "
        )


@dataclass(frozen=True, slots=True)
class DiscoSummary(_DiscoCounts, matches.Summary):
    """Sums over sentences; they add up with `+`, but `longest`, which is the largest length."""

    sentences: int = 0
    longest: int = 0
    complete: int = 0

    @classmethod
    def of(cls, score: DiscoScore) -> Self:
        counts = {field.name: getattr(score, field.name) for field in fields(_DiscoCounts)}
        return cls(sentences=1, longest=score.length, complete=int(score.complete_match), **counts)

    def __add__(self, other: DiscoSummary) -> DiscoSummary:
        return replace(Counts.__add__(self, other), longest=max(self.longest, other.longest))

    @property
    def valid(self) -> int:
        return self.sentences


def evaluate(
    pairs: Iterable[tuple[CTree, CTree | None]], parameters: DiscoParameters
) -> Iterator[DiscoScore]:
    """Yield the scores of pairs of gold tree and guess. With `disc_only`, of sentences where either has a
    gap.

    A guess of other words, where disco-dop stops, has failed, as None has: all gold brackets are missed.
    """
    for number, (gold, guess) in enumerate(pairs, 1):
        score = _compare(number, gold, guess, parameters)
        if score is not None:
            yield score


def evaluate_all(gold: Iterable[CTree], guess: Iterable[CTree], parameters: DiscoParameters) -> DiscoSummary:
    """Return the sum of the scores."""
    return sum(map(DiscoSummary.of, evaluate(zip(gold, guess, strict=True), parameters)), DiscoSummary())


def report_lines(scores: Iterable[DiscoScore], cutoff: int) -> Iterator[str]:
    """Yield the table, then the summary, as disco-dop prints them; a percentage of nothing is `nan`."""
    yield from HEADER
    short = every = DiscoSummary()
    for score in scores:
        every += DiscoSummary.of(score)
        if score.length <= cutoff:
            short += DiscoSummary.of(score)
        yield score.line()
    yield ""
    yield f"_________ Summary _________ <= {cutoff} ______ ALL"
    sides = short, every
    counts = {
        "number of sentences:": [side.sentences for side in sides],
        "longest sentence:": [side.longest for side in sides],
        "gold brackets:": [side.distinct_gold for side in sides],
        "cand. brackets:": [side.distinct_guess for side in sides],
        "disc. gold brackets:": [side.disc_gold for side in sides],
        "disc. cand. brackets:": [side.disc_guess for side in sides],
    }
    for title, numbers in counts.items():
        yield f"{title:<27} {numbers[0]:>5} {numbers[1]:>10}"
    shares = {
        "labeled recall:": [_shown(side.recall, side.gold) for side in sides],
        "labeled precision:": [_shown(side.precision, side.guess) for side in sides],
        "labeled f-measure:": [_shown(side.f1, side.matched) for side in sides],
        "exact match:": [_shown(side.complete_match, side.sentences) for side in sides],
        "pos accuracy:": [_shown(side.accuracy, side.words) for side in sides],
    }
    for title, shown in shares.items():
        yield f"{title:<26} {shown[0]:>6} {shown[1]:>10}"


def _shown(percentage: float, whole: int) -> str:
    return f"{percentage:.2f}" if whole else "nan"


def _compare(number: int, gold: CTree, guess: CTree | None, parameters: DiscoParameters) -> DiscoScore | None:
    deleted = parameters.delete_labels
    compared = [
        i
        for i, (form, tag) in enumerate(zip(gold.tokens.forms, gold.tokens.tags, strict=True))
        if tag not in deleted and form not in parameters.delete_words
    ]
    one, two = brackets(gold, compared, parameters), Counter[Bracket]()
    words = correct = 0
    problem, other_tags = "no tree" if guess is None else "other words than gold", False
    if guess is not None and _words(gold, parameters) == _words(guess, parameters):
        two = brackets(guess, compared, parameters)
        equal = [a == b for a, b in zip(_tags(gold, parameters), _tags(guess, parameters), strict=True)]
        words, correct = len(compared), sum(equal[i] for i in compared)
        problem, other_tags = "", not all(equal)
    gaps = sum(map(_has_gap, one)), sum(map(_has_gap, two))
    if parameters.disc_only:
        one, two = (Counter({b: n for b, n in side.items() if _has_gap(b)}) for side in (one, two))
        if not one and not two:
            return None
    length = sum(tag not in parameters.uncounted for tag in gold.tokens.tags)
    totals = (one & two).total(), one.total(), two.total()
    distinct = len(one), len(two)
    return DiscoScore(*totals, *gaps, words, correct, *distinct, number, length, problem, other_tags)


def _words(ctree: CTree, parameters: DiscoParameters) -> list[str]:
    return [parameters.equal_words.get(word, word) for word in ctree.tokens.forms]


def _tags(ctree: CTree, parameters: DiscoParameters) -> list[str]:
    return [parameters.equal_labels.get(tag, tag) for tag in ctree.tokens.tags]


def brackets(ctree: CTree, compared: list[int], parameters: DiscoParameters) -> Counter[Bracket]:
    """Return the labelled constituents over the kept tokens, which are renumbered; a wrapper (`top`) is
    one too."""
    n = len(ctree.tokens)
    is_compared = [0] * n
    for token in compared:
        is_compared[token] = 1
    before = [0, *accumulate(is_compared)]  # how many compared tokens stand before each
    nodes = list(zip(ctree.labels, ctree.blocks()[n:], strict=True))
    if ctree.top:
        nodes.append((ctree.top, ((0, n),)))
    counts: Counter[Bracket] = Counter()
    for label, below in nodes:
        blocks = joined([(before[begin], before[end]) for begin, end in below])
        if blocks and label not in parameters.delete_labels:
            counts[parameters.equal_labels.get(label, label) if parameters.labeled else "", blocks] += 1
    return counts


def _has_gap(bracket: Bracket) -> bool:
    return len(bracket[1]) > 1
