"""Models trained and compared on a dev treebank: the rows of a table."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from d2c.base.progress import counted
from d2c.dparsers.registry import DPARSERS, takes
from d2c.dparsers.taggers import accuracy
from d2c.experiments.rows import (
    GOLD,
    ORACLE,
    Comparison,
    GoldStandard,
    Parses,
    Row,
    attachment,
    score,
    with_tags_of,
)
from d2c.models.model import ARCS, Model
from d2c.packed.dtree import with_packed_arcs
from d2c.training.spec import TrainingSpec
from d2c.training.train import Trained, train_models
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.ctree import CTree
from d2c.trees.route import Progress, Route


def train_and_compare(
    spec: TrainingSpec,
    directory: Path,
    progress: Progress | None = None,
    metric: str | None = None,
    others: Sequence[str] = (),
) -> Comparison:
    """Trains a model for each route into directory/<route> and compares them on the dev treebank.

    others: more d-parsers, trained into directory/<d-parser>; routes are fitted once, beside the first one;
        a transformer is for those that may have one

    Raises ModelError for a foreign d-parser.
    """
    specs = {name: _other(spec, name) for name in others}
    trained = train_models(spec, [directory / route for route in spec.routes], progress, foreign=False)
    models = {}
    for name, own in specs.items():
        place = directory / re.sub(r"\W+", "-", name)
        models[name] = train_models(own, [place], progress, foreign=False).models[0]
    return compare_on(spec.dev, trained, spec.reading, metric, models)


def _other(spec: TrainingSpec, name: str) -> TrainingSpec:
    """As asked, with another d-parser. Raises ModelError, before hours of training, for what cannot be."""
    own = replace(spec, dparser=name, routes=spec.routes[:1])
    if not takes("d-parser", DPARSERS, own.dparser_name, "bert_model"):
        own = replace(own, transformer=None)
    own.new_dparser()
    return own


def compare_on(
    dev: Path,
    trained: Trained,
    reading: Read = CLEANED,
    metric: str | None = None,
    others: Mapping[str, Model] = MappingProxyType({}),
) -> Comparison:
    """Each model's route on gold d-trees, then each on those of the d-parser, which all models share.

    others: models with other d-parsers, by their names; the rows of `voted.several` follow

    The d-parser has learned what the first route encodes; labels are scored against that. Oracles of routes
    that have one, on the d-parser's d-trees, come then. Last are routes, and their oracles, that look among
    all likely arcs, where models do (`Model.arcs`). Models that were trained on predicted tags tag dev
    themselves, for all rows. Brackets are counted by one of METRICS, or by that for these trees.
    """
    models, ctrees = trained.models, list(reading(dev))
    first, routes = models[0], [model.route for model in models]
    with_arcs = replace(first, arcs=max((model.arcs for model in models), key=ARCS.index))
    of_arcs = parsed(first.dparser_name, with_arcs, ctrees)
    predicted = [with_packed_arcs(dtree, None) for dtree in of_arcs.dtrees]
    of_dparser = of_arcs._replace(dtrees=predicted)
    dtrees, tags = list(map(first.route.encode, ctrees)), None
    if first.tags == "predicted":  # gold heads and labels are those that the treebank's own tags say
        tags = accuracy([ctree.tokens for ctree in ctrees], [dtree.tokens for dtree in predicted])
        dtrees = [replace(a, tokens=b.tokens) for a, b in zip(dtrees, predicted, strict=True)]
    gold = GoldStandard.of(ctrees, dtrees, routes, metric)
    bare = Parses(GOLD, [replace(dtree, labels=None) for dtree in dtrees])  # for routes that find labels
    all_gold = [bare if route.relabels else Parses(GOLD, dtrees) for route in routes]
    rows = [
        replace(score(model.route_name, model.route, gold, parses), training=seconds)
        for given in (all_gold, [of_dparser] * len(models))
        for model, parses, seconds in zip(models, given, trained.route_seconds, strict=True)
    ]
    if others:
        from d2c.experiments.voted import several

        every = [of_dparser, *(parsed(name, model, ctrees) for name, model in others.items())]
        by_name = {model.route_name: model.route for model in models}
        rows += several(gold, by_name, every, rows[len(models) :])
    rows += [_oracle(ORACLE, route, gold, of_dparser) for route in routes if route.has_oracle]
    for model in models:
        if model.arcs == "packed":
            rows.append(score(f"{model.route_name} {model.arcs}", model.route, gold, of_arcs))
            if model.route.has_oracle:
                rows.append(_oracle(f"{ORACLE} {model.arcs}", model.route, gold, of_arcs))
    return Comparison(gold, rows, trained.dparser_seconds, tags)


def parsed(name: str, model: Model, ctrees: Sequence[CTree]) -> Parses:
    """The d-trees that a model's d-parser predicts."""
    start = time.perf_counter()
    tokens = (ctree.tokens for ctree in ctrees)
    dtrees = list(counted(model.parse_dependencies(tokens), f"parsing by {name}"))
    return Parses(name, dtrees, time.perf_counter() - start)


def _oracle(name: str, route: Route, gold: GoldStandard, parses: Parses) -> Row:
    tagged = with_tags_of(parses.dtrees, gold.ctrees)
    nearest = with_tags_of(gold.ctrees, map(route.oracle, counted(tagged, "oracle"), parses.dtrees))
    scores = gold.metric.score(gold.ctrees, nearest)
    return Row(name, parses.source, attachment(gold, parses.dtrees), scores, gold.metric.summary(scores))
