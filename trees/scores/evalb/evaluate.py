"""EVALB: labelled bracket recall and precision, number for number as the program of 2008-07-01 gives them.

Source: S. Sekine and M. Collins, https://nlp.cs.nyu.edu/evalb/, with the changes by D. Ellis (2006, quotation
marks) and D. Blaheta (2008); and its variant for the SPMRL 2013 shared task (`Parameters.spmrl`). Equal in
all that the C program defines. What it leaves to chance or to its buffers (200 words, 5000 bytes a line,
closing brackets that close nothing) has a meaning here, and no limits.

    totals = Totals(parameters.cutoff)
    for line in report_lines(evaluate_files("gold.mrg", "guess.mrg", parameters), totals):
        print(line)
    print(totals.every.f1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.scores.evalb.lines import Line, from_line
from d2c.trees.scores.evalb.match import Rules, Side, counts, restore_quotes
from d2c.trees.scores.evalb.parameters import Parameters
from d2c.trees.scores.evalb.report import ERROR, SKIPPED, VALID, Score


class TooManyErrors(ValueError):
    """More errors than MAX_ERROR allows: EVALB stops here, before the sentence's line and the summaries."""


def evaluate_files(gold: AnyPath, guess: AnyPath, parameters: Parameters) -> Iterator[Score]:
    """The scores of two files of trees (`-`: standard input; `.gz`: packed), line against line.

    Raises FormatError for a line that cannot be read, or where one file has more lines than the other
    (EVALB scores those that both have), and TooManyErrors.
    """
    return evaluate(_read_pairs(gold, guess), parameters)


def _read_pairs(gold: AnyPath, guess: AnyPath) -> Iterator[tuple[Line, Line]]:
    for number, pair in enumerate(zip_longest(_lines(gold), _lines(guess)), 1):
        if pair[0] is None or pair[1] is None:
            shorter, longer = (gold, guess) if pair[0] is None else (guess, gold)
            message = f"line missing: {file_name(longer)} has more lines"
            raise FormatError(file_name(shorter), number, 0, message)
        yield pair


def _lines(path: AnyPath) -> Iterator[Line]:
    with open_input(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield from_line(line)
            except FormatError as error:
                raise FormatError(file_name(path), number, 0, error.message) from None


def evaluate(pairs: Iterable[tuple[Line, Line]], parameters: Parameters) -> Iterator[Score]:
    """The score of each pair of a gold sentence and a guess, one at a time.

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


def _compare(number: int, gold: Line, guess: Line, rules: Rules) -> Iterator[Score | str]:
    """The lines that EVALB prints for a sentence, and the errors that it counts, in its order."""
    parameters = rules.parameters
    uncounted = parameters.delete_labels_for_length
    length = len(gold.tags) - sum(map(uncounted.__contains__, gold.tags))
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
