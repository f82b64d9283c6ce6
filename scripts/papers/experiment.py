"""What the tables of one treebank are made of: its trees, d-parsers, their d-trees, routes, figures.

All that takes long is a step of the store. What a table needs it asks for here, and gets it made or found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from d2c.base.errors import FormatError, ModelError, each_located
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import DPARSERS, TAGGERS, Registered, class_of, make_dparser, takes
from d2c.dparsers.taggers import accuracy
from d2c.experiments.store import Step, Store, digest
from d2c.experiments.treebank import Treebank
from d2c.reduction.reduction import Reduction
from d2c.routes.registry import RouteSettings, make_route, route_class
from d2c.training.jackknife import jackknife_dtrees
from d2c.training.tagging import Retagged, Tagging
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu
from d2c.trees.heads import load_head_rules
from d2c.trees.repair import Repairs
from d2c.trees.route import Route
from d2c.trees.scores.attachment import Attachment, score_attachment
from papers.scores import Scored, figures
from papers.timing import timed

GOLD = "gold"
UNLABELLED = "unlabelled"  # in place of an encoding: what the first of two stages learns


@dataclass(frozen=True)
class Settings:
    """What all tables of a run share.

    dparsers: as `make_dparser` takes them; preset, epochs, device, seed: theirs
    transformer: of those d-parsers and taggers that may have one
    tags:     `gold`, or `predicted` by the tagger, in train by jackknifing with so many folds
    encoding: of the labels, where a table does not compare encodings
    penalty, gamma: λ and γ of the chart; None: chosen, see `papers.pad_tuning`
    chart:    what differs from the defaults of `RouteSettings` in every chart: labels, binarization, grammar,
              symbols, max_unaries
    systems:  names of other systems, and the files with their trees of the part that is reported on
    """

    dparsers: tuple[str, ...] = ("stanza",)
    preset: str = "small"
    epochs: float | None = None
    device: str | None = None
    transformer: str | None = None
    seed: int = 1
    tags: str = "predicted"
    tagger: str = "nltk"
    folds: int = 10
    encoding: str = "direct"
    penalty: float | None = None
    gamma: float | None = None
    chart: Mapping[str, Any] = field(default_factory=dict)
    systems: Mapping[str, Path] = field(default_factory=dict)


class Parses(NamedTuple):
    """d-trees of a part of the treebank.

    source:  the d-parser's name, or GOLD
    dtrees:  one for each sentence
    seconds: that the d-parser took
    key:     of the step
    part, encoding: of what, and what the d-parser learned
    """

    source: str
    dtrees: Sequence[DTree]
    seconds: float
    key: str
    part: str
    encoding: str


AnyRoute = TypeVar("AnyRoute", bound=Route, covariant=True)


class Fitted(NamedTuple, Generic[AnyRoute]):
    """A route, and the step that it is from."""

    route: AnyRoute
    step: Step


@dataclass
class Experiment:
    """One treebank with the settings of a run and the store that its steps are in."""

    treebank: Treebank
    settings: Settings
    store: Store
    _trees: dict[str, list[CTree]] = field(default_factory=dict)

    def trees(self, part: str, share: float = 1.0) -> list[CTree]:
        """The c-trees of a part with head children and the tags of the settings, or the first share of them.

        Raises FormatError.
        """
        if part not in self._trees:
            path = self.treebank.files[part]
            read = self._tagged if self.settings.tags == "predicted" else self.treebank
            headed = load_head_rules(self.treebank.head_rules).headed
            self._trees[part] = list(each_located(headed, counted(read(path), f"reading {path}"), str(path)))
        trees = self._trees[part]
        return trees if share == 1.0 else trees[: max(1, round(share * len(trees)))]

    def gold(self, part: str) -> list[CTree]:
        """What guesses are held against; scorers find punctuation by the treebank's own tags."""
        return list(self.treebank(self.treebank.files[part]))

    def with_tags(self, tags: str) -> Experiment:
        """The same but for the tags. With other ones its trees are its own, and go with it."""
        if tags == self.settings.tags:
            return self
        return Experiment(self.treebank, replace(self.settings, tags=tags), self.store)

    @cached_property
    def gaps(self) -> Mapping[str, float]:
        """Percent of the sentences of each part that have gaps."""

        def make(_: Path) -> dict[str, float]:
            found = {}
            for part in self.treebank.files:
                trees = self.gold(part)
                found[part] = 100 * sum(not ctree.is_continuous() for ctree in trees) / max(1, len(trees))
            return found

        return self.store.step("gaps", self.treebank.made_of(), make).facts

    @property
    def continuous(self) -> bool:
        """Whether no tree of the treebank has gaps."""
        return not any(self.gaps.values())

    @property
    def made_of(self) -> dict[str, Any]:
        """What every step depends on; so each table that has one is known to need the tags, too."""
        return self._own | ({"tags": self._tags.key} if self.settings.tags == "predicted" else {})

    @cached_property
    def _own(self) -> dict[str, Any]:
        return self.treebank.made_of()

    @property
    def _tags(self) -> Step:
        """Predicted tags of all parts, a file each; facts: their accuracy."""
        settings = self.settings
        parameters: dict[str, Any] = {
            "preset": settings.preset,
            "device": settings.device,
            "seed": settings.seed,
        }
        parameters |= self._transformer("tagger", TAGGERS, settings.tagger)
        made_of = {"tagger": settings.tagger, "folds": settings.folds, **parameters}

        def make(directory: Path) -> dict[str, float]:
            tagging = Tagging(settings.tagger, parameters, settings.folds, self.treebank.head_rules)
            files = self.treebank.files
            tagger, retagged = tagging.train(
                files["train"], files["dev"], directory / "tagger", self.treebank, log.info
            )
            assert isinstance(retagged, Retagged)
            predicted, found = dict(retagged.tags), {}
            for part, path in files.items():
                gold = [ctree.tokens for ctree in self.treebank(path)]
                if path not in predicted:
                    predicted[path] = [tokens.tags for tokens in tagger.tag(tokens.forms for tokens in gold)]
                guess = [replace(a, tags=tags) for a, tags in zip(gold, predicted[path], strict=True)]
                found[part] = 100 * accuracy(gold, guess)
                (directory / f"{part}.json").write_text(json.dumps(predicted[path]), encoding="utf-8")
            return found

        return self.store.step("tags", self._own | made_of, make)

    @cached_property
    def _tagged(self) -> Retagged:
        """Reads the treebank with predicted tags."""
        tags = {
            path: [tuple(one) for one in json.loads((self._tags.directory / f"{part}.json").read_bytes())]
            for part, path in self.treebank.files.items()
        }
        return Retagged(self.treebank, self.treebank.head_rules, tags)

    @property
    def tag_accuracy(self) -> Mapping[str, float]:
        """Percent of the words of each part with the right tag; empty where tags are gold."""
        return self._tags.facts if self.settings.tags == "predicted" else {}

    def described(self, part: str) -> str:
        """What stands under a table: of which data it is."""
        train, reported = len(self.trees("train")), len(self.trees(part))
        tags = "gold tags"
        if accuracies := self.tag_accuracy:
            tags = f"predicted tags (accuracy {accuracies[part]:.2f}; train {accuracies['train']:.2f})"
        return f"{self.treebank.name}: {train:,} sentences of train, {reported:,} of {part}; {tags}."

    def encoded(self, encoding: str, part: str) -> Iterator[DTree]:
        """Gold d-trees with labels in an encoding, or with labels that say nothing (UNLABELLED)."""
        route = Reduction("direct" if encoding == UNLABELLED else encoding, self.treebank.head_rules)
        for dtree in each_located(route.encode, self.trees(part), str(self.treebank.files[part])):
            if encoding == UNLABELLED:
                dtree = replace(dtree, labels=tuple("dep" if head else "root" for head in dtree.heads))
            yield dtree

    def dparser(self, name: str, encoding: str) -> Step:
        """A trained d-parser."""
        made_of = {**self.made_of, **self._of_dparser(name), "encoding": encoding}

        def make(directory: Path) -> dict[str, Any]:
            with scratch() as files:
                train, dev = self._conllu(encoding, files)
                self._new_dparser(name).train(train, dev, directory / "dparser", log.info)
            return {}

        return self.store.step("dparser", made_of, make)

    def _of_dparser(self, name: str) -> dict[str, Any]:
        settings = self.settings
        own = {"dparser": name, "preset": settings.preset, "epochs": settings.epochs, "seed": settings.seed}
        return own | self.on_device | self._transformer("d-parser", DPARSERS, name.partition(":")[0])

    def _transformer(self, role: str, rows: Mapping[str, Registered], name: str) -> dict[str, str]:
        """The parameter for it, where there is one, and the d-parser or tagger may have it."""
        name_of_it = self.settings.transformer
        return {"bert_model": name_of_it} if name_of_it and takes(role, rows, name, "bert_model") else {}

    @property
    def on_device(self) -> dict[str, str]:
        """Where networks run, which weights and speed depend on, if the settings say it."""
        return {"device": self.settings.device} if self.settings.device else {}

    def _new_dparser(self, name: str) -> DependencyParser:
        settings = self.settings
        given = {"preset": settings.preset, "epochs": settings.epochs, "device": settings.device}
        given |= self._transformer("d-parser", DPARSERS, name.partition(":")[0])
        return make_dparser(name, seed=settings.seed, **given)

    def _conllu(self, encoding: str, directory: Path) -> tuple[Path, Path]:
        """train.conllu and dev.conllu for a d-parser."""
        files = directory / "train.conllu", directory / "dev.conllu"
        for file in files:
            save_conllu(self.encoded(encoding, file.stem), file)
        return files

    def parses(self, name: str, part: str, encoding: str | None = None) -> Parses:
        """The d-trees of a d-parser that has learned from train; of GOLD, the treebank's own."""
        encoding = encoding or self.settings.encoding
        if name == GOLD:
            key = digest([self.made_of, encoding, part])
            return Parses(GOLD, list(self.encoded(encoding, part)), 0.0, key, part, encoding)
        trained = self.dparser(name, encoding)

        def make(directory: Path) -> dict[str, float]:
            dparser = class_of("d-parser", DPARSERS, name.partition(":")[0]).load(
                trained.directory / "dparser"
            )
            sentences = [ctree.tokens for ctree in self.trees(part)]
            dtrees, seconds = timed(dparser.parse, sentences, f"parsing {part}")
            save_conllu(dtrees, directory / "parses.conllu")
            return {"parsing": seconds}

        step = self.store.step("parses", {"dparser": trained.key, "part": part}, make)
        dtrees = self._with_own_tokens(step.directory / "parses.conllu", part)
        return Parses(name, dtrees, step.facts["parsing"], step.key, part, encoding)

    def all_parses(self, part: str, encoding: str | None = None) -> tuple[list[Parses], list[str]]:
        """The d-trees of all d-parsers but GOLD; a line on each that cannot be had, as where its package is
        missing."""
        found, missing = [], []
        for name in self.settings.dparsers:
            if name != GOLD:
                try:
                    found.append(self.parses(name, part, encoding))
                except ModelError as error:
                    missing.append(f"{name}: {error}.")
        return found, missing

    def _with_own_tokens(self, file: Path, part: str) -> list[DTree]:
        pairs = zip(self.trees(part), read_conllu(file), strict=True)
        return [replace(dtree, tokens=ctree.tokens) for ctree, dtree in pairs]

    def jackknifed(self, name: str, encoding: str | None = None) -> Parses:
        """The d-trees of train by a d-parser that has learned from the other folds."""
        encoding = encoding or self.settings.encoding
        made_of = {
            **self.made_of,
            **self._of_dparser(name),
            "encoding": encoding,
            "folds": self.settings.folds,
        }

        def make(directory: Path) -> dict[str, Any]:
            with scratch() as files:
                dev, sentences = self._conllu(encoding, files)[1], list(self.encoded(encoding, "train"))
                new = self._new_dparser(name)
                dtrees = [*jackknife_dtrees(new, sentences, dev, self.settings.folds, log.info)]
            save_conllu(dtrees, directory / "parses.conllu")
            return {}

        step = self.store.step("jackknifed", made_of, make)
        dtrees = self._with_own_tokens(step.directory / "parses.conllu", "train")
        return Parses(name, dtrees, 0.0, step.key, "train", encoding)

    def route(
        self, name: str, share: float = 1.0, dtrees: Parses | None = None, **changes: Any
    ) -> Fitted[Any]:
        """A fitted route.

        share:   of the training c-trees, the first ones
        dtrees:  what it learns from in place of gold d-trees: those of `jackknifed`; a chart that
                 sees labels learns from gold ones with those of `encoding`
        changes: of the fields of `RouteSettings`
        """
        own = {"encoding": self.settings.encoding, "seed": self.settings.seed, **changes}
        settings = RouteSettings(head_rules=self.treebank.head_rules).changed(**own)
        made_of = {**self.made_of, **own, "route": name, "share": share, "dtrees": dtrees and dtrees.key}

        def make(directory: Path) -> dict[str, Any]:
            trees = self.trees("train", share)
            given = None if dtrees is None else dtrees.dtrees[: len(trees)]
            route, of_dev = make_route(name, settings), dict[str, Any]()
            if settings.labels and route.learns_conventions:
                given = given or list(self.encoded(settings.encoding, "train"))[: len(trees)]
                of_dev = {"dev_dtrees": self.encoded(settings.encoding, "dev")}
            route.fit(trees, self.trees("dev"), dtrees=given, progress=log.info, **of_dev)
            route.save(directory / "route")
            return {}

        step = self.store.step("route", made_of, make)
        return Fitted(route_class(name).load(step.directory / "route"), step)

    def score(self, fitted: Fitted[Route], parses: Parses) -> Scored:
        """The figures of a route on d-trees."""
        route, part = fitted.route, parses.part

        def make(_: Path) -> dict[str, Any]:
            given = parses.dtrees
            if route.relabels:
                given = [replace(dtree, labels=None) for dtree in given]
            repairs, what = Repairs(), f"converting d-trees of {parses.source}"
            guess, converting = timed(route.decode_all, given, what, repairs)
            labelled, gold_dtrees = given, self.encoded(parses.encoding, part)
            if route.relabels:
                labelled, gold_dtrees = route.relabel(given), map(route.encode, self.trees(part))
            attachment = sum(map(score_attachment, gold_dtrees, labelled), Attachment())
            return asdict(
                Scored(
                    brackets=self.figures(guess, part),
                    attachment=[attachment.uas, attachment.las],
                    sentences=len(guess),
                    tokens=repairs.tokens,
                    parsing=parses.seconds,
                    converting=converting,
                    repairs=repairs.per_thousand(),
                    counts=dict(repairs.counts),
                )
            )

        step = self.store.step("score", {"route": fitted.step.key, "parses": parses.key}, make)
        return Scored(**step.facts)

    def figures(self, guess: Sequence[CTree], part: str) -> dict[str, Any]:
        """The figures of c-trees of a part, with the treebank's own tags. Raises FormatError.

        The default metric is the treebank's, whatever the trees look like.
        """
        gold = self.gold(part)
        if len(guess) != len(gold):
            message = f"has {len(gold)} sentences, the guess {len(guess)}"
            raise FormatError(str(self.treebank.files[part]), 0, 0, message)
        tagged = [replace(b, tokens=a.tokens) for a, b in zip(gold, guess, strict=True)]
        return figures(gold, tagged, not self.continuous)
