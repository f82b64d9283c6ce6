"""Routes side by side on a dev treebank: what they make of gold d-trees and of a d-parser's, and how fast."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Self

from d2c.dparsers.taggers import accuracy
from d2c.training.routes import HasOracle, Progress, Relabels, Route
from d2c.training.spec import TrainingSpec
from d2c.training.train import Trained, train_models
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.progress import counted
from d2c.trees.repair import Repairs
from d2c.trees.scores import disco
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import METRICS, Metric, metric_for
from d2c.trees.scores.matches import Score, Summary

GOLD, ORACLE = "gold", "oracle"
_TIMED = 300  # sentences whose conversion is timed each by itself


@dataclass(frozen=True)
class GoldStandard:
    """What all rows of a table are held against, sentence by sentence, and how brackets are counted."""

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
        """With one of METRICS, or that for these trees and for what the routes have learned."""
        chosen = METRICS[metric] if metric else metric_for(ctrees, any(route.gaps_ for route in routes))
        return cls(list(map(chosen.visible, ctrees)), dtrees, chosen)


class Parses(NamedTuple):
    """The d-trees that routes convert: gold ones or a d-parser's, and the seconds that it took."""

    source: str
    dtrees: Sequence[DTree]
    seconds: float = 0.0


class Trees(NamedTuple):
    """What a row was scored on, sentence by sentence, and the seconds that some took, with their lengths."""

    guess: Sequence[CTree]
    dtrees: Sequence[DTree]
    times: Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    route:      its name, or `oracle`: of the c-trees that a route could make, those nearest to gold
    d_trees:    where the d-trees come from, `gold` or the d-parser
    attachment: of the d-trees, without punctuation
    scores:     one for each sentence; brackets: their sum
    gaps:       disco-dop's counts of constituents with gaps, where there are any
    repairs:    of the d-trees
    converting: seconds that the route took to turn d-trees into c-trees; 0 for the oracle
    parsing:    seconds that the d-parser took; 0 for gold d-trees
    training:   seconds of fitting the route
    trees:      for the report; None for the oracle
    """

    route: str
    d_trees: str
    attachment: Attachment
    scores: Sequence[Score]
    brackets: Summary
    gaps: disco.Summary = field(default_factory=disco.Summary)
    repairs: Repairs = field(default_factory=Repairs)
    converting: float = 0.0
    parsing: float = 0.0
    training: float = 0.0
    trees: Trees | None = None

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Of the conversion alone, and from tokens to c-trees."""
        return self._per_second(self.repairs.tokens)

    @property
    def sentences_per_second(self) -> tuple[float, float]:
        """Of the conversion alone, and from tokens to c-trees."""
        return self._per_second(len(self.scores))

    def _per_second(self, count: int) -> tuple[float, float]:
        return count / self.converting, count / (self.converting + self.parsing)


@dataclass(frozen=True)
class Comparison:
    """The rows of a table.

    training: seconds of training the d-parser, once for each fold of jackknifing, too
    tags:     share of the words to which the tagger gave the right tag; None where tags are gold
    """

    gold: GoldStandard
    rows: Sequence[Row]
    training: float = 0.0
    tags: float | None = None


def compare_on(dev: Path, trained: Trained, reading: Read = CLEANED, metric: str | None = None) -> Comparison:
    """Each model's route on gold d-trees, then each on those of the d-parser, which all models share.

    The d-parser has learned what the first route encodes; labels are scored against that. Oracles of routes
    that have one, on the d-parser's d-trees, come last. Models that were trained on predicted tags tag dev
    themselves, for all rows. Brackets are counted by one of METRICS, or by that for these trees.
    """
    models, ctrees = trained.models, list(reading(dev))
    first, routes = models[0], [model.route for model in models]
    start = time.perf_counter()
    predicted = list(counted(first.parse_dependencies(ctree.tokens for ctree in ctrees), f"parsing {dev}"))
    parsing = time.perf_counter() - start
    dtrees, tags = list(map(first.route.encode, ctrees)), None
    if first.tags == "predicted":  # gold heads and labels are those that the treebank's own tags say
        tags = accuracy([ctree.tokens for ctree in ctrees], [dtree.tokens for dtree in predicted])
        dtrees = [replace(a, tokens=b.tokens) for a, b in zip(dtrees, predicted, strict=True)]
    gold = GoldStandard.of(ctrees, dtrees, routes, metric)
    bare = Parses(GOLD, [replace(dtree, labels=None) for dtree in dtrees])  # for routes that find labels
    all_gold = [bare if isinstance(route, Relabels) else Parses(GOLD, dtrees) for route in routes]
    of_dparser = Parses(first.dparser_name, predicted, parsing)
    rows = [
        replace(score(model.route_name, model.route, gold, parses), training=seconds)
        for given in (all_gold, [of_dparser] * len(models))
        for model, parses, seconds in zip(models, given, trained.route_seconds, strict=True)
    ]
    rows += [_oracle(route, gold, of_dparser) for route in routes if isinstance(route, HasOracle)]
    return Comparison(gold, rows, trained.dparser_seconds, tags)


def score(name: str, route: Route, gold: GoldStandard, parses: Parses) -> Row:
    """Converts d-trees, and scores them and the result. Kernels are compiled before."""
    dtrees, metric, repairs = parses.dtrees, gold.metric, Repairs()
    by_length = sorted(dtrees, key=lambda dtree: len(dtree.heads))
    list(route.decode_all(by_length[len(by_length) // 2 :][:1]))
    start = time.perf_counter()
    guess = list(counted(route.decode_all(dtrees, repairs), f"converting {parses.source} d-trees by {name}"))
    converting = time.perf_counter() - start
    guess = list(map(metric.visible, _with_tags_of(gold.ctrees, guess)))
    if isinstance(route, Relabels):
        dtrees = route.relabel(dtrees)
    scores = metric.score(gold.ctrees, guess)
    return Row(
        *(name, parses.source, _attachment(gold, dtrees), scores, metric.summary(scores)),
        gaps=disco.evaluate_all(gold.ctrees, guess, replace(disco.Parameters.proper(), disc_only=True)),
        repairs=repairs,
        converting=converting,
        parsing=parses.seconds,
        trees=Trees(guess, dtrees, _time_each(route, by_length)),
    )


def _attachment(gold: GoldStandard, dtrees: Iterable[DTree]) -> Attachment:
    return sum(map(score_attachment, gold.dtrees, dtrees), Attachment())


def _with_tags_of(trees: Sequence[CTree | DTree], guess: Iterable[CTree]) -> list[CTree]:
    """Scorers find punctuation by its tag, so predicted ones would count against the constituents."""
    return [replace(b, tokens=a.tokens) for a, b in zip(trees, guess, strict=True)]


def _time_each(route: Route, by_length: Sequence[DTree]) -> list[tuple[int, float]]:
    """Lengths, and the seconds that a conversion takes (the fastest of three), of d-trees of all lengths."""

    def seconds(dtree: DTree) -> float:
        start = time.perf_counter()
        next(iter(route.decode_all([dtree])))
        return time.perf_counter() - start

    timed = by_length[:: max(1, len(by_length) // _TIMED)]
    return [(len(dtree.heads), min(seconds(dtree) for _ in range(3))) for dtree in timed]


def _oracle(route: HasOracle, gold: GoldStandard, parses: Parses) -> Row:
    tagged = _with_tags_of(parses.dtrees, gold.ctrees)
    nearest = _with_tags_of(gold.ctrees, map(route.oracle, counted(tagged, "oracle"), parses.dtrees))
    scores = gold.metric.score(gold.ctrees, nearest)
    attachment = _attachment(gold, parses.dtrees)
    return Row(ORACLE, parses.source, attachment, scores, gold.metric.summary(scores))


def train_and_compare(
    spec: TrainingSpec, directory: Path, progress: Progress | None = None, metric: str | None = None
) -> Comparison:
    """Trains a model for each route into directory/<route> and compares them on the dev treebank.

    Raises ModelError for a foreign d-parser.
    """
    trained = train_models(spec, [directory / route for route in spec.routes], progress, foreign=False)
    return compare_on(spec.dev, trained, spec.reading, metric)
