"""Models trained, and compared on a dev or a test treebank: the rows of a table.

Of several d-parsers: every route on the d-trees of each, and what two and three of them vote for. All votes
count alike: weights would have to be learned on sentences that neither the parsers nor the table have seen.
Votes on constituents are those of the trees that all routes make of all these d-parsers' d-trees, three trees
at least; more than half must agree. Votes on arcs are those of three d-parsers: every route on the result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from d2c.base.errors import ModelError
from d2c.base.inputs import Paths
from d2c.base.progress import counted
from d2c.experiments.rows import (
    BEST,
    GOLD,
    ORACLE,
    SCORING,
    Comparison,
    GoldStandard,
    Parses,
    Row,
    Scoring,
    score,
    with_tags_of,
)
from d2c.models.model import ARCS, Model
from d2c.packed.arcs import with_packed_arcs
from d2c.protocols.route import Progress, Route
from d2c.protocols.training import accuracy
from d2c.routes.dparsers import DPARSERS, shortest, takes
from d2c.routes.voting.arc_voting import combine_arcs
from d2c.routes.voting.constituents import Parse, combine
from d2c.training.spec import TrainingSpec
from d2c.training.train import Trained, check_spec, train_models
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import CLEANED, Read
from d2c.trees.repair import Repairs
from d2c.trees.scores.attachment import attachment_scores

VOTED = "voted"
_LEAST, _MOST = 3, 3  # trees of a vote, at least; d-parsers in it, at most


def train_and_compare(
    spec: TrainingSpec,
    directory: Path,
    progress: Progress | None = None,
    scoring: Scoring = SCORING,
    others: Sequence[str] = (),
    test: Paths | None = None,
) -> Comparison:
    """Train a model for each route into directory/<route> and compare them on the dev treebank.

    test:   a treebank on which they are compared instead; rows also keep their scores on dev
    others: more d-parsers, trained into directory/<d-parser>; all rows are of the routes fitted beside the
        first one; a transformer is for those that may have one

    Raises ModelError for a foreign d-parser, and for one that is named twice; before training, FormatError
    for a test treebank that cannot be read, and ModelError where the d-trees of only one treebank are given.
    """
    specs = {name: _other(spec, name) for name in others}
    places = {name: directory / re.sub(r"\W+", "-", name) for name in others}
    for name, own in specs.items():  # before hours of training
        check_spec(own, [places[name]], foreign=False)
    if others and len({*map(shortest, (spec.dparser.name, *others))}) <= len(others):
        raise ModelError(f"a d-parser is named twice: {', '.join((spec.dparser.name, *others))}")
    if test:
        _check_test([spec, *specs.values()], test)
    trained = train_models(spec, [directory / route for route in spec.routes], progress, foreign=False)
    models = {
        name: train_models(own, [places[name]], progress, foreign=False).models[0]
        for name, own in specs.items()
    }
    source = spec.dparser.name if others else spec.dparser.kind
    on_dev = compare_on(spec.data.dev, trained, spec.data.reading, scoring, models, source)
    if test is None:
        return on_dev
    comparison = compare_on(test, trained, spec.data.reading, scoring, models, source)
    pairs = zip(comparison.rows, on_dev.rows, strict=True)
    return replace(comparison, rows=[replace(row, dev=dev.brackets) for row, dev in pairs])


def _check_test(specs: Sequence[TrainingSpec], test: Paths) -> None:
    for spec in specs:
        if spec.dparser.make().abilities.in_order:
            message = "has the d-trees of one treebank; give that as DEV, and leave out --test"
            raise ModelError(f"the d-parser {spec.dparser.kind} {message}")
    for _ in specs[0].data.reading(test):  # what cannot be read is said before hours of training
        pass


def _other(spec: TrainingSpec, name: str) -> TrainingSpec:
    """Return the spec with another d-parser, of which only single d-trees are wanted, and with one route."""
    own = replace(spec, routes=spec.routes[:1]).changed(dparser=name, arcs=ARCS[0])
    return own if takes(DPARSERS, own.dparser.kind, "transformer") else own.changed(transformer=None)


def compare_on(
    dev: Paths,
    trained: Trained,
    reading: Read = CLEANED,
    scoring: Scoring = SCORING,
    others: Mapping[str, Model] = MappingProxyType({}),
    source: str = "",
) -> Comparison:
    """Return each model's route on gold d-trees, then each on those of the d-parser, unless these are gold.

    others: models with other d-parsers, by their names; the rows of `several` follow
    source: what rows call the d-parser; by default its kind

    The d-parser has learned what the first route encodes; labels are scored against that. Then come oracles
    of routes that have one, on the d-parser's d-trees, and the best of the K best c-trees, where these are
    asked for. Last come the routes that look among all likely arcs (`Model.arcs`), with their oracles and
    their K best. Models that were trained on predicted tags tag dev themselves, for all rows.
    """
    models, ctrees = trained.models, list(reading(dev))
    first, routes = models[0], [model.route for model in models]
    ranking = bool(scoring.best) and any(route.abilities.k_best_arcs for route in routes)
    with_arcs = replace(first, arcs=max((ARCS[ranking], *(model.arcs for model in models)), key=ARCS.index))
    of_arcs = parsed(source or first.dparser_name, with_arcs, ctrees)
    predicted = [with_packed_arcs(dtree, None) for dtree in of_arcs.dtrees]
    of_dparser = of_arcs._replace(dtrees=predicted)
    dtrees, tags = list(map(first.route.encode, ctrees)), None
    if first.tags == "predicted":  # gold heads and labels are those that the treebank's own tags say
        tags = accuracy([ctree.tokens for ctree in ctrees], [dtree.tokens for dtree in predicted])
        dtrees = [replace(a, tokens=b.tokens) for a, b in zip(dtrees, predicted, strict=True)]
    gold = GoldStandard.of(ctrees, dtrees, routes, scoring.metric)
    bare = Parses(GOLD, [replace(dtree, labels=None) for dtree in dtrees])  # for routes that find labels
    all_gold = [bare if route.abilities.own_labels else Parses(GOLD, dtrees) for route in routes]
    trains = first.dparser_name != GOLD  # otherwise its d-trees are the gold ones, of which rows are enough
    rows = [
        replace(score(model.route_name, model.route, gold, parses), training=seconds)
        for given in (all_gold, [of_dparser] * len(models))[: 1 + trains]
        for model, parses, seconds in zip(models, given, trained.route_seconds, strict=True)
    ]
    if others:
        every = [of_dparser, *(parsed(name, model, ctrees) for name, model in others.items())]
        by_name = {model.route_name: model.route for model in models}
        rows += several(gold, by_name, every, rows[-len(models) :])
    rows += [_oracle(ORACLE, route, gold, of_dparser) for route in routes if route.abilities.oracle]
    for model in models:
        given = of_arcs if model.route.abilities.k_best_arcs else of_dparser
        rows += _best(model.route_name, model.route, gold, given, scoring.best)
    for model in models:
        if model.arcs == "packed":
            rows.append(score(f"{model.route_name} {model.arcs}", model.route, gold, of_arcs))
            if model.route.abilities.oracle:
                rows.append(_oracle(f"{ORACLE} {model.arcs}", model.route, gold, of_arcs))
            rows += _best(f"{model.route_name} {model.arcs}", model.route, gold, of_arcs, scoring.best)
    return Comparison(gold, rows, trains * trained.dparser_seconds, tags)


def parsed(name: str, model: Model, ctrees: Sequence[CTree]) -> Parses:
    """Return the d-trees that a model's d-parser predicts, and the seconds that it takes."""
    start = time.perf_counter()
    tokens = (ctree.tokens for ctree in ctrees)
    dtrees = list(counted(model.parse_dependencies(tokens), f"parsing by {name}"))
    return Parses(name, dtrees, time.perf_counter() - start)


def _oracle(name: str, route: Route, gold: GoldStandard, parses: Parses) -> Row:
    tagged = with_tags_of(parses.dtrees, gold.ctrees)
    nearest = map(route.oracle, counted(tagged, "oracle"), parses.dtrees)
    return _unfound(name, gold, parses, nearest)


def _best(
    name: str, route: Route, gold: GoldStandard, parses: Parses, numbers: Sequence[int]
) -> Iterator[Row]:
    """Yield, for each number K, a row of the c-trees that have the greatest F1 among each sentence's K best;
    none where a route has only one c-tree of each d-tree."""

    def nearest(ctree: CTree, dtree: DTree) -> list[CTree]:
        """Return, for each K, the nearest to gold of the first K c-trees: the K best are the first of all."""
        found = [guess for _, guess in route.decode_k_best(dtree, max(numbers))]
        scores = gold.metric.score([ctree] * len(found), with_tags_of([ctree] * len(found), found))
        order = range(len(found))
        return [found[max(order[:k], key=lambda i: scores[i].f1)] for k in numbers]

    if not (numbers and route.abilities.k_best):
        return
    if not any(len(route.decode_k_best(dtree, 2)) > 1 for dtree in parses.dtrees):
        return
    pairs = zip(gold.ctrees, counted(parses.dtrees, f"{name} {BEST}"), strict=True)
    guesses = zip(*(nearest(*pair) for pair in pairs), strict=True)
    for k, guess in zip(numbers, guesses, strict=True):
        yield _unfound(f"{name} {k} {BEST}", gold, parses, with_tags_of(gold.ctrees, guess))


def _unfound(name: str, gold: GoldStandard, parses: Parses, guess: Iterable[CTree]) -> Row:
    """Return a row of c-trees that nothing can find without gold."""
    scores = gold.metric.score(gold.ctrees, guess)
    attached = attachment_scores(gold.dtrees, parses.dtrees)
    return Row(name, parses.source, attached, scores, gold.metric.summary(scores))


def several(
    gold: GoldStandard, routes: Mapping[str, Route], parsed: Sequence[Parses], first: Sequence[Row]
) -> list[Row]:
    """Return the rows that follow where there are several d-parsers.

    parsed: the d-trees of each; first: the rows of all routes on the d-trees of the first one
    """
    rows = {parsed[0].source: list(first)}
    for parses in parsed[1:]:
        rows[parses.source] = [score(name, route, gold, parses) for name, route in routes.items()]
    made = [row for parses in parsed[1:] if parses.source != GOLD for row in rows[parses.source]]
    for size in range(2, min(len(parsed), _MOST) + 1):
        for chosen in combinations(parsed, size):
            singles = [row for parses in chosen for row in rows[parses.source]]
            if len(singles) >= _LEAST:
                made.append(_constituents(gold, next(iter(routes.values())), chosen, singles))
            if size >= _LEAST:
                arcs = _arcs(chosen)
                made += [score(name, route, gold, arcs) for name, route in routes.items()]
    return [replace(row, trees=None) for row in made]  # the report is about the first d-parser


def _name(chosen: Sequence[Parses]) -> str:
    return "+".join(parses.source for parses in chosen)


def _arcs(chosen: Sequence[Parses]) -> Parses:
    start = time.perf_counter()
    dtrees = [combine_arcs(row) for row in zip(*(parses.dtrees for parses in chosen), strict=True)]
    return Parses(_name(chosen), dtrees, sum(one.seconds for one in chosen) + time.perf_counter() - start)


def _constituents(gold: GoldStandard, route: Route, chosen: Sequence[Parses], rows: Sequence[Row]) -> Row:
    """Return the row of voted c-trees; UAS and LAS are of the d-trees as which the route encodes them."""
    start = time.perf_counter()
    trees = zip(*(row.trees.guess for row in rows if row.trees), strict=True)
    guess: list[CTree] = [combine(list(map(Parse, row))).ctree for row in trees]
    converting = sum(row.converting for row in rows) + time.perf_counter() - start
    scores = gold.metric.score(gold.ctrees, guess)
    return Row(
        VOTED,
        _name(chosen),
        attachment_scores(gold.dtrees, map(route.encode, guess)),
        scores,
        gold.metric.summary(scores),
        repairs=Repairs(rows[0].repairs.tokens, rows[0].repairs.sentences),
        converting=converting,
        parsing=sum(parses.seconds for parses in chosen),
    )
