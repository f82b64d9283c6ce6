"""EVALB: labelled bracket recall and precision, number for number as the program of 2008-07-01 gives them.

Source: S. Sekine and M. Collins, https://nlp.cs.nyu.edu/evalb/, with the changes by D. Ellis (2006, quotation
marks) and D. Blaheta (2008); and its variant for the SPMRL 2013 shared task (`EvalbParameters.spmrl`). The
numbers are equal wherever the C program defines them. What it leaves to chance or to its buffers (200 words,
5000 bytes a line, closing brackets that close nothing) has a meaning here, and no limits.

    totals = Totals(parameters.cutoff)
    for line in report_lines(evaluate_files("gold.mrg", "guess.mrg", parameters), totals):
        print(line)
    print(totals.every.f1)

`evaluate_by_gold` uses the same arithmetic for parsers that predict tags: no wrong tag loses a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import ne
from pathlib import Path

from d2c.base.errors import FormatError, TooManyErrors
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.formats.pairs import side_by_side
from d2c.trees.scores.evalb_sides import EvalbLine, Rules, Side, counts, from_line, restore_quotes
from d2c.trees.scores.matches import (
    ERROR,
    FAILED,
    NO_TREE,
    OTHER_WORDS,
    SKIPPED,
    VALID,
    Score,
    Summary,
    Totals,
)
from d2c.trees.scores.prm import EvalbParameters

_RULE = "=" * 76
HEADER = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
    _RULE,
)


def evaluate_files(
    gold: AnyPath, guess: AnyPath, parameters: EvalbParameters, charset: str | None = None
) -> Iterator[Score]:
    """Yield the scores of two files of trees (`-`: standard input; `.gz`: compressed), line against line.

    charset: of both; None: UTF-8

    Raises FormatError for a line that cannot be read, or where one file has more lines than the other
    (EVALB scores the lines that both have), and TooManyErrors.
    """
    sides = (Path(gold), _lines(gold, charset)), (Path(guess), _lines(guess, charset))
    return evaluate(side_by_side(*sides, unit="line"), parameters)


def _lines(path: AnyPath, charset: str | None) -> Iterator[EvalbLine]:
    with open_input(path, charset) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield from_line(line)
            except FormatError as error:
                raise FormatError(file_name(path), number, 0, error.message) from None


def evaluate(pairs: Iterable[tuple[EvalbLine, ...]], parameters: EvalbParameters) -> Iterator[Score]:
    """Yield the score of each pair of a gold sentence and a guess, one at a time.

    The SPMRL variant may count a one-word sentence of unequal length twice, as two scores with one id.
    Raises TooManyErrors after the scores that EVALB prints before it stops.
    """
    rules = Rules(parameters)
    errors = 0
    for number, (gold, guess) in enumerate(pairs, 1):
        for event in _compare(number, gold, guess, rules):
            if isinstance(event, Score):
                yield event
                continue
            errors += 1
            if errors > parameters.max_error + 1:
                limit = f"error number {errors}, with MAX_ERROR {parameters.max_error}"
                raise TooManyErrors(f"sentence {number}: {event} ({limit})")


def evaluate_by_gold(
    pairs: Iterable[tuple[EvalbLine, EvalbLine | None]], parameters: EvalbParameters
) -> Iterator[Score]:
    """Yield the score of each pair, in which the tags of *gold* say what is left out of both sides.

    If the words differ, and for None, the guess has FAILED; no sentence is an ERROR. Where tags are equal,
    brackets are balanced, and nothing failed, all figures are EVALB's.
    """
    rules = Rules(parameters)
    for number, (gold, guess) in enumerate(pairs, 1):
        yield _by_gold(number, gold, guess, rules)


def _by_gold(number: int, gold: EvalbLine, guess: EvalbLine | None, rules: Rules) -> Score:
    length, one = _length(gold, rules), Side(gold, rules)
    problem = NO_TREE
    if guess is not None:
        # If a guess lacks some of the punctuation, its own tags decide what is left out.
        two = Side(guess, rules, gold.tags if len(gold.tags) == len(guess.tags) else None)
        if rules.same_words(one.words, two.words):
            status = VALID if one.words else SKIPPED
            other_tags = any(map(ne, map(rules.tag, gold.tags), map(rules.tag, guess.tags)))
            return Score(number, length, status, *counts(one, two, rules), other_tags=other_tags)
        problem = OTHER_WORDS
    return Score(number, length, FAILED, gold=len(one.brackets(rules)), problem=problem)


def _length(gold: EvalbLine, rules: Rules) -> int:
    uncounted = rules.parameters.delete_labels_for_length
    return len(gold.tags) - sum(map(uncounted.__contains__, gold.tags))


def _compare(number: int, gold: EvalbLine, guess: EvalbLine, rules: Rules) -> Iterator[Score | str]:
    """Yield the lines that EVALB prints for a sentence, and the errors that it counts, in its order."""
    parameters = rules.parameters
    length = _length(gold, rules)
    problem = ""
    for name, side in (("gold", gold), ("guess", guess)):
        for _ in range(side.faults):
            problem = f"unbalanced brackets in the {name} tree"
            yield problem
    status = ERROR if problem else VALID
    one, two = Side(gold, rules), Side(guess, rules)
    if not two.words:
        yield Score(number, length, SKIPPED, problem="no words in the guess")
        return
    if len(one.words) != len(two.words) and parameters.quote_labels:
        restore_quotes(one, two, rules)
    if len(one.words) != len(two.words):
        problem = f"lengths differ ({len(one.words)}|{len(two.words)})"
        if not parameters.spmrl:
            yield problem
            yield Score(number, length, ERROR, problem=problem)
            return
        yield Score(number, length, status, problem=problem)
        if len(one.words) > 1:
            yield problem
            return
    for ours, theirs in zip(one.words, two.words, strict=False):  # in the variant, gold may be the shorter
        if ours != theirs and (ours, theirs) not in rules.equal_words:
            problem = f"words differ ({ours}|{theirs})"
            yield problem
            yield Score(number, length, ERROR, problem=problem)
            return
    yield Score(number, length, status, *counts(one, two, rules), problem)


def report_lines(scores: Iterable[Score], totals: Totals) -> Iterator[str]:
    """Yield the lines that EVALB prints, while the scores come in; they are added to `totals`.

    An error that `scores` raises passes through: like EVALB's own output, the report then ends there.
    """
    yield from HEADER
    yield from map(format_line, totals.over(scores))
    yield from format_totals(totals)


def format_line(score: Score) -> str:
    """Return the line of one sentence in EVALB's table."""
    return (
        f"{score.id:4d}  {score.length:3d}    {score.status}  {score.recall:6.2f} {score.precision:6.2f}"
        f"   {score.matched:3d}    {score.gold:3d}  {score.guess:3d}    {score.crossing:3d}"
        f"   {score.words:4d}  {score.correct_tags:4d}   {score.accuracy:6.2f}"
    )


def format_totals(totals: Totals) -> list[str]:
    """Return the lines below EVALB's table: sums, then the summaries of all and of short sentences."""
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
