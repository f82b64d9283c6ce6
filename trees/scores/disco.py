"""disco-dop's evaluator: labelled recall and precision of constituents that may have gaps.

Source: A. van Cranenburgh, disco-dop (`discodop eval`), with its parameter files (proper.prm). Equal to it
number for number: a bracket is a label with a set of tokens, the root's too unless its label is deleted.
Equal brackets of a sentence (a unary chain with one label twice) count each, but in the summary's numbers of
brackets they count once. Tokens that the *gold* tree's tag or the word deletes are taken out of both trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from itertools import zip_longest
from pathlib import Path

from d2c.trees.ctree import CTree
from d2c.trees.errors import FormatError

Bracket = tuple[str, tuple[int, ...]]

HEADER = (
    "   Sentence                 Matched   Brackets            Corr POS",
    "  ID Length  Recall  Precis Bracket   gold   cand  Words  POS  Accur.",
    " ___________________________________________________________________",
)


@dataclass(frozen=True)
class Parameters:
    """What a .prm file says.

    delete_labels: nodes left out, and tokens with such a gold tag; delete_words: tokens left out
    uncounted:     tags left out of a sentence's length
    equal_labels, equal_words: a name → the one that stands for it
    cutoff:        length up to which sentences are summed apart
    labeled, disc_only: whether labels count; whether brackets without gaps are left out
    """

    delete_labels: frozenset[str] = frozenset()
    delete_words: frozenset[str] = frozenset()
    uncounted: frozenset[str] = frozenset()
    equal_labels: dict[str, str] = field(default_factory=dict)
    equal_words: dict[str, str] = field(default_factory=dict)
    cutoff: int = 40
    labeled: bool = True
    disc_only: bool = False

    @classmethod
    def read(cls, path: Path) -> Parameters:
        """A parameter file. Raises FormatError."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(str(path), 0, 0, f"cannot be read ({error})") from None

    @classmethod
    def proper(cls) -> Parameters:
        """Punctuation and the root left out, as in disco-dop's proper.prm."""
        text = (resources.files("d2c.data") / "prm" / "proper.prm").read_text(encoding="utf-8")
        return cls.parse(text, "proper.prm")

    @classmethod
    def parse(cls, text: str, file: str) -> Parameters:
        """The parameters in a text. Raises FormatError."""
        deleted, words, uncounted = set[str](), set[str](), set[str]()
        sets = {"DELETE_LABEL": deleted, "DELETE_WORD": words, "DELETE_LABEL_FOR_LENGTH": uncounted}
        equal: dict[str, dict[str, str]] = {"EQ_LABEL": {}, "EQ_WORD": {}}
        numbers = {"CUTOFF_LEN": 40, "LABELED": 1, "DISC_ONLY": 0, "DEBUG": 0, "MAX_ERROR": 10}
        for number, line in enumerate(text.splitlines(), 1):
            name, *values = line.split() or [""]
            if not name or name.startswith("#"):
                continue
            if name not in sets and name not in equal and name not in numbers:
                raise FormatError(file, number, 0, f"unknown parameter {name!r}")
            try:
                if name in sets:
                    sets[name].add(values[0])
                elif name in equal:
                    for value in values[1:]:
                        equal[name][value] = equal[name].get(values[0], values[0])
                else:
                    numbers[name] = int(values[0])
            except (IndexError, ValueError):
                raise FormatError(file, number, 0, f"{name} needs a value") from None
        return cls(
            *(frozenset(deleted), frozenset(words), frozenset(uncounted)),
            *(equal["EQ_LABEL"], equal["EQ_WORD"]),
            numbers["CUTOFF_LEN"],
            bool(numbers["LABELED"]),
            bool(numbers["DISC_ONLY"]),
        )


@dataclass(frozen=True)
class Score:
    """The counts of one sentence.

    length: gold tokens but for the uncounted; words: tokens compared
    distinct: gold and cand with equal brackets of the sentence counted once
    """

    id: int
    length: int
    matched: int = 0
    gold: int = 0
    cand: int = 0
    disc_gold: int = 0
    disc_cand: int = 0
    words: int = 0
    correct_tags: int = 0
    distinct: tuple[int, int] = (0, 0)

    def line(self) -> str:
        """The sentence's line of the table."""
        percents = (self.matched, self.gold), (self.matched, self.cand), (self.correct_tags, self.words)
        recall, precision, accuracy = (_percent(*pair) for pair in percents)
        return (
            f"{self.id:>3} {self.length:>6} {recall:>7} {precision:>7} {self.matched:>7} {self.gold:>6} "
            f"{self.cand:>6} {self.words:>6} {self.correct_tags:>5} {accuracy:>7} "
        )


@dataclass(frozen=True)
class Summary:
    """Sums over sentences; they add up with `+`."""

    sentences: int = 0
    longest: int = 0
    gold: int = 0
    cand: int = 0
    disc_gold: int = 0
    disc_cand: int = 0
    matched: int = 0
    exact: int = 0
    words: int = 0
    correct_tags: int = 0
    distinct_gold: int = 0
    distinct_cand: int = 0

    @classmethod
    def of(cls, s: Score) -> Summary:
        """The summary of one sentence."""
        exact = int(s.matched == s.gold == s.cand)
        counts = s.gold, s.cand, s.disc_gold, s.disc_cand, s.matched, exact, s.words, s.correct_tags
        return cls(1, s.length, *counts, *s.distinct)

    def __add__(self, other: Summary) -> Summary:
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        return Summary(**sums | {"longest": max(self.longest, other.longest)})

    @property
    def recall(self) -> float:
        """Percent; 0 where there is nothing to divide by, as for the others."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def precision(self) -> float:
        return 100 * self.matched / self.cand if self.cand else 0.0

    @property
    def fmeasure(self) -> float:
        return 200 * self.matched / (self.gold + self.cand) if self.matched else 0.0

    @property
    def exact_match(self) -> float:
        return 100 * self.exact / self.sentences if self.sentences else 0.0


@dataclass
class Totals:
    """Summaries of all sentences and of those up to a length."""

    every: Summary = field(default_factory=Summary)
    short: Summary = field(default_factory=Summary)


def evaluate(pairs: Iterable[tuple[CTree | None, CTree | None]], parameters: Parameters) -> Iterator[Score]:
    """The scores of pairs of gold tree and guess. With `disc_only`, of sentences where either has a gap.

    Raises FormatError where one side has more sentences or the words of a sentence differ.
    """
    for number, (gold, guess) in enumerate(pairs, 1):
        if gold is None or guess is None:
            raise FormatError("gold" if gold is None else "guess", 0, number, "missing; other side has it")
        score = _compare(number, gold, guess, parameters)
        if score is not None:
            yield score


def evaluate_all(gold: Iterable[CTree], guess: Iterable[CTree], parameters: Parameters) -> Summary:
    """The sum of the scores."""
    return sum(map(Summary.of, evaluate(zip_longest(gold, guess), parameters)), Summary())


def report_lines(scores: Iterable[Score], totals: Totals, cutoff: int) -> Iterator[str]:
    """The table, then the summary, as disco-dop prints them; adds to totals."""
    yield from HEADER
    for score in scores:
        totals.every += Summary.of(score)
        if score.length <= cutoff:
            totals.short += Summary.of(score)
        yield score.line()
    yield from summary_lines(totals, cutoff)


def summary_lines(totals: Totals, cutoff: int) -> Iterator[str]:
    """The summary; a missing percentage is `-`."""
    yield ""
    yield f"_________ Summary _________ <= {cutoff} ______ ALL"
    counts = (
        ("number of sentences:", "sentences"),
        ("longest sentence:", "longest"),
        ("gold brackets:", "distinct_gold"),
        ("cand. brackets:", "distinct_cand"),
        ("disc. gold brackets:", "disc_gold"),
        ("disc. cand. brackets:", "disc_cand"),
    )
    sides = totals.short, totals.every
    for title, name in counts:
        yield f"{title:<27} {getattr(sides[0], name):>5} {getattr(sides[1], name):>10}"
    shares = (
        ("labeled recall:", "matched", "gold"),
        ("labeled precision:", "matched", "cand"),
        ("labeled f-measure:", "", ""),
        ("exact match:", "exact", "sentences"),
        ("pos accuracy:", "correct_tags", "words"),
    )
    for title, part, whole in shares:
        shown = [
            _percent(getattr(side, part), getattr(side, whole))
            if part
            else _percent(2 * side.matched, side.gold + side.cand)
            for side in sides
        ]
        yield f"{title:<26} {shown[0]:>6} {shown[1]:>10}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "nan"


def _compare(number: int, gold: CTree, guess: CTree, parameters: Parameters) -> Score | None:
    words, theirs = ([parameters.equal_words.get(w, w) for w in t.tokens.forms] for t in (gold, guess))
    if words != theirs:
        raise FormatError("guess", 0, number, "its words are not those of the gold tree")
    deleted = parameters.delete_labels
    kept = [
        i
        for i, (form, tag) in enumerate(zip(gold.tokens.forms, gold.tokens.tags, strict=True))
        if tag not in deleted and form not in parameters.delete_words
    ]
    one, two = brackets(gold, kept, parameters), brackets(guess, kept, parameters)
    gaps = sum(map(_has_gap, one)), sum(map(_has_gap, two))
    if parameters.disc_only:
        one, two = (Counter({b: n for b, n in side.items() if _has_gap(b)}) for side in (one, two))
        if not one and not two:
            return None
    compared = set(kept)
    tags = ([parameters.equal_labels.get(tag, tag) for tag in t.tokens.tags] for t in (gold, guess))
    correct = sum(a == b for i, (a, b) in enumerate(zip(*tags, strict=True)) if i in compared)
    length = sum(tag not in parameters.uncounted for tag in gold.tokens.tags)
    matched, distinct = (one & two).total(), (len(one), len(two))
    return Score(number, length, matched, one.total(), two.total(), *gaps, len(kept), correct, distinct)


def brackets(ctree: CTree, kept: list[int], parameters: Parameters) -> Counter[Bracket]:
    """The labelled constituents over the kept tokens, which are renumbered; a wrapper (`top`) is one too."""
    place = {token: new for new, token in enumerate(kept)}
    nodes = list(zip(ctree.labels, ctree.yields()[len(ctree.tokens) :], strict=True))
    if ctree.top:
        nodes.append((ctree.top, tuple(range(len(ctree.tokens)))))
    found: Counter[Bracket] = Counter()
    for label, below in nodes:
        tokens = tuple(place[token] for token in below if token in place)
        if tokens and label not in parameters.delete_labels:
            found[parameters.equal_labels.get(label, label) if parameters.labeled else "", tokens] += 1
    return found


def _has_gap(bracket: Bracket) -> bool:
    tokens = bracket[1]
    return tokens[-1] - tokens[0] >= len(tokens)
