"""Training: a tagger, folds, a d-parser and any number of routes, into a model directory for each route.

A d-parser that is trained elsewhere has a convention of its own, UD or ClearNLP, say. Head children are then
those that its d-trees induce (`d2c.trees.heads`). Where a c-tree is not among those that its d-tree
allows, the route learns the nearest one among them. How near these come is the ceiling of what it can reach
with this d-parser.

Over packed arcs routes learn from those of all folds; dev chooses which of them are kept in parsing. Without
folds, what packed arcs count for is learned on the last tenth of the treebank, by a route that is fitted once
more, to the other nine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from d2c.base.counting import many
from d2c.base.errors import ModelError, each_located, located, needing
from d2c.base.files import file_name
from d2c.base.inputs import Paths, check_repeatable, files_of, names_of, of_each
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch, whole_directory
from d2c.models.model import ARCS, Model, load_abbreviations, save_abbreviations
from d2c.models.names import SETTINGS
from d2c.packed.dtree import with_packed_arcs
from d2c.protocols.dparser import DependencyParser, Tagger
from d2c.protocols.route import Progress, Route
from d2c.protocols.training import thinned
from d2c.routes.compatibility import (
    check_arcs,
    check_foreign,
    check_jackknifing,
    check_own,
    check_unlabelled,
)
from d2c.training.jackknife import jackknife_dtrees, parse_last_tenth
from d2c.training.spec import TrainingSpec
from d2c.training.warm_up import warmed_up
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.reading import CLEANED, Read
from d2c.trees.heads import Uncovered, induce_heads, load_head_rules
from d2c.trees.labels import unlabelled
from d2c.trees.refinement import with_subtrees
from d2c.trees.repair import projectivize, repair_heads
from d2c.trees.scores.brackets import bracket_scores

_WORDS = 10_000  # of dev, on which a route that learns over packed arcs is scored


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

    jackknifed: of all sentences; None where there are no folds. With packed arcs where these are asked for
    held_out:   of the last tenth, with packed arcs, where these are asked for and there are no folds
    """

    jackknifed: list[DTree] | None = None
    held_out: Sequence[DTree] = ()

    @property
    def single(self) -> list[DTree] | None:
        """Return those of all sentences, single."""
        return self.jackknifed and [with_packed_arcs(dtree, None) for dtree in self.jackknifed]


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
    dparser, routes = check_spec(spec, directories, foreign)
    log.info("%s", spec)
    with needing("training", "d2c[train]"):  # now, not when a route learns, after the d-parser
        import_module("sklearn")
    warn_of_presets([dparser, *([spec.tagging.make()] if spec.tagging else [])])
    with ExitStack() as stack:
        new = [stack.enter_context(whole_directory(directory, SETTINGS)) for directory in directories]
        tagger = None
        if tagging := spec.tagging:
            tagger, reading = tagging.train(spec.train, spec.dev, new[0] / "tagger", spec.reading, progress)
            spec = replace(spec, reading=reading)
        with warmed_up(routes, train=True, packed=spec.packed):
            start = time.perf_counter()
            parses = _train_dparser(spec, dparser, [*routes.values()], new[0] / "dparser", progress)
            dparser_seconds = time.perf_counter() - start
        if dparser.abilities.tags:
            save_abbreviations((ctree.tokens for ctree in spec.reading(spec.train)), new[0] / "dparser")
        seconds = [_fit(name, routes[name], spec, dparser, parses, progress) for name in routes]
        words = (tagging.name, tagger, spec.tags, load_abbreviations(new[0] / "tagger")) if tagging else ()
        models = [Model(name, route, spec.dparser_name, dparser, *words) for name, route in routes.items()]
        for model, directory in zip(models, new, strict=True):
            model.language = spec.language
            model.arcs = spec.arcs if model.route.abilities.packed_arcs else ARCS[0]
            log.info("route %s: learning how far its confidences can be trusted", model.route_name)
            model.calibrate(spec.reading(spec.dev), spec.reading(spec.train))
            model.save(directory, new[0])
    return Trained(models, dparser_seconds, seconds)


def _train_dparser(
    spec: TrainingSpec,
    dparser: DependencyParser,
    routes: Sequence[Route],
    directory: Path,
    progress: Progress | None,
) -> _Parses:
    """Train a d-parser on what the first route encodes, and others for folds and packed arcs.

    Of the other routes make only sure that they can encode all trees, before hours of training.
    """
    if dparser.abilities.foreign:
        dparser.train(directory, directory, directory, progress)  # it reads no treebank
        return _Parses()
    rules, uncovered, parses = load_head_rules(spec.head_rules), Uncovered(), _Parses()

    def reading(paths: Paths) -> Iterator[CTree]:
        return uncovered.over(spec.reading(paths), rules)

    with scratch() as files:
        train, dev = files / "train.conllu", files / "dev.conllu"
        for treebank, file in ((spec.train, train), (spec.dev, dev)):
            _write_encoded(routes[0], treebank, reading, file, spec.unlabelled)
            for route in routes[1:]:
                for _ in counted(encode_treebank(route, treebank, reading), f"encoding {names_of(treebank)}"):
                    pass
        warning = uncovered.warning(spec.head_rules, names_of(spec.train))
        if warning and progress:
            progress(warning)
        if spec.folds or spec.packed:
            with located(names_of(spec.train)):
                parses = _parse_unseen(spec, dparser, routes, dev, progress)
        dparser.train(train, dev, directory, progress)
    return parses


def encode_treebank(
    route: Route, treebank: Paths, reading: Read = CLEANED, bare: bool = False
) -> Iterator[DTree]:
    """Yield the d-trees of treebank files; bare: with labels that say nothing.

    Raises FormatError naming the sentence that cannot be encoded.
    """
    dtrees = of_each(lambda path: each_located(route.encode, reading(path), file_name(path)))(treebank)
    return map(unlabelled, dtrees) if bare else dtrees


def _write_encoded(route: Route, treebank: Paths, reading: Read, output: Path, bare: bool) -> None:
    """Write the d-trees of a treebank, and say how large it is. Raises FormatError as `encode_treebank`."""
    size = _Size()
    with open(output, "w", encoding="utf-8") as stream:
        for path in files_of(treebank):
            dtrees = size.over(encode_treebank(route, path, reading, bare), f"reading {path}")
            stream.writelines(each_located(format_conllu, dtrees, file_name(path)))
    size.tell(treebank)


class _Size:
    """How large a treebank is."""

    def __init__(self) -> None:
        self.sentences = self.words = 0
        self.labels = set[str]()

    def over(self, dtrees: Iterable[DTree], doing: str) -> Iterator[DTree]:
        """Hand d-trees on, and tell from time to time what is being done with which one."""
        for dtree in counted(dtrees, doing):
            self.sentences, self.words = self.sentences + 1, self.words + len(dtree.heads)
            self.labels.update(dtree.labels or ())
            yield dtree

    def tell(self, treebank: Paths) -> None:
        """Say what was counted."""
        size = f"{many(self.sentences, 'sentence')}, {many(self.words, 'word')}"
        log.info("%s", f"{names_of(treebank)}: {size}, {many(len(self.labels), 'label')} of arcs")


def _parse_unseen(
    spec: TrainingSpec,
    dparser: DependencyParser,
    routes: Sequence[Route],
    dev: Path,
    progress: Progress | None,
) -> _Parses:
    """Parse the treebank with d-parsers that have not learned from what they parse."""
    encoded = list(encode_treebank(routes[0], spec.train, spec.reading, spec.unlabelled))
    if not spec.folds:
        return _Parses(held_out=parse_last_tenth(dparser, encoded, dev, progress))
    dtrees = jackknife_dtrees(dparser, encoded, dev, spec.folds, progress, spec.packed)
    return _Parses(list(dtrees))


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
    with located(names_of(spec.train)):
        if dparser.abilities.foreign:
            fit_to_convention(route, dparser, spec, progress)
        else:
            gold = spec.reading(spec.train)
            dev: Iterable[CTree] = spec.reading(spec.dev)
            over_arcs, of_dev = spec.over_arcs(route), None
            dtrees = parses.jackknifed if over_arcs else parses.single
            if over_arcs:
                dev = thinned([*dev], _WORDS)
                of_dev = [*dparser.parse_packed(ctree.tokens for ctree in dev)]
            route.fit(gold, dev, dtrees=dtrees, dev_dtrees=of_dev, progress=progress)
            if spec.packed and route.abilities.packed_arcs and not over_arcs:
                _fit_arcs(name, route, spec, parses, progress)
    return time.perf_counter() - start


def fit_to_convention(
    route: Route, dparser: DependencyParser, spec: TrainingSpec, progress: Progress | None
) -> None:
    """Fit a route on what a d-parser makes of treebank files; first say the oracle F1 on dev.

    route: one that learns conventions
    Raises ValueError for a treebank from which it cannot learn, and what the d-parser raises.
    """
    gold, dev = (
        list(counted(spec.reading(one), f"reading {names_of(one)}")) for one in (spec.train, spec.dev)
    )
    dtrees, dev_dtrees = (
        _parsed(parse(ctree.tokens for ctree in ctrees), one)
        for parse, ctrees, one in (
            (dparser.parse_training, gold, spec.train),
            (dparser.parse, dev, spec.dev),
        )
    )
    gold, headed = with_induced_heads(gold, dtrees), with_induced_heads(dev, dev_dtrees)
    route.fit_grammar(gold, dtrees)
    if headed and progress is not None:
        pairs = counted(zip(headed, dev_dtrees, strict=True), "oracle")
        nearest = [route.oracle(*pair) for pair in pairs]
        f1 = bracket_scores(dev, nearest, gaps=route.gaps_).f1
        progress(f"oracle F1 on dev {f1:.2f}, of the nearest c-trees that the d-trees allow: the ceiling")
    route.fit(gold, dev, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=progress)


def _parsed(dtrees: Iterable[DTree], treebank: Paths) -> list[DTree]:
    """Return the d-trees that a d-parser makes of a treebank, and say how large it is."""
    size = _Size()
    parsed = list(size.over(dtrees, f"parsing {names_of(treebank)}"))
    size.tell(treebank)
    return parsed


def with_induced_heads(ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> list[CTree]:
    """Return c-trees with the head children that d-trees over the same tokens induce, made trees first, and
    with hidden nodes over their subtrees."""
    pairs = counted(zip(ctrees, dtrees, strict=True), "inducing heads")
    repaired = ((ctree, repair_heads(dtree.heads)[0]) for ctree, dtree in pairs)
    return [induce_heads(with_subtrees(ctree, projectivize(heads)), heads) for ctree, heads in repaired]


def _fit_arcs(
    name: str, route: Route, spec: TrainingSpec, parses: _Parses, progress: Progress | None
) -> None:
    """Teach a fitted route what packed arcs count for."""
    if progress is not None:
        progress(f"packed arcs: route {name} on nine tenths")
    gold = list(spec.reading(spec.train))
    begin = len(gold) - len(parses.held_out)
    probe = replace(spec, checkpoints=None).new_routes()[name]
    probe.fit(gold[:begin], progress=progress)
    route.arcs_ = probe.fit_arcs(gold[begin:], parses.held_out).arcs_
    if progress is not None:
        progress(f"packed arcs: {route.arcs_}")


def check_spec(
    spec: TrainingSpec, directories: Iterable[Path], foreign: bool
) -> tuple[DependencyParser, dict[str, Route]]:
    """Return the d-parser and the routes that `train_models` trains. Arguments, and ModelErrors, as there."""
    for treebank in (spec.train, spec.dev):
        check_repeatable(treebank)
    for directory in directories:
        if (directory / SETTINGS).is_file() and not spec.overwrite:
            raise ModelError(f"{directory}: is a model already; --overwrite replaces it")
    dparser = spec.new_dparser()
    labels = dparser.abilities.foreign if spec.labels is None else spec.labels
    routes = replace(spec, labels=labels).new_routes()
    if not foreign:
        check_own(dparser, spec.dparser_name, "train, parse and evaluate")
    if dparser.abilities.foreign:
        check_foreign(f"the d-parser {spec.dparser_name}", routes, bool(spec.folds))
    if spec.unlabelled:
        check_unlabelled(routes, spec.labels)
    if spec.folds:
        check_jackknifing(routes)
    check_arcs(spec.packed, routes, dparser, spec.dparser_name)
    return dparser, routes


def warn_of_presets(estimators: Iterable[DependencyParser | Tagger]) -> None:
    """Say of d-parsers and taggers whose preset is made for GPUs that there is a smaller one."""
    if any(one.abilities.gpu for one in estimators):
        log.info("the default preset is made for GPUs, and this is none; take --preset small on a CPU")
