"""Routes side by side on a treebank: what they make of gold d-trees and of a d-parser's, and how fast.

A row is scored by `score`. The table as text also has significance, repairs and the settings of the scorers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple, Self

from d2c.base.columns import in_columns
from d2c.base.progress import counted
from d2c.experiments.significance import Difference, difference_rows, differences_of, how_compared
from d2c.models.calibration import Judged
from d2c.protocols.route import Route
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.refinement import visible
from d2c.trees.repair import Repairs
from d2c.trees.scores import disco
from d2c.trees.scores.attachment import Attachment, attachment_scores
from d2c.trees.scores.brackets import METRICS, Metric, metric_for
from d2c.trees.scores.matches import Score, Summary
from d2c.trees.scores.prm import DiscoParameters

Pair = tuple[str, Sequence[Score], Sequence[Score]]  # the name of a comparison; the scores of both sides

GOLD, ORACLE, BEST = "gold", "oracle", "best"
_TIMED = 300  # sentences whose conversion is timed one by one


@dataclass(frozen=True)
class GoldStandard:
    """What all rows of a table are compared with, sentence by sentence, and how brackets are counted."""

    ctrees: Sequence[CTree]
    dtrees: Sequence[DTree]
    metric: Metric

    @classmethod
    def of(
        cls,
        ctrees: Sequence[CTree],
        dtrees: Sequence[DTree],
        routes: Iterable[Route],
        metric: str | None = None,
    ) -> Self:
        """Return the standard with one of METRICS, or with the metric that suits these trees and what the
        routes have learned."""
        chosen = METRICS[metric] if metric else metric_for(ctrees, any(route.gaps_ for route in routes))
        return cls(list(map(chosen.visible, ctrees)), dtrees, chosen)


class Scoring(NamedTuple):
    """How rows are scored, and which rows are added.

    metric: one of METRICS; None: the one that suits the trees
    best:   numbers K, for each of which there is a row of the best of a route's K best c-trees
    """

    metric: str | None = None
    best: Sequence[int] = ()


SCORING = Scoring()


class Parses(NamedTuple):
    """The d-trees that routes convert.

    source:         the d-parser's name, or GOLD
    dtrees:         one for each sentence
    seconds:        that the d-parser took
    key:            of the step that they come from, if any
    part, encoding: the part of the treebank that they are of, and what the d-parser learned
    """

    source: str
    dtrees: Sequence[DTree]
    seconds: float = 0.0
    key: str = ""
    part: str = "dev"
    encoding: str = "direct"


class Trees(NamedTuple):
    """What a row was scored on, sentence by sentence; times: lengths of some sentences, and seconds for each.

    judged: returns parses with confidences, made again, on the d-parser's d-trees, if the route gives some
    """

    guess: Sequence[CTree]
    dtrees: Sequence[DTree]
    times: Sequence[tuple[int, float]]
    judged: Callable[[], Sequence[Judged]] = tuple


@dataclass(frozen=True)
class Row:
    """One line of the table.

    route:      its name, or `oracle`: of the c-trees that a route could make, those nearest to gold. A name
                with ORACLE or BEST is of c-trees that nothing can find without gold
    d_trees:    where the d-trees come from, `gold` or the d-parser
    attachment: of the d-trees, without punctuation
    scores:     one for each sentence; brackets: their sum
    gaps:       disco-dop's counts of constituents with gaps, where there are any
    repairs:    of the d-trees
    converting: seconds that the route took to turn d-trees into c-trees; 0 for ORACLE and BEST
    parsing:    seconds that the d-parser took; 0 for gold d-trees
    training:   seconds that fitting the route took
    trees:      for the report; None for rows that it does not show
    dev:        brackets on the dev treebank, where the row is about a test treebank
    """

    route: str
    d_trees: str
    attachment: Attachment
    scores: Sequence[Score]
    brackets: Summary
    gaps: Summary = field(default_factory=Summary)
    repairs: Repairs = field(default_factory=Repairs)
    converting: float = 0.0
    parsing: float = 0.0
    training: float = 0.0
    trees: Trees | None = None
    dev: Summary | None = None


@dataclass(frozen=True)
class Comparison:
    """The rows of a table.

    training:   seconds of training the d-parser, once more for each fold of jackknifing
    tags:       share of the words to which the tagger gave the right tag; None where tags are gold
    head_rules: the name of the rules that find the heads of all trees; "" where d-trees have them
    """

    gold: GoldStandard
    rows: Sequence[Row]
    training: float = 0.0
    tags: float | None = None
    head_rules: str = ""


def score(name: str, route: Route, gold: GoldStandard, parses: Parses) -> Row:
    """Convert d-trees; score them and the c-trees. Kernels are compiled before the time is taken."""
    dtrees, metric, repairs = parses.dtrees, gold.metric, Repairs()
    what = f"converting {parses.source} d-trees by {name}"
    middle = sorted(dtrees, key=lambda dtree: len(dtree.heads))[len(dtrees) // 2 :][:1]
    list(route.decode_all(middle))
    start = time.perf_counter()
    guess = list(counted(route.decode_all(dtrees, repairs), what))
    converting = time.perf_counter() - start
    guess = list(map(metric.visible, with_tags_of(gold.ctrees, guess)))
    dtrees = route.relabel(dtrees)
    scores = metric.score(gold.ctrees, guess)
    return Row(
        name,
        parses.source,
        attachment_scores(gold.dtrees, dtrees),
        scores,
        metric.summary(scores),
        gaps=disco.evaluate_all(gold.ctrees, guess, replace(DiscoParameters.proper(), disc_only=True)),
        repairs=repairs,
        converting=converting,
        parsing=parses.seconds,
        trees=Trees(
            guess, dtrees, _time_each(route, parses.dtrees), partial(_judged, name, route, gold, parses)
        ),
    )


def _judged(name: str, route: Route, gold: GoldStandard, parses: Parses) -> list[Judged]:
    """Return gold c-trees with guesses and the route's confidences, if it gives some."""
    if parses.source == GOLD or not route.abilities.confidences:
        return []
    sure = counted(route.confidences_all(parses.dtrees), f"confidences of {name}")
    pairs = zip(map(visible, gold.ctrees), sure, strict=True)
    return [Judged(ctree, guess, shares) for ctree, (guess, shares) in pairs if shares is not None]


def with_tags_of(trees: Sequence[CTree | DTree], guess: Iterable[CTree]) -> list[CTree]:
    """Return guesses with the tokens of other trees: routes and the search for heads may depend on tags."""
    return [replace(b, tokens=a.tokens) for a, b in zip(trees, guess, strict=True)]


def _time_each(route: Route, dtrees: Sequence[DTree]) -> list[tuple[int, float]]:
    """Return the lengths of d-trees of all lengths, and the seconds that each takes to convert (the least of
    three)."""

    def seconds(dtree: DTree) -> float:
        start = time.perf_counter()
        next(iter(route.decode_all([dtree])))
        return time.perf_counter() - start

    by_length = sorted(dtrees, key=lambda dtree: len(dtree.heads))
    chosen = by_length[:: max(1, len(by_length) // _TIMED)]
    return [(len(dtree.heads), min(seconds(dtree) for _ in range(3))) for dtree in chosen]


class Column(NamedTuple):
    """Title and unit of a column of the table."""

    title: str
    unit: str


COLUMNS = (
    Column("route", ""),
    Column("d-trees", ""),
    Column("UAS", "%"),
    Column("LAS", "%"),
    Column("recall", "%"),
    Column("prec.", "%"),
    Column("F1", "%"),
    Column("exact", "%"),
    Column("repairs", "/1000"),
    Column("convert", "tok/s"),
    Column("overall", "tok/s"),
    Column("convert", "sent/s"),
    Column("overall", "sent/s"),
    Column("train", "s"),
)


class Table(NamedTuple):
    """How rows are shown.

    title:        of the command that rows come from
    columns:      of which the first `names` are names, not numbers
    cells:        returns a row's values of the columns
    differences:  returns the differences between rows, by the names of both
    settings:     returns what the columns count
    """

    title: str
    columns: Sequence[Column]
    names: int
    cells: Callable[[Row], list[str]]
    differences: Callable[[Sequence[Row]], Mapping[str, Difference]]
    settings: Callable[[Comparison], str]

    def lines(self, rows: Iterable[Row], width: int | None) -> Iterator[str]:
        """Yield the table as text, no wider than a terminal of this width."""
        titles, units = zip(*self.columns, strict=True)
        return in_columns([titles, units, *map(self.cells, rows)], width, range(self.names), self.names)

    def significance(self, rows: Sequence[Row], width: int | None) -> Iterator[str]:
        """Yield the table of differences between rows, if there are any, and how they were tested."""
        if found := self.differences(rows):
            yield from in_columns(difference_rows(found), width, [0])
            yield from (how_compared(len(found)), "")


def table_lines(comparison: Comparison, width: int | None = None) -> Iterator[str]:
    """Yield the table, then significance, gaps, repairs, and the settings of the scorers.

    width: of the terminal that shows them
    """
    rows = comparison.rows
    table = table_of(comparison)
    yield from table.lines(rows, width)
    yield ""
    yield from table.significance(rows, width)
    yield from _voted_lines(rows)
    for row in rows:
        if row.gaps.gold:
            shown = f"{row.gaps.recall:.2f} recall, {row.gaps.precision:.2f} precision"
            yield f"{row.route}, {row.d_trees} d-trees: with gaps {row.gaps.f1:.2f} F1 ({shown})"
    for row in rows:
        if row.converting:
            yield f"{row.route}, {row.d_trees} d-trees: {row.repairs}"
    if seconds := comparison.training:
        yield f"d-parser trained in {seconds:.0f} s; the column has the routes' own training"
    if (tags := comparison.tags) is not None:
        yield f"tags predicted, accuracy {100 * tags:.2f}; the d-parser's time includes the tagger's"
    yield from oracle_lines(rows)
    yield settings_line(comparison)


def oracle_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what rows mean whose c-trees nothing can find without gold."""
    names = {name for row in rows if row.d_trees and not row.converting for name in row.route.split()}
    if ORACLE in names:
        yield "oracle: of the c-trees that the grammar gives the d-trees, those nearest to gold."
    if BEST in names:
        yield "K best: of the K best c-trees of each sentence, the one with the greatest F1."


def settings_line(comparison: Comparison) -> str:
    """Return what the columns count."""
    metric = comparison.gold.metric.title
    line = f"UAS and LAS leave out punctuation; recall, precision, F1, exact match: {metric}."
    if any(row.dev for row in comparison.rows):
        line += " All figures but dev F1 are of the test treebank; everything was chosen on dev."
    return line


def cells(row: Row) -> list[str]:
    """Return the row's values of COLUMNS, and F1 on dev if it has that."""
    b, shown = row.brackets, (row.attachment.uas, row.attachment.las)
    dev = (row.dev.f1,) if row.dev else ()
    percents = (*shown, b.recall, b.precision, b.f1, *dev, b.complete_match, row.repairs.per_thousand())
    speeds = ["-"] * 4
    if row.converting:
        seconds = row.converting, row.converting + row.parsing
        speeds = [f"{count / one:,.0f}" for count in (row.repairs.tokens, len(row.scores)) for one in seconds]
    training = f"{row.training:.0f}" if row.training else "-"
    return [row.route, row.d_trees, *(f"{percent:.2f}" for percent in percents), *speeds, training]


def differences(rows: Sequence[Row]) -> dict[str, Difference]:
    """Return the difference between every two routes on the same d-trees, and between each voted row and the
    best row of a single one of its d-parsers."""
    return differences_of([*_pairs(rows), *_voted_pairs(rows)])


def _pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    for one, other in combinations([row for row in rows if row.converting], 2):
        if one.d_trees == other.d_trees and len(one.scores) == len(other.scores):
            yield f"{other.route} against {one.route}, {one.d_trees} d-trees", one.scores, other.scores


def _voted_pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    for row in rows:
        singles = [one for one in rows if one.converting and one.d_trees in row.d_trees.split("+")]
        if "+" in row.d_trees and singles:
            best = max(singles, key=lambda one: (one.dev or one.brackets).f1)
            name = f"{row.route}, {row.d_trees}, against {best.route}, {best.d_trees}, the best single one"
            yield name, best.scores, row.scores


def _voted_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what the voted rows are."""
    if any("+" in row.d_trees for row in rows):
        yield (
            "voted: constituents of more than half of the trees by all routes from these d-parsers' d-trees; "
            "others with +: on voted d-trees. All votes count alike: nothing is learned on dev."
        )


COMPARED = Table("d2c compare", COLUMNS, 2, cells, differences, settings_line)


def table_of(comparison: Comparison) -> Table:
    """Return COMPARED, with a column for F1 on dev where the rows are about a test treebank."""
    if not any(row.dev for row in comparison.rows):
        return COMPARED
    return COMPARED._replace(columns=(*COLUMNS[:7], Column("dev F1", "%"), *COLUMNS[7:]))
