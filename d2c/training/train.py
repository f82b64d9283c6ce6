"""Training: a tagger, folds, a d-parser and any number of routes, into a model directory for each route."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from d2c.base.errors import ModelError, located
from d2c.base.progress import log
from d2c.base.temporary import scratch
from d2c.dparsers.directories import whole_directory
from d2c.dparsers.protocol import DependencyParser
from d2c.models.abbreviations import load_abbreviations
from d2c.models.arcs import ARCS, check_arcs
from d2c.models.model import SETTINGS, Model
from d2c.routes.registry import foreign_refused
from d2c.training.encoding import encode_treebank, write_encoded
from d2c.training.fitting import fit_arcs, fit_to_convention
from d2c.training.jackknife import and_last_tenth, jackknife_dtrees, parse_last_tenth
from d2c.training.spec import TrainingSpec
from d2c.training.warm_up import warmed_up
from d2c.trees.dtree import DTree
from d2c.trees.heads import Uncovered, load_head_rules
from d2c.trees.route import Progress, Route


@dataclass(frozen=True)
class Trained:
    """Models, one for each route, which share d-parser and tagger, and the seconds that training took.

    dparser_seconds: of the d-parser, once for each fold of jackknifing, too
    route_seconds:   of each route
    """

    models: Sequence[Model]
    dparser_seconds: float
    route_seconds: Sequence[float]


class _Parses(NamedTuple):
    """D-trees of the training treebank by d-parsers that have not learned from them.

    jackknifed: of all sentences, single; None where there are no folds
    held_out:   of the last tenth, with packed arcs, where these are asked for
    """

    jackknifed: list[DTree] | None = None
    held_out: Sequence[DTree] = ()


def train_models(
    spec: TrainingSpec, directories: Sequence[Path], progress: Progress | None = None, foreign: bool = True
) -> Trained:
    """Train what is asked for into model directories, one for each route.

    foreign: whether the d-parser may be one that is trained elsewhere

    First the tagger, which may give the tags that all else learns from, then the d-parser, once for each fold
    and once on everything, then the routes. The directories appear whole or, after an error or an
    interruption, not at all. Raises FormatError for treebanks that cannot be read or encoded, ModelError
    where a route cannot learn from jackknifed d-trees or those of a foreign d-parser, or a directory has a
    model that is not to be overwritten.
    """
    _check_new(spec, directories)
    log.info("%s", spec)
    dparser = spec.new_dparser()
    labels = dparser.foreign if spec.labels is None else spec.labels
    routes = replace(spec, labels=labels).new_routes()
    _check(spec, routes, dparser, foreign)
    warn_of_presets([dparser, spec.tagging and spec.tagging.make()])
    with ExitStack() as stack:
        new = [stack.enter_context(whole_directory(directory, SETTINGS)) for directory in directories]
        tagger = None
        if tagging := spec.tagging:
            tagger, reading = tagging.train(spec.train, spec.dev, new[0] / "tagger", spec.reading, progress)
            spec = replace(spec, reading=reading)
        with warmed_up(routes, train=True):
            start = time.perf_counter()
            parses = _train_dparser(spec, dparser, [*routes.values()], new[0] / "dparser", progress)
            dparser_seconds = time.perf_counter() - start
        seconds = [_fit(name, routes[name], spec, dparser, parses, progress) for name in routes]
        words = (tagging.name, tagger, spec.tags, load_abbreviations(new[0] / "tagger")) if tagging else ()
        models = [Model(name, route, spec.dparser_name, dparser, *words) for name, route in routes.items()]
        for model, directory in zip(models, new, strict=True):
            model.language = spec.language
            model.arcs = spec.arcs if model.route.supports_arcs else ARCS[0]
            model.save(directory, new[0])
    return Trained(models, dparser_seconds, seconds)


def _train_dparser(
    spec: TrainingSpec,
    dparser: DependencyParser,
    routes: Sequence[Route],
    directory: Path,
    progress: Progress | None,
) -> _Parses:
    """Train a d-parser on what the first route encodes, and others for folds and packed arcs."""
    if dparser.foreign:
        dparser.train(spec.train, spec.dev, directory, progress)  # it reads neither
        return _Parses()
    with scratch() as files:
        rules, uncovered = load_head_rules(spec.head_rules), Uncovered()
        train, dev = write_encoded(
            routes, (spec.train, spec.dev), lambda path: uncovered.over(spec.reading(path), rules), files
        )
        warning = uncovered.warning(spec.head_rules, str(spec.train))
        if warning and progress:
            progress(warning)
        parses = _Parses()
        if spec.folds or spec.packed:
            with located(str(spec.train)):
                parses = _parse_unseen(spec, dparser, routes[0], dev, progress)
        dparser.train(train, dev, directory, progress)
    return parses


def _parse_unseen(
    spec: TrainingSpec, dparser: DependencyParser, route: Route, dev: Path, progress: Progress | None
) -> _Parses:
    """Parse the treebank with d-parsers that have not learned from what they parse."""
    encoded = list(encode_treebank(route, spec.train, spec.reading))
    if not spec.folds:
        return _Parses(held_out=parse_last_tenth(dparser, encoded, dev, progress))
    dtrees = jackknife_dtrees(dparser, encoded, dev, spec.folds, progress, spec.packed)
    return _Parses(*and_last_tenth(dtrees, len(encoded)))


def _fit(
    name: str,
    route: Route,
    spec: TrainingSpec,
    dparser: DependencyParser,
    parses: _Parses,
    progress: Progress | None,
) -> float:
    """Fit a route, and return how many seconds that took."""
    start = time.perf_counter()
    log.info("route %s: learning to convert d-trees", name)
    with located(str(spec.train)):
        if dparser.foreign:
            fit_to_convention(route, dparser, spec, progress)
        else:
            gold, dev = spec.reading(spec.train), spec.reading(spec.dev)
            route.fit(gold, dev, dtrees=parses.jackknifed, progress=progress)
            if spec.packed and route.supports_arcs:
                fit_arcs(name, route, spec, *parses, progress)
    return time.perf_counter() - start


def _check_new(spec: TrainingSpec, directories: Iterable[Path]) -> None:
    for directory in directories:
        if (directory / SETTINGS).is_file() and not spec.overwrite:
            raise ModelError(f"{directory}: is a model already; --overwrite replaces it")


def _check(spec: TrainingSpec, routes: Mapping[str, Route], dparser: DependencyParser, foreign: bool) -> None:
    """Raise ModelError for a d-parser, routes, folds and arcs that do not go together."""
    if dparser.foreign:
        if not foreign:
            message = "is trained elsewhere, on other d-trees than the routes'; train, parse and evaluate"
            raise ModelError(f"the d-parser {spec.dparser_name} {message}")
        if spec.folds or not all(route.learns_conventions for route in routes.values()):
            raise ModelError(f"the d-parser {spec.dparser_name} {foreign_refused()}, without jackknifing")
    for name, route in routes.items() if spec.folds else ():
        try:
            route.check_jackknifing()
        except ValueError as error:
            raise ModelError(f"--jackknife with the route {name}: {error}") from None
    check_arcs(spec.packed, routes, dparser, spec.dparser_name)


def warn_of_presets(estimators: Iterable[object]) -> None:
    """Say of d-parsers and taggers whose preset is made for GPUs that there is a smaller one."""
    if any(getattr(one, "misses_gpu", False) for one in estimators):
        log.info("the default preset is made for GPUs, and this is none; take --preset small on a CPU")
