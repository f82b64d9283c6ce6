"""A treebank in an experiment: d-parsers by the names of the benchmark, on encoders and with word vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Self

import torch

from benchmarks.shared import say
from d2c.experiments.rows import Parses
from d2c.protocols.settings import SharedSettings
from d2c.routes.dparsers import make_tagger
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.scores.brackets import Metric, metric_for
from experiments.experiment import Experiment, Fitted
from experiments.store import Store
from models.pretrained import ENCODERS, VECTORS, encoder, vectors_file
from papers.stanza_constituency import StanzaConstituency
from treebanks.files import known

HELD_OUT = 500  # sentences
COPIES = 2
JACKKNIFED = ", jackknifed"
AGREE = "labeler", "cky"  # their agreement is a row, and they take packed arcs


def mixed(gold: Iterable[CTree], voted: Iterable[CTree], seed: int) -> list[CTree]:
    """Return the trees that teach: voted trees, and each gold tree COPIES times, in random order."""
    trees = [*gold] * COPIES + [*voted]
    Random(seed).shuffle(trees)
    return trees


class Tagged(Experiment):
    """An experiment whose d-parsers have learned from gold tags and are given tags of spaCy's tagger."""

    def tokens(self, part: str) -> list[Tokens]:
        """Return the sentences of a part with predicted tags."""
        return tagged(self, part)

    def of_tokens(self, part: str) -> dict[str, Any]:
        """Return what predicted tags depend on."""
        return {"tags": "predicted by spaCy's tagger"}


def tagged(experiment: Experiment, part: str) -> list[Tokens]:
    """Return the sentences of a part with the tags of spaCy's tagger, which has learned from train."""
    sentences = [ctree.tokens for ctree in experiment.trees(part)]

    def make(directory: Path) -> dict[str, Any]:
        encode = partial(experiment.encode, "direct")
        train, dev = experiment.trainer().write_encoded(encode, directory)
        tagger = make_tagger("spacy", SharedSettings(preset="small"))
        tagger.train(train, dev, directory / "tagger", say)
        return {"tags": [tokens.tags for tokens in tagger.tag(tokens.forms for tokens in sentences)]}

    step = experiment.store.step("tagger", {**experiment.treebank.made_of(), "part": part}, make)
    pairs = zip(sentences, step.facts["tags"], strict=True)
    return [replace(tokens, tags=tuple(tags)) for tokens, tags in pairs]


def with_passes(name: str) -> tuple[str, float | None]:
    """Return a parser's name and its number of passes, which may stand behind a last colon."""
    kind, _, passes = name.rpartition(":")
    try:
        return (kind, float(passes)) if kind else (name, None)
    except ValueError:
        return name, None


class Parsed(NamedTuple):
    """The d-trees of the held-out part and of dev by a d-parser, with packed arcs if it gives any.

    seconds: that dev took; minutes: of training the d-parser
    """

    name: str
    held_out: Sequence[DTree]
    dev: Sequence[DTree]
    seconds: float
    minutes: float | None = None
    key: str = ""


class Data:
    """The experiments on a treebank: of routes (`learned`), of c-parsers (`parsers`), of each d-parser."""

    def __init__(
        self,
        models: Path,
        treebank: str = "craft",
        *,
        sentences: int,
        tags: str,
        folds: int | None,
        every: int,
        seed: int,
        **chart: Any,
    ) -> None:
        self.models, self.tags, self.folds, self.chart = models, tags, folds, chart
        whole = known(treebank)
        train, dev = (whole.files[part] for part in ("train", "dev"))
        size = sentences or sum(1 for _ in whole.trees("train")) - HELD_OUT
        self.treebank = replace(
            whole,
            files={"train": train, "dev": train, "test": dev},
            chosen={
                "train": range(1, size + 1),
                "dev": range(size + 1, size + HELD_OUT + 1),
                "test": range(1, sys.maxsize, every),
            },
        )
        spec = TrainingSpec.of(train, dev, preset="small", seed=seed, jackknife=folds)
        self.learned = self.parsers = Experiment(self.treebank, spec, Store(models / "steps"))

    def taught(self, train: Path) -> Self:
        """Return the same data with parsers, but not routes, that learn from the trees of a file."""
        other, chosen = copy(self), {part: self.treebank.chosen[part] for part in ("dev", "test")}
        files = {**self.treebank.files, "train": train}
        other.treebank = replace(self.treebank, files=files, chosen=chosen)
        other.parsers = Experiment(other.treebank, self.learned.spec, self.learned.store)
        return other

    def gold(self, part: str) -> list[CTree]:
        """Return the gold trees of a part."""
        return self.learned.trees(part)

    @cached_property
    def metric(self) -> Metric:
        """EVALB's; disco-dop's where some tree of the treebank has gaps."""
        return metric_for(chain.from_iterable(map(self.gold, self.treebank.files)))

    @cached_property
    def given(self) -> dict[str, list[Tokens]]:
        """The sentences of the held-out part, and of dev, with the tags that routes and c-parsers see."""
        read = (lambda part: tagged(self.learned, part)) if self.tags != "gold" else self.learned.tokens
        return {part: read(part) for part in ("dev", "test")}

    def dparser(self, name: str) -> tuple[Experiment, str]:
        """Return the experiment in which a d-parser is trained, and its name there."""
        name, passes = with_passes(name)
        own, _, vectors = name.partition(":")[0].partition("+")
        spec = self.learned.spec
        if own in ENCODERS:
            place = str(encoder(own, self.models))
            spec = spec.changed(transformer=place, checkpoints=self.models / "checkpoints")
        preset = "default" if own == "default" else spec.dparser.preset
        spec = spec.changed(epochs=passes, preset=preset)
        if vectors:
            words = {form for part in self.treebank.files for c in self.gold(part) for form in c.tokens.forms}
            words |= set(map(str.lower, words))
            file = vectors_file(VECTORS[vectors](sorted(words)), self.models / f"{vectors}.txt")
            spec = spec.changed(vectors=file)
        treebank = replace(self.treebank, tagless=self.tags == "none")
        kind_of_experiment = Tagged if self.tags == "predicted" else Experiment
        experiment = kind_of_experiment(treebank, spec, self.learned.store)
        return experiment, "stanza" if own in (*ENCODERS, "default") else name.replace(f"+{vectors}", "")

    def parsed(self, name: str) -> Parsed:
        """Return the d-trees of a d-parser, on one core."""
        experiment, own = self.dparser(name)
        minutes = experiment.dparser(own, "direct").seconds / 60
        torch.set_num_threads(1)
        held_out, dev = (experiment.parses(own, part, packed=True) for part in ("dev", "test"))

        def seen(part: str, parses: Parses) -> list[DTree]:
            pairs = zip(parses.dtrees, self.given[part], strict=True)
            return [replace(dtree, tokens=tokens) for dtree, tokens in pairs]

        dtrees = seen("dev", held_out), seen("test", dev)
        return Parsed(name, dtrees[0], dtrees[1], dev.seconds, minutes, held_out.key)

    def route(self, name: str, dtrees: Parses | None = None, **more: Any) -> Fitted[Any]:
        """Return a route fitted to train."""
        chart = self.chart if name == "cky" else {}
        return self.learned.route(name, dtrees=dtrees, **chart, **more)

    def routes(self, dparser: str) -> dict[str, dict[str, Fitted[Any]]]:
        """Return the routes that convert a d-parser's d-trees: under "" those that have learned from gold
        d-trees, under JACKKNIFED those from jackknifed ones."""
        gold = {name: self.route(name) for name in ("reduction", *AGREE)}
        if not self.folds:
            return {"": gold}
        experiment, own = self.dparser(dparser)
        dtrees = experiment.jackknifed(own)
        jackknifed = {"labeler": self.route("labeler", dtrees), "cky": self.route("cky", dtrees, labels=True)}
        return {"": gold, JACKKNIFED: jackknifed}

    def over_arcs(self, name: str, dparser: str) -> Fitted[Any]:
        """Return a route that has learned over the jackknifed packed arcs of a d-parser."""
        experiment, own = self.dparser(dparser)
        of_dev = experiment.parses(own, "dev", packed=True)
        return self.route(name, experiment.jackknifed(own, packed=True), of_dev=of_dev)

    def cparser(self, name: str) -> StanzaConstituency:
        """Return a c-parser fitted to train."""
        kind, passes = with_passes(name)
        on = str(encoder(kind, self.models)) if kind in ENCODERS else None

        def make(directory: Path) -> dict[str, Any]:
            parser = StanzaConstituency("small", passes, transformer=on, seed=self.learned.spec.route.seed)
            (directory / "cparser").mkdir()
            parser.fit(self.parsers.trees("train"), self.gold("dev")).save(directory / "cparser")
            return {}

        made_of = {**self.parsers.made_of, "cparser": name, "seed": self.learned.spec.route.seed}
        return StanzaConstituency.load(
            self.learned.store.step("cparser", made_of, make).directory / "cparser"
        )
