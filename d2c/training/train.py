"""The one trainer: encode, jackknife, train, fit, into a model directory for each route.

`train_models` does all of it; `Trainer` has its single steps, for experiments. For a d-parser that is trained
elsewhere see `d2c.training.conventions`.

With packed arcs, routes learn from those of all folds, and dev chooses which of them are kept in parsing.
Without folds, how to score packed arcs is learned on the last tenth of the treebank, by a route that is
fitted once more, to the other nine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from d2c.base.errors import ModelError, located, needing
from d2c.base.inputs import check_repeatable, names_of
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch, whole_directory
from d2c.models.model import ARCS, Model, save_abbreviations
from d2c.models.names import SETTINGS
from d2c.models.word_cuts import cuts_of
from d2c.packed.arcs import with_packed_arcs
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
from d2c.training.conventions import fit_to_convention
from d2c.training.jackknife import jackknife_dtrees, parse_last_tenth
from d2c.training.spec import TrainingSpec, TreebankSize
from d2c.training.warm_up import warmed_up
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.heads import Uncovered, load_head_rules
from d2c.trees.labels import unlabelled

PARTS = ("train", "dev")
_LABEL = 1_000  # characters of a label or tag; those that treebanks have are no longer than 110
_WORDS = 10_000  # of dev, on which a route that learns over packed arcs is scored

Encode = Callable[[CTree], DTree]


@dataclass(frozen=True)
class Trained:
    """Models, one for each route, which share d-parser and tagger, and the seconds that training took.

    dparser_seconds: of training the d-parser, once more for each fold of jackknifing
    route_seconds:   of fitting each route
    """

    models: Sequence[Model]
    dparser_seconds: float
    route_seconds: Sequence[float]


class Unseen(NamedTuple):
    """D-trees of the training treebank by d-parsers that have not learned from these sentences.

    jackknifed: of all sentences, with packed arcs if these are asked for; None where there are no folds
    held_out:   of the last tenth, with packed arcs, if these are asked for and there are no folds
    """

    jackknifed: list[DTree] | None = None
    held_out: Sequence[DTree] = ()

    @property
    def single(self) -> list[DTree] | None:
        """Return the d-trees of all sentences, without packed arcs."""
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
    with needing("training", "train"):  # now, not when a route learns, after the d-parser
        import_module("sklearn")
    with ExitStack() as stack:
        new = [stack.enter_context(whole_directory(directory, SETTINGS)) for directory in directories]
        check_new(spec, directories)  # once more: another training may have ended just before it was claimed
        log.info("%s", spec)
        warn_of_presets([dparser, *([spec.tagger.make()] if spec.tagger.name else [])])
        tagger, data = None, spec.data
        if spec.tagger.name:
            tagger, reading = spec.tagger.train(
                (data.train, data.dev), data.reading, spec.route.head_rules, new[0] / "tagger", progress
            )
            data = replace(data, reading=reading)
        trainer = Trainer(replace(spec, data=data), progress)
        with warmed_up(routes, train=True, packed=spec.packed):
            start = time.perf_counter()
            unseen = trainer.train_dparser(dparser, [*routes.values()], new[0] / "dparser")
            dparser_seconds = time.perf_counter() - start
        if dparser.abilities.tags:
            save_abbreviations((ctree.tokens for ctree in data.trees("train")), new[0] / "dparser")
        cuts = cuts_of(spec.language, (ctree.tokens for ctree in data.trees("train")))
        seconds = [trainer.fit(name, route, dparser, unseen) for name, route in routes.items()]
        models = [Model(name, route, spec.dparser.kind, dparser) for name, route in routes.items()]
        for model, directory in zip(models, new, strict=True):
            if tagger is not None:
                model.tagger_name, model.tagger, model.tags = spec.tagger.name, tagger, spec.tagger.tags
            model.language, model.cuts = spec.language, cuts
            model.arcs = spec.arcs if model.route.abilities.packed_arcs else ARCS[0]
            log.info("route %s: learning how far its confidences can be trusted", model.route_name)
            model.calibrate(data.trees("dev"), data.trees("train"))
            model.save(directory, new[0])
    return Trained(models, dparser_seconds, seconds)


@dataclass
class Trainer:
    """The steps of a training, over the trees of `spec.data`."""

    spec: TrainingSpec
    progress: Progress | None = None

    def write_encoded(self, encode: Encode, directory: Path) -> tuple[Path, Path]:
        """Write the d-trees of train and dev as CoNLL-U, and log how large they are. Raises FormatError."""
        files = directory / "train.conllu", directory / "dev.conllu"
        for part, file in zip(PARTS, files, strict=True):
            size, source = TreebankSize(), self.spec.data.source(part)
            texts = self.spec.data.each(partial(_encoded_text, encode, size), part)
            with open(file, "w", encoding="utf-8") as stream:
                stream.writelines(counted(texts, f"reading {names_of(source)}"))
            size.tell(source)
        return files

    def train_dparser(self, dparser: DependencyParser, routes: Sequence[Route], directory: Path) -> Unseen:
        """Train a d-parser on what the first route encodes, and others for folds and packed arcs.

        The other routes encode all trees, too, only to make sure that they can, before hours of training.
        """
        if dparser.abilities.foreign:
            dparser.train(directory, directory, directory, self.progress)  # it reads no treebank
            return Unseen()
        rules, uncovered, unseen = load_head_rules(self.spec.route.head_rules), Uncovered(), Unseen()

        def encoder(route: Route) -> Encode:
            return lambda ctree: route.encode(rules.headed(ctree, uncovered))

        taught = without_labels if self.spec.dparser.unlabelled else lambda encode: encode
        with scratch() as files:
            train, dev = self.write_encoded(taught(encoder(routes[0])), files)
            for route in routes[1:]:
                for part in PARTS:
                    encoded = self.spec.data.each(encoder(route), part)
                    for _ in counted(encoded, f"encoding {names_of(self.spec.data.source(part))}"):
                        pass
            uncovered.check_marked(names_of(self.spec.data.source("train")))
            warning = uncovered.warning(self.spec.route.head_rules, names_of(self.spec.data.source("train")))
            if warning and self.progress:
                self.progress(warning)
            if self.spec.jackknife or self.spec.packed:
                unseen = self.unseen(dparser, taught(routes[0].encode), dev)
            dparser.train(train, dev, directory, self.progress)
        return unseen

    def unseen(self, dparser: DependencyParser, encode: Encode, dev: Path) -> Unseen:
        """Parse the treebank with d-parsers that have not learned from what they parse.

        dev: a CoNLL-U file, which selects their best states
        """
        with located(names_of(self.spec.data.source("train"))):
            encoded = [*self.spec.data.each(encode, "train")]
            if not self.spec.jackknife:
                return Unseen(held_out=parse_last_tenth(dparser, encoded, dev, self.progress))
            folds, packed = self.spec.jackknife, self.spec.packed
            return Unseen([*jackknife_dtrees(dparser, encoded, dev, folds, self.progress, packed)])

    def fit(self, name: str, route: Route, dparser: DependencyParser, unseen: Unseen) -> float:
        """Fit a route, and return how many seconds that took."""
        start, spec = time.perf_counter(), self.spec
        log.info("route %s: learning to convert d-trees", name)
        with located(names_of(spec.data.source("train"))):
            if dparser.abilities.foreign:
                fit_to_convention(route, dparser, spec.data, self.progress)
            else:
                dev = spec.data.trees("dev")
                over_arcs, of_dev = spec.over_arcs(route), None
                dtrees = unseen.jackknifed if over_arcs else unseen.single
                if over_arcs:
                    dev = thinned([*dev], _WORDS)
                    of_dev = [*dparser.parse_packed(ctree.tokens for ctree in dev)]
                gold = spec.data.trees("train")
                route.fit(gold, dev, dtrees=dtrees, dev_dtrees=of_dev, progress=self.progress)
                if spec.packed and route.abilities.packed_arcs and not over_arcs:
                    self._fit_arcs(name, route, unseen)
        return time.perf_counter() - start

    def _fit_arcs(self, name: str, route: Route, unseen: Unseen) -> None:
        """Teach a fitted route how to score packed arcs."""
        if self.progress is not None:
            self.progress(f"packed arcs: route {name} on nine tenths")
        gold = list(self.spec.data.trees("train"))
        begin = len(gold) - len(unseen.held_out)
        probe = self.spec.new_routes(checkpoints=None)[name]
        probe.fit(gold[:begin], progress=self.progress)
        route.arcs_ = probe.fit_arcs(gold[begin:], unseen.held_out).arcs_
        if self.progress is not None:
            self.progress(f"packed arcs: {route.arcs_}")


def without_labels(encode: Encode) -> Encode:
    """Return a function that encodes likewise, with labels that say nothing."""
    return lambda ctree: unlabelled(encode(ctree))


def _encoded_text(encode: Encode, size: TreebankSize, ctree: CTree) -> str:
    """Return the d-tree of a c-tree as CoNLL-U. Raises ValueError for labels that are too long for models."""
    dtree = size.add(encode(ctree))
    for names, most in (((*ctree.labels, *ctree.tokens.tags), _LABEL), (dtree.labels or (), 4 * _LABEL)):
        if (longest := max(map(len, names), default=0)) > most:
            raise ValueError(
                f"a label of {longest:,} characters, more than the {most:,} that models may have"
            )
    return format_conllu(dtree)


def check_spec(
    spec: TrainingSpec, directories: Iterable[Path], foreign: bool
) -> tuple[DependencyParser, dict[str, Route]]:
    """Return the d-parser and the routes that `train_models` trains. Arguments and errors are as there."""
    for part in PARTS:
        check_repeatable(spec.data.source(part))
    check_new(spec, directories)
    dparser, labels = spec.dparser.make(), spec.route.labels
    routes = spec.new_routes(labels=dparser.abilities.foreign if labels is None else labels)
    if not foreign:
        check_own(dparser, spec.dparser.kind, "train, parse and evaluate")
    if dparser.abilities.foreign:
        check_foreign(f"the d-parser {spec.dparser.kind}", routes, bool(spec.jackknife))
    if spec.dparser.unlabelled:
        check_unlabelled(routes, labels)
    if spec.jackknife:
        check_jackknifing(routes)
    check_arcs(spec.packed, routes, dparser, spec.dparser.kind)
    return dparser, routes


def check_new(spec: TrainingSpec, directories: Iterable[Path]) -> None:
    """Raise ModelError for a directory with a model that is not to be overwritten."""
    for directory in directories:
        if (directory / SETTINGS).is_file() and not spec.overwrite:
            raise ModelError(f"{directory}: is a model already; --overwrite replaces it")


def warn_of_presets(estimators: Iterable[DependencyParser | Tagger]) -> None:
    """Say that there is a smaller preset where that of a d-parser or tagger needs a GPU and there is none."""
    if any(one.abilities.gpu for one in estimators):
        log.info("the default preset is made for GPUs, and this is none; take --preset small on a CPU")
