"""disco-dop's evaluator: labelled recall and precision of constituents that may have gaps.

Source: A. van Cranenburgh, disco-dop (`discodop eval`), with its parameter files (proper.prm). Equal to it
number for number: a bracket is a label with a set of tokens, the root's too unless its label is deleted.
Equal brackets of a sentence (a unary chain with one label twice) each count, but only once in the summary's
numbers of brackets. Tokens to be deleted by their *gold* tag or their word are taken out of both trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate

from d2c.trees.ctree import Block, CTree, is_failed, joined
from d2c.trees.scores.matches import FAILED, NO_TREE, OTHER_WORDS, VALID, Score, Summary, Totals, summed
from d2c.trees.scores.prm import DiscoParameters

Bracket = tuple[str, tuple[Block, ...]]

HEADER = (
    "   Sentence                 Matched   Brackets            Corr POS",
    "  ID Length  Recall  Precis Bracket   gold   cand  Words  POS  Accur.",
    " ___________________________________________________________________",
)


def evaluate(pairs: Iterable[tuple[CTree, CTree | None]], parameters: DiscoParameters) -> Iterator[Score]:
    """Yield the scores of pairs of gold tree and guess; with `disc_only`, only of sentences where either has
    a gap.

    A guess with other words, at which disco-dop stops, has failed, as has None: all gold brackets are missed.
    """
    for number, (gold, guess) in enumerate(pairs, 1):
        score = _compare(number, gold, guess, parameters)
        if score is not None:
            yield score


def evaluate_all(gold: Iterable[CTree], guess: Iterable[CTree], parameters: DiscoParameters) -> Summary:
    """Return the sum of the scores."""
    return summed(evaluate(zip(gold, guess, strict=True), parameters))


def report_lines(scores: Iterable[Score], totals: Totals) -> Iterator[str]:
    """Yield the table, then the summary, as disco-dop prints them; a percentage of nothing is `nan`.

    The scores are added to `totals`.
    """
    yield from HEADER
    yield from map(format_line, totals.over(scores))
    yield ""
    yield f"_________ Summary _________ <= {totals.cutoff} ______ ALL"
    sides = totals.short, totals.every
    counts = {
        "number of sentences:": [side.sentences for side in sides],
        "longest sentence:": [totals.longest["short"], totals.longest["every"]],
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


def format_line(score: Score) -> str:
    """Return the line of one sentence in disco-dop's table."""
    recall, precision = _shown(score.recall, score.gold), _shown(score.precision, score.guess)
    return (
        f"{score.id:>3} {score.length:>6} {recall:>7} {precision:>7} {score.matched:>7} {score.gold:>6} "
        f"{score.guess:>6} {score.words:>6} {score.correct_tags:>5} "
        f"{_shown(score.accuracy, score.words):>7} "
    )


def _shown(percentage: float, whole: int) -> str:
    return f"{percentage:.2f}" if whole else "nan"


def _compare(number: int, gold: CTree, guess: CTree | None, parameters: DiscoParameters) -> Score | None:
    deleted = parameters.delete_labels
    compared = [
        i
        for i, (form, tag) in enumerate(zip(gold.tokens.forms, gold.tokens.tags, strict=True))
        if tag not in deleted and form not in parameters.delete_words
    ]
    one, two = brackets(gold, compared, parameters), Counter[Bracket]()
    words = correct = 0
    parsed = guess is not None and not is_failed(guess.tokens)
    problem, other_tags = OTHER_WORDS if parsed else NO_TREE, False
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
    return Score(
        number,
        length,
        FAILED if problem else VALID,
        matched=(one & two).total(),
        gold=one.total(),
        guess=two.total(),
        words=words,
        correct_tags=correct,
        problem=problem,
        other_tags=other_tags,
        disc_gold=gaps[0],
        disc_guess=gaps[1],
        distinct_gold=len(one),
        distinct_guess=len(two),
    )


def _words(ctree: CTree, parameters: DiscoParameters) -> list[str]:
    return [parameters.equal_words.get(word, word) for word in ctree.tokens.forms]


def _tags(ctree: CTree, parameters: DiscoParameters) -> list[str]:
    return [parameters.equal_labels.get(tag, tag) for tag in ctree.tokens.tags]


def brackets(ctree: CTree, compared: list[int], parameters: DiscoParameters) -> Counter[Bracket]:
    """Return the labelled constituents over the kept tokens, which are renumbered; a wrapper (`top`) with a
    label is one, too."""
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
