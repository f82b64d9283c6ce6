"""Trials: a route with some settings, scored on sentences that neither it nor its d-parser has learned from.

Eight tenths of the treebank are learned from; the ninth selects states, as `--dev` of `d2c train` does, and
says what packed arcs count for; F1 and UAS are those of the last. Tenths are of consecutive sentences, so
that documents stay whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from d2c.base.errors import ModelError, each_located, located
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch
from d2c.experiments.rows import with_tags_of
from d2c.experiments.store import Step, Store, digest_of_file
from d2c.experiments.treebank import Treebank
from d2c.linear.weights import read_arrays, write_arrays
from d2c.models.arcs import check_arcs, parsing
from d2c.packed.arcs import joined, parted
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.packed.feature import ARRAYS, from_arrays, to_arrays
from d2c.training.jackknife import blocks, jackknife_dtrees, jackknife_tags, write_tokens
from d2c.training.spec import TrainingSpec
from d2c.training.tagging import retagged
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu
from d2c.trees.route import Route
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Matches
from d2c.trees.scores.significance import counted_matches
from d2c.tuning.log import Trial
from d2c.tuning.space import Settings, of_route

Item = TypeVar("Item", CTree, DTree, Tokens)
_TENTHS = 10


class Parts(NamedTuple, Generic[Item]):
    """Sentences to learn from, to select states by, and to score."""

    learned: Sequence[Item]
    dev: Sequence[Item]
    held_out: Sequence[Item]

    @classmethod
    def of(cls, items: Sequence[Item]) -> Parts[Item]:
        """Raises ValueError for fewer than ten."""
        *_, dev, held_out = blocks(len(items), _TENTHS)
        return cls(items[: dev.start], items[dev.start : dev.stop], items[held_out.start :])


@dataclass
class Trials:
    """Trials of one route on one treebank, `spec.train`.

    spec:      what all trials share, and the settings that are not tried; its reading is a `Reading`
    sentences: the first ones of the treebank; None: all
    store:     keeps d-trees and scores
    """

    spec: TrainingSpec
    sentences: int | None
    store: Store
    _trees: dict[tuple[object, ...], list[CTree]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.spec.new_dparser().foreign:
            message = "is trained elsewhere, on other d-trees than the route's; tune trains its own"
            raise ModelError(f"the d-parser {self.spec.dparser_name} {message}")

    @property
    def given(self) -> Settings:
        """The settings of the route as they were given."""
        return {name: self.spec.option(name) for name in of_route(self.spec.routes[0])}

    def key(self, settings: Settings) -> str:
        """What a trial is called in the log."""
        return self.store.key("trial", self._made_of(settings))

    def run(self, settings: Settings) -> Trial:
        """Makes a trial, or finds it in the store; FormatError, ModelError: the settings do not fit."""
        step = self._step(settings)
        facts = step.facts
        return Trial(step.key, settings, facts["f1"], facts["uas"], step.seconds)

    def matches(self, settings: Settings) -> list[Matches]:
        """The brackets of each held-out sentence in a trial; of those that the metric leaves out, none."""
        return [Matches(*counts) for counts in self._step(settings).facts["matches"]]

    def _step(self, settings: Settings) -> Step:
        def make(_: Path) -> Mapping[str, Any]:
            return self._scored(self.spec.changed(**settings))

        return self.store.step("trial", self._made_of(settings), make)

    def _made_of(self, settings: Settings) -> dict[str, Any]:
        own = {name: value for name, value in settings.items() if name != "head_rules"}
        return {**self._of_dparser(self.spec.changed(**settings)), **own, "route": self.spec.routes[0]}

    def _of_dparser(self, spec: TrainingSpec) -> dict[str, Any]:
        """What its d-trees depend on: the treebank, what the route encodes, and its own settings."""
        names = ("dparser", "preset", "epochs", "device", "transformer", "seed")
        files = (*((spec.vectors,) if spec.vectors else ()), *(spec.charlm or ()))
        own = {name: getattr(spec, name) for name in names} | {"files": list(map(digest_of_file, files))}
        labels = spec.encoding if "encoding" in of_route(spec.routes[0]) else "symbols"
        return {**self._treebank(spec).made_of(), **own, **self._of_tags(spec), "labels of arcs": labels}

    def _of_tags(self, spec: TrainingSpec) -> dict[str, Any]:
        """What predicted tags depend on, beside what is above; of the treebank's own, nothing."""
        if spec.tagging is None or not spec.tagging.folds:
            return {}
        return {"tagger": spec.tagger, "folds of tags": spec.tagging.folds}

    def _treebank(self, spec: TrainingSpec) -> Treebank:
        assert isinstance(spec.reading, Reading)
        reading = replace(spec.reading, marked=spec.head_rules == "marked")
        return Treebank(str(spec.train), {"train": spec.train}, spec.head_rules, reading, self.sentences)

    def _ctrees(self, spec: TrainingSpec) -> list[CTree]:
        """The treebank, with the tags that are learned from. Raises FormatError."""
        treebank, of_tags = self._treebank(spec), self._of_tags(spec)
        key = treebank.reading.marked, *of_tags.values(), spec.head_rules if of_tags else None
        if key not in self._trees:
            ctrees = list(counted(treebank(spec.train), f"reading {spec.train}"))
            if of_tags:
                ctrees = list(retagged(ctrees, self._tags(spec, ctrees), spec.head_rules))
            self._trees[key] = ctrees
        return self._trees[key]

    def _tags(self, spec: TrainingSpec, ctrees: Sequence[CTree]) -> list[tuple[str, ...]]:
        """The tags of all sentences: of those that are learned from by taggers that have learned from its
        other folds, of the others by one that has learned from all of them."""
        tagging, sentences = spec.tagging, [ctree.tokens for ctree in ctrees]
        assert tagging is not None

        def make(_: Path) -> Mapping[str, Any]:
            with located(str(spec.train)), scratch() as files:
                learned, dev, held_out = Parts.of(sentences)
                train_file = write_tokens(learned, files / "train.conllu", spec.train)
                dev_file = write_tokens(dev, files / "dev.conllu", spec.train)
                by_others = jackknife_tags(tagging.make, learned, dev_file, tagging.folds, files, log.info)
                tags = list(by_others)
                tagger = tagging.make().train(train_file, dev_file, files / "tagger", log.info)
                tags += (own.tags for own in tagger.tag(one.forms for one in (*dev, *held_out)))
            return {"tags": tags}

        names = ("preset", "device", "transformer", "seed")
        made_of = {name: getattr(spec, name) for name in names} | self._of_tags(spec)
        made_of |= replace(self._treebank(spec), head_rules="collins").made_of()
        return [tuple(tags) for tags in self.store.step("tagged", made_of, make).facts["tags"]]

    def _scored(self, spec: TrainingSpec) -> dict[str, Any]:
        """The facts of a trial."""
        route = spec.new_routes()[spec.routes[0]]
        ctrees = self._ctrees(spec)
        with located(str(spec.train)):
            parts = Parts.of(ctrees)
            dev, parsed = self._parsed(spec, route, parts)
            jackknifed = self._jackknifed(spec, route, parts.learned) if spec.folds else None
            route.fit(parts.learned, parts.dev, dtrees=jackknifed, progress=log.info)
            if route.supports_arcs and spec.packed:
                route.fit_arcs(parts.dev, dev)
        guess = list(counted(route.decode_all(parsed), "converting d-trees"))
        metric = metric_for(parts.held_out, any(not ctree.is_continuous() for ctree in ctrees))
        scores = metric.score(parts.held_out, with_tags_of(parts.held_out, guess))
        pairs = zip(map(route.encode, parts.held_out), parsed, strict=True)
        attached = sum((score_attachment(gold, dtree) for gold, dtree in pairs), Attachment())
        rows = [[one.gold, one.guess, one.matched] for one in counted_matches(scores)]
        return {"f1": metric.summary(scores).f1, "uas": attached.uas, "matches": rows}

    def _parsed(
        self, spec: TrainingSpec, route: Route, parts: Parts[CTree]
    ) -> tuple[list[DTree], list[DTree]]:
        """What the d-parser makes of dev, if packed arcs are asked for, and of the held-out part."""
        dparser = spec.new_dparser()
        check_arcs(spec.packed, {spec.routes[0]: route}, dparser, spec.dparser_name)
        names = ("dev", "held_out") if dparser.gives_arcs else ("held_out",)

        def make(directory: Path) -> Mapping[str, Any]:
            with scratch() as files:
                train, dev, own = self._encoded(spec, route, files)
                trained = dparser.train(train, dev, files / "dparser", log.info)
                for name in names:
                    tokens = (dtree.tokens for dtree in getattr(own, name))
                    _save(list(counted(parsing(trained, True)(tokens), "parsing")), directory / name)
            return {}

        directory = self.store.step("parsed", self._of_dparser(spec), make).directory
        if not spec.packed:
            return [], _read(parts.held_out, directory / "held_out", packed=False)
        return _read(parts.dev, directory / "dev"), _read(parts.held_out, directory / "held_out")

    def _jackknifed(self, spec: TrainingSpec, route: Route, ctrees: Sequence[CTree]) -> list[DTree]:
        """The part that is learned from, by d-parsers that have learned from its other folds."""

        def make(directory: Path) -> Mapping[str, Any]:
            with scratch() as files:
                _, dev, own = self._encoded(spec, route, files)
                folds = spec.folds or 0
                parsed = jackknife_dtrees(spec.new_dparser(), own.learned, dev, folds, log.info)
                _save(list(parsed), directory / "learned")
            return {}

        made_of = {**self._of_dparser(spec), "folds": spec.folds}
        return _read(ctrees, self.store.step("jackknifed", made_of, make).directory / "learned")

    def _encoded(self, spec: TrainingSpec, route: Route, directory: Path) -> tuple[Path, Path, Parts[DTree]]:
        """Files for a d-parser in a directory: what it learns from, what selects its states; all d-trees."""
        own = Parts.of(list(each_located(route.encode, self._ctrees(spec), str(spec.train))))
        train, dev = directory / "train.conllu", directory / "dev.conllu"
        save_conllu(own.learned, train)
        # one that has its d-trees already, as `gold`, must be given those that it is to say
        save_conllu(own.held_out if spec.new_dparser().reads_along else own.dev, dev)
        return train, dev, own


def _save(dtrees: Sequence[DTree], path: Path) -> None:
    """D-trees, and their packed arcs if they have any, in files of this name."""
    save_conllu(dtrees, path.with_suffix(".conllu"))
    arcs = [arcs for arcs in map(packed_arcs, dtrees) if arcs is not None]
    if arcs:
        write_arrays(path.with_suffix(".npz"), to_arrays(joined(arcs)))


def _read(ctrees: Sequence[CTree], path: Path, packed: bool = True) -> list[DTree]:
    """What `_save` wrote, over the tokens of c-trees; packed: with arcs if there are any."""
    pairs = zip(ctrees, read_conllu(path.with_suffix(".conllu")), strict=True)
    dtrees = [replace(dtree, tokens=ctree.tokens) for ctree, dtree in pairs]
    arrays = path.with_suffix(".npz")
    if not packed or not arrays.exists():
        return dtrees
    arcs = parted(from_arrays(read_arrays(arrays, ARRAYS)), (len(dtree.heads) for dtree in dtrees))
    return [with_packed_arcs(dtree, own) for dtree, own in zip(dtrees, arcs, strict=True)]
