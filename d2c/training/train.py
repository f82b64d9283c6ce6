"""Training: a tagger, folds, a d-parser and any number of routes, into a model directory for each route."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from d2c.base.errors import ModelError, each_located, located
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch
from d2c.dparsers.directories import whole_directory
from d2c.dparsers.protocol import DependencyParser
from d2c.models.model import SETTINGS, Model
from d2c.routes.registry import foreign_refused
from d2c.training.announcements import announce, described, warn_of_presets
from d2c.training.conventions import fit_to_convention
from d2c.training.jackknife import jackknife_dtrees
from d2c.training.packed import and_last_tenth, check_arcs, fit_arcs, parse_held_out, parsing
from d2c.training.spec import ARCS, TrainingSpec
from d2c.training.tagging import load_abbreviations
from d2c.training.warm_up import warmed_up
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu
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


def train_models(
    spec: TrainingSpec, directories: Sequence[Path], progress: Progress | None = None, foreign: bool = True
) -> Trained:
    """Trains what is asked for into model directories, one for each route.

    foreign: whether the d-parser may be one that is trained elsewhere

    First the tagger, which may give the tags that all else learns from, then the d-parser, once for each fold
    and once on everything, then the routes. The directories appear whole or, after an error or an
    interruption, not at all. Raises FormatError for treebanks that cannot be read or encoded, ModelError
    where a route cannot learn from jackknifed d-trees or those of a foreign d-parser, or a directory has a
    model that is not to be overwritten.
    """
    _check_new(spec, directories)
    announce(spec)
    dparser = spec.new_dparser()
    labels = dparser.foreign if spec.labels is None else spec.labels
    routes = replace(spec, labels=labels).new_routes()
    _check_foreign(spec, routes.values(), dparser, foreign)
    _check_jackknifing(spec, routes)
    check_arcs(spec.packed, routes, dparser, spec.dparser_name)
    warn_of_presets([dparser, spec.tagging and spec.tagging.make()])
    with ExitStack() as stack:
        new = [stack.enter_context(whole_directory(directory, SETTINGS)) for directory in directories]
        tagger = None
        if tagging := spec.tagging:
            tagger, reading = tagging.train(spec.train, spec.dev, new[0] / "tagger", spec.reading, progress)
            spec = replace(spec, reading=reading)
        with warmed_up(routes, train=True):
            start = time.perf_counter()
            dtrees, held_out = _train_dparser(spec, dparser, [*routes.values()], new[0] / "dparser", progress)
            seconds = [time.perf_counter() - start]
        for name, route in routes.items():
            start = time.perf_counter()
            log.info("route %s: learning to convert d-trees", name)
            with located(str(spec.train)):
                if dparser.foreign:
                    fit_to_convention(route, dparser, spec, progress)
                else:
                    gold, dev = spec.reading(spec.train), spec.reading(spec.dev)
                    route.fit(gold, dev, dtrees=dtrees, progress=progress)
                    if spec.packed:
                        fit_arcs(name, route, spec, dtrees, held_out, progress)
            seconds.append(time.perf_counter() - start)
        words = (tagging.name, tagger, spec.tags, load_abbreviations(new[0] / "tagger")) if tagging else ()
        models = [Model(name, route, spec.dparser_name, dparser, *words) for name, route in routes.items()]
        for model, directory in zip(models, new, strict=True):
            model.language = spec.language
            model.arcs = spec.arcs if model.route.supports_arcs else ARCS[0]
            model.save(directory, new[0])
    return Trained(models, seconds[0], seconds[1:])


def _train_dparser(
    spec: TrainingSpec,
    dparser: DependencyParser,
    routes: Sequence[Route],
    directory: Path,
    progress: Progress | None,
) -> tuple[list[DTree] | None, list[DTree]]:
    """Trains a d-parser on what the first route encodes; jackknifed d-trees, where folds are asked for; those
    of the last tenth with packed arcs, where these are."""
    files, dtrees = (spec.train, spec.dev), None  # of which a foreign one reads neither
    held_out: list[DTree] = []
    with scratch() as own:
        if not dparser.foreign:
            rules, uncovered = load_head_rules(spec.head_rules), Uncovered()
            watched = replace(spec, reading=lambda path: uncovered.over(spec.reading(path), rules))
            files = write_encoded(routes, watched, own)
            warning = uncovered.warning(spec.head_rules, str(spec.train))
            if warning and progress:
                progress(warning)
            if spec.folds or spec.packed:
                encoded = list(encode_treebank(routes[0], spec.train, spec.reading))
                with located(str(spec.train)):
                    if spec.folds:
                        parse = partial(parsing, packed=spec.packed)
                        parsed = jackknife_dtrees(dparser, encoded, files[1], spec.folds, progress, parse)
                        dtrees, held_out = and_last_tenth(parsed, len(encoded))
                    else:
                        held_out = parse_held_out(spec, encoded, files[1], progress)
        dparser.train(*files, directory, progress)
    return dtrees, held_out


def _check_new(spec: TrainingSpec, directories: Iterable[Path]) -> None:
    for directory in directories:
        if (directory / SETTINGS).is_file() and not spec.overwrite:
            raise ModelError(f"{directory}: is a model already; --overwrite replaces it")


def _check_foreign(
    spec: TrainingSpec, routes: Iterable[Route], dparser: DependencyParser, allowed: bool
) -> None:
    if not dparser.foreign:
        return
    if not allowed:
        message = "is trained elsewhere, on other d-trees than the routes'; train, parse and evaluate"
        raise ModelError(f"the d-parser {spec.dparser_name} {message}")
    if spec.folds or not all(route.learns_conventions for route in routes):
        raise ModelError(f"the d-parser {spec.dparser_name} {foreign_refused()}, without jackknifing")


def _check_jackknifing(spec: TrainingSpec, routes: Mapping[str, Route]) -> None:
    for name, route in routes.items():
        if spec.folds:
            try:
                route.check_jackknifing()
            except ValueError as error:
                raise ModelError(f"--jackknife with the route {name}: {error}") from None


def write_encoded(routes: Sequence[Route], spec: TrainingSpec, directory: Path) -> tuple[Path, Path]:
    """Writes what the first route encodes into a directory: train.conllu and dev.conllu.

    Of the other routes it only makes sure that they can encode all trees, before hours of training.
    """
    files, (first, *others) = (directory / "train.conllu", directory / "dev.conllu"), routes
    for treebank, file in zip((spec.train, spec.dev), files, strict=True):
        dtrees = described(encode_treebank(first, treebank, spec.reading), treebank)
        with open(file, "w", encoding="utf-8") as stream:
            stream.writelines(each_located(format_conllu, dtrees, str(treebank)))
        for route in others:
            for _ in counted(encode_treebank(route, treebank, spec.reading), f"encoding {treebank}"):
                pass
    return files


def encode_treebank(route: Route, treebank: Path, reading: Read = CLEANED) -> Iterator[DTree]:
    """The d-trees of a treebank file. Raises FormatError naming the sentence that cannot be encoded."""
    return each_located(route.encode, reading(treebank), str(treebank))
