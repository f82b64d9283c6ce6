"""Routes side by side on a dev treebank: attachment scores, EVALB scores, speed, repairs, significance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from d2c.dparsers.taggers import accuracy
from d2c.training.conventions import is_foreign
from d2c.training.model import Model
from d2c.training.routes import Relabels, Route
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.repair import Repairs
from d2c.trees.scores import disco
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import score_brackets
from d2c.trees.scores.evalb.report import Score, Summary
from d2c.trees.scores.significance import approximate_randomisation

ORACLE = "oracle"
COLUMNS = (  # title and unit
    *(("route", ""), ("d-trees", ""), ("UAS", "%"), ("LAS", "%"), ("recall", "%"), ("prec.", "%")),
    *(("F1", "%"), ("exact", "%"), ("repairs", "/1000"), ("convert", "tok/s"), ("overall", "tok/s")),
    *(("convert", "sent/s"), ("overall", "sent/s"), ("train", "s")),
)
_WIDTHS = (7, 7, 8, 7, 7, 7, 9, 10, 9, 10, 9, 8)  # of the columns but the first two
_TIMED = 300  # sentences whose conversion is timed each by itself


class Trees(NamedTuple):
    """What a row was scored on, sentence by sentence, and the seconds that some took, with their lengths."""

    gold: Sequence[CTree]
    guess: Sequence[CTree]
    gold_dtrees: Sequence[DTree]
    dtrees: Sequence[DTree]
    times: Sequence[tuple[int, float]] = ()


@dataclass
class Row:
    """One line of the table.

    route:      its name, or `oracle`: the trees of constrained CKY's chart that are nearest to gold
    d_trees:    where the d-trees come from, `gold` or the d-parser
    attachment: of the d-trees, without punctuation
    scores:     one for each sentence, see `score_brackets`
    converting: seconds that the route took to turn d-trees into c-trees
    parsing:    seconds that the d-parser took, 0 for gold d-trees
    training:   seconds of fitting the route
    tags:       share of the words to which the tagger gave the right tag; None where tags are gold
    training_dparser: seconds of training the d-parser, once for each fold of jackknifing, too
    gaps:       disco-dop's counts of constituents with gaps, where there are any
    trees:      for the report; None for the oracle
    """

    route: str
    d_trees: str
    attachment: Attachment
    scores: Sequence[Score]
    converting: float
    repairs: Repairs = field(default_factory=Repairs)
    parsing: float = 0.0
    training: float = 0.0
    training_dparser: float = 0.0
    gaps: disco.Summary = field(default_factory=disco.Summary)
    trees: Trees | None = None
    tags: float | None = None

    @property
    def brackets(self) -> Summary:
        """The sum of the scores."""
        return sum(map(Summary.of, self.scores), Summary())

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Of the conversion alone, and from tokens to c-trees."""
        tokens = self.repairs.tokens
        return tokens / self.converting, tokens / (self.converting + self.parsing)

    @property
    def sentences_per_second(self) -> tuple[float, float]:
        """Of the conversion alone, and from tokens to c-trees."""
        sentences = len(self.scores)
        return sentences / self.converting, sentences / (self.converting + self.parsing)


def compare_on(
    dev: Path, models: Sequence[Model], training: Sequence[float] = (), reading: Read = CLEANED
) -> list[Row]:
    """Each model's route on gold d-trees, then each on those of the d-parser, which all models share.

    The d-parser has learned what the first route encodes; labels are scored against that. Where constrained
    CKY is among the routes, its oracle on the d-parser's d-trees comes last. Models that were trained on
    predicted tags tag dev themselves, for all rows.

    training: seconds of the d-parser, then of each route
    """
    gold = list(reading(dev))
    name = models[0].dparser_name
    start = time.perf_counter()
    predicted = list(models[0].parse_dependencies(ctree.tokens for ctree in gold))
    parsing = time.perf_counter() - start
    gold_dtrees = list(map(models[0].route.encode, gold))
    tags = None
    if models[0].tags == "predicted":  # gold heads and labels are those that the treebank's own tags say
        tags = accuracy([ctree.tokens for ctree in gold], [dtree.tokens for dtree in predicted])
        gold_dtrees = [replace(a, tokens=b.tokens) for a, b in zip(gold_dtrees, predicted, strict=True)]
    backbones = [replace(dtree, labels=None) for dtree in gold_dtrees]
    rows = []
    for d_trees, dtrees, seconds in (("gold", gold_dtrees, 0.0), (name, predicted, parsing)):
        for at, model in enumerate(models):
            relabels = isinstance(model.route, Relabels) and d_trees == "gold"
            row = score(model.route, gold, gold_dtrees, backbones if relabels else dtrees)
            row.route, row.d_trees, row.parsing = model.route_name, d_trees, seconds
            row.tags = tags
            row.training, row.training_dparser = (training[at + 1], training[0]) if training else (0.0, 0.0)
            rows.append(row)
    charts = [model.route for model in models if model.route_name == "cky"]
    for chart in charts:
        rows.append(_oracle(chart, gold, gold_dtrees, predicted))
        rows[-1].d_trees = name
    return rows


def score(route: Route, gold: Sequence[CTree], gold_dtrees: Sequence[DTree], dtrees: Sequence[DTree]) -> Row:
    """Converts d-trees and scores them and the result."""
    repairs = Repairs()
    start = time.perf_counter()
    guess = list(route.decode_all(dtrees, repairs))
    converting = time.perf_counter() - start
    guess = _with_tags_of(gold, guess)
    if isinstance(route, Relabels):
        dtrees = route.relabel(dtrees)
    attachment = sum(map(score_attachment, gold_dtrees, dtrees), Attachment())
    gaps = disco.evaluate_all(gold, guess, replace(disco.Parameters.proper(), disc_only=True))
    trees = Trees(gold, guess, gold_dtrees, dtrees, _time_each(route, dtrees))
    return Row("", "", attachment, score_brackets(gold, guess), converting, repairs, gaps=gaps, trees=trees)


def _with_tags_of(trees: Sequence[CTree | DTree], guess: Iterable[CTree]) -> list[CTree]:
    """Scorers find punctuation by its tag, so predicted ones would count against the constituents."""
    return [replace(b, tokens=a.tokens) for a, b in zip(trees, guess, strict=True)]


def _time_each(route: Route, dtrees: Sequence[DTree]) -> list[tuple[int, float]]:
    """Lengths, and the seconds that a conversion takes (the fastest of three), of d-trees of all lengths."""

    def seconds(dtree: DTree) -> float:
        start = time.perf_counter()
        next(iter(route.decode_all([dtree])))
        return time.perf_counter() - start

    by_length = sorted(dtrees, key=lambda dtree: len(dtree.heads))
    timed = by_length[:: max(1, len(dtrees) // _TIMED)]
    return [(len(dtree.heads), min(seconds(dtree) for _ in range(3))) for dtree in timed]


def _oracle(chart: Any, gold: Sequence[CTree], gold_dtrees: Sequence[DTree], dtrees: Sequence[DTree]) -> Row:
    nearest = _with_tags_of(gold, map(chart.oracle, _with_tags_of(dtrees, gold), dtrees))
    attachment = sum(map(score_attachment, gold_dtrees, dtrees), Attachment())
    return Row(ORACLE, "", attachment, score_brackets(gold, nearest), 0.0)


def train_and_compare(
    spec: TrainingSpec, directory: Path, progress: Callable[[object], None] | None = None
) -> list[Row]:
    """Trains a model for each route into directory/<route> and compares them on the dev treebank.

    Raises ModelError for a foreign d-parser.
    """
    if is_foreign(spec.new_dparser()):
        message = "is trained elsewhere, on other d-trees than the routes'; train, parse and evaluate"
        raise ModelError(f"the d-parser {spec.dparser_name} {message}")
    trained = train_models(spec, [directory / route for route in spec.routes], progress)
    seconds = trained.dparser_seconds, *trained.route_seconds
    return compare_on(spec.dev, trained.models, seconds, spec.reading)


def table_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table, then significance, repairs, and the settings of the scorers."""
    width = max(12, *(len(row.route) + 2 for row in rows))
    for line in zip(*COLUMNS, strict=True):
        yield _table_line(width, line)
    for row in rows:
        yield _table_line(width, cells(row))
    yield ""
    yield from significance_lines(rows)
    for row in rows:
        if row.gaps.gold:
            shown = f"{row.gaps.recall:.2f} recall, {row.gaps.precision:.2f} precision"
            yield f"{row.route}, {row.d_trees} d-trees: with gaps {row.gaps.f1:.2f} F1 ({shown})"
    for row in rows:
        if row.route != ORACLE:
            yield f"{row.route}, {row.d_trees} d-trees: {repair_line(row.repairs)}"
    if seconds := max(row.training_dparser for row in rows):
        yield f"d-parser trained in {seconds:.0f} s; the column has the routes' own training"
    if rows[0].tags is not None:
        yield f"tags predicted, accuracy {100 * rows[0].tags:.2f}; the d-parser's time includes the tagger's"
    if any(row.route == ORACLE for row in rows):
        yield "oracle: of the c-trees that the grammar gives the d-trees, those nearest to gold."
    yield "UAS and LAS leave out punctuation; recall, precision, F1, exact match: EVALB, collins.prm"
    yield "(of trees with gaps: disco-dop, proper.prm)."


def cells(row: Row) -> list[str]:
    """The row's values of COLUMNS."""
    b, shown = row.brackets, (row.attachment.uas, row.attachment.las)
    percents = (*shown, b.recall, b.precision, b.f1, b.complete_match, row.repairs.per_thousand())
    speeds = ["-"] * 4
    if row.route != ORACLE:
        speeds = [f"{speed:,.0f}" for speed in (*row.tokens_per_second, *row.sentences_per_second)]
    training = f"{row.training:.0f}" if row.training else "-"
    return [row.route, row.d_trees, *(f"{percent:.2f}" for percent in percents), *speeds, training]


def _table_line(width: int, values: Sequence[str]) -> str:
    name, d_trees, *numbers = values
    filled = [f"{number:>{w}}" for number, w in zip(numbers, _WIDTHS, strict=True)]
    return f"{name:<{width}}{d_trees:<9}{''.join(filled)}"


def significance_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The difference between each two routes on the same d-trees."""
    routes = [row for row in rows if row.route != ORACLE]
    for one, other in combinations(routes, 2):
        if one.d_trees == other.d_trees and len(one.scores) == len(other.scores):
            difference = approximate_randomisation(one.scores, other.scores)
            yield (
                f"{other.route} against {one.route}, {one.d_trees} d-trees: {difference.points:+.2f} F1, "
                f"p = {difference.p:.4f} (paired approximate randomisation, 10,000 trials)"
            )


def repair_line(repairs: Repairs) -> str:
    """Repairs per 1,000 tokens, by kind."""
    kinds = [f"{kind} {repairs.per_thousand(kind):.2f}" for kind, n in repairs.counts.most_common() if n]
    return f"{repairs.per_thousand():.2f} repairs per 1,000 tokens" + (
        f" ({'; '.join(kinds)})" if kinds else ""
    )
