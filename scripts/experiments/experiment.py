"""One experiment: a treebank in parts, d-parsers and routes that learn from it, and what they make of it.

Encode, jackknife, train, fit, parse and convert are methods of `Experiment`. What takes long is a step of its
store, found again by all that it depends on (`experiments.store`), so a run that was stopped goes on, and
experiments share what they have in common. Tuning, the papers' tables and the benchmarks ask for what they
need and get it made or found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import count, islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, Generic, NamedTuple, TypeVar

from d2c.base.errors import located
from d2c.base.files import digest_of_file
from d2c.base.inputs import Paths, names_of
from d2c.base.model_files import as_type
from d2c.base.progress import counted, log
from d2c.base.temporary import scratch
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.rows import GOLD, Parses, with_tags_of
from d2c.models.model import ARCS, parsing
from d2c.packed.scoring import ArcScoring
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Route
from d2c.protocols.training import accuracy
from d2c.reduction.reduction import Reduction
from d2c.routes.dparsers import DPARSERS, TAGGERS, DParserRow, takes
from d2c.routes.registry import CHART_OPTIONS, RouteSettings, make_route, route_class
from d2c.routes.rows import class_of
from d2c.training.spec import Data, TrainingSpec
from d2c.training.tagging import retagged
from d2c.training.train import Trainer
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import CLEANED, Reading
from d2c.trees.heads import known_head_rules, load_head_rules
from d2c.trees.labels import unlabelled
from experiments.packed_files import read_dtrees, save_dtrees
from experiments.store import Store, StoredStep, digest, digest_of_files
from experiments.timing import timed

PARTS = ("train", "dev", "test")
# Instead of an encoding: labels that say nothing, for the first of two stages; labels that name chart rules
UNLABELLED, CUBED = "unlabelled", "cubed"

Item = TypeVar("Item")
AnyRoute = TypeVar("AnyRoute", bound=Route, covariant=True)


@dataclass(frozen=True)
class Treebank:
    """A treebank in two or three files.

    name:       as tables show it
    files:      by part; a treebank without `test` is reported on `dev`
    head_rules: its head table
    reading:    how its files are read
    sentences:  how many of train, drawn evenly over the file; None: all; seed: of the draw
    chosen:     by part, the numbers of its sentences in its files, from 1, ascending, if it has not all
    tagless:    whether all tags are replaced by one that says nothing
    punctuation: whether scores of constituents with gaps count punctuation
    dparser:    of this treebank in tables of many treebanks, if it has its own
    systems:    names of other systems, and the files with their trees of the part that is reported on
    """

    name: str
    files: Mapping[str, Paths]
    head_rules: str = "collins"
    reading: Reading = CLEANED
    sentences: int | None = None
    seed: int = 1
    chosen: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tagless: bool = False
    punctuation: bool = False
    dparser: str | None = None
    systems: Mapping[str, Path] = field(default_factory=dict)

    @property
    def reported(self) -> str:
        """The part on which the papers report final results."""
        return "test" if "test" in self.files else "dev"

    def trees(self, part: str) -> Iterator[CTree]:
        """Yield the trees of a part. Raises FormatError."""
        trees = self.own(part, self.reading(self.files[part]))
        return map(without_tags, trees) if self.tagless else trees

    def own(self, part: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items of the part's own sentences. items: one for each sentence of the part's files"""
        numbers = self.numbers(part)
        if numbers is None:
            return iter(items)
        wanted = numbers if isinstance(numbers, range) else frozenset(numbers)
        some = islice(enumerate(items, 1), max(numbers[-1:], default=0))
        return (item for number, item in some if number in wanted)

    def numbers(self, part: str) -> Sequence[int] | None:
        """Return the numbers in the files, from 1, of the part's sentences; None: all of them."""
        if part in self.chosen or part != "train" or self.sentences is None:
            return self.chosen.get(part)
        return self._drawn

    @cached_property
    def _drawn(self) -> Sequence[int]:
        """One sentence of each of as many stretches of the file as are asked for."""
        total, random = sum(1 for _ in self.reading(self.files["train"])), Random(self.seed)
        n = min(self.sentences or total, total)
        stretches = pairwise(i * total // n for i in range(n + 1)) if n else ()
        return [begin + 1 + int(random.random() * (end - begin)) for begin, end in stretches]

    def made_of(self) -> dict[str, Any]:
        """Return what its trees depend on, for `Store.step`. Raises OSError."""
        read = {one.name: getattr(self.reading, one.name) for one in fields(Reading) if one.compare}
        read.pop("faults")
        own_rules = self.head_rules not in known_head_rules()
        rules = digest_of_file(Path(self.head_rules)) if own_rules else self.head_rules
        read |= {"head_rules": rules, "sentences": self.sentences}
        read["tagless"] = self.tagless
        read |= {"seed": self.seed} if self.sentences else {}
        set_apart = {name: value for name, value in read.items() if value}
        set_apart |= {f"{part} has": digest(repr(numbers)) for part, numbers in self.chosen.items()}
        return set_apart | {part: digest_of_files(paths) for part, paths in self.files.items()}


def without_tags(ctree: CTree) -> CTree:
    """Return a tree whose tags say nothing."""
    forms = ctree.tokens.forms
    return replace(ctree, tokens=Tokens(forms, ("X",) * len(forms)))


class Fitted(NamedTuple, Generic[AnyRoute]):
    """A fitted route, and the step that it is from."""

    route: AnyRoute
    step: StoredStep


@dataclass(frozen=True, kw_only=True)
class TreesOf(Data):
    """The trees of an experiment, as its trainer reads them."""

    experiment: Experiment

    def trees(self, part: str) -> Iterable[CTree]:
        """Return the trees of a part. Raises FormatError."""
        return self.experiment.trees(part)

    def each(self, work: Callable[[CTree], Any], part: str) -> Iterator[Any]:
        """Yield what work makes of each tree of a part. Raises FormatError."""
        return self.experiment.each(work, part)


@dataclass
class Experiment:
    """One treebank, with the settings of a training and the store that its steps are in.

    spec: settings of the tagger, the d-parsers and the routes; its files, routes and d-parser are not used
    how:  settings of trained d-parsers that say how they parse
    """

    treebank: Treebank
    spec: TrainingSpec
    store: Store
    how: Mapping[str, Any] = field(default_factory=dict)
    _trees: dict[str, list[CTree]] = field(default_factory=dict)
    _gold: dict[str, list[CTree]] = field(default_factory=dict)

    def trees(self, part: str, share: float = 1.0) -> list[CTree]:
        """Return the c-trees of a part with head children, or the first share of them.

        Tags are the treebank's or predicted ones, as the settings say. Raises FormatError.
        """
        if part not in self._trees:
            rules = load_head_rules(self.treebank.head_rules)
            doing = f"reading {names_of(self.treebank.files[part])}"
            trees = self._each(rules.headed, counted(self.treebank.trees(part), doing), part)
            if self.spec.tagger.predicts:
                tags = json.loads((self._tags.directory / f"{part}.json").read_bytes())
                trees = retagged(trees, map(tuple, tags), self.treebank.head_rules)
            self._trees[part] = list(trees)
        trees_of_part = self._trees[part]
        return trees_of_part if share == 1.0 else trees_of_part[: max(1, round(share * len(trees_of_part)))]

    def gold(self, part: str) -> list[CTree]:
        """Return the gold trees of a part with the treebank's own tags, by which scorers find punctuation."""
        if part not in self._gold:
            self._gold[part] = list(self.treebank.trees(part))
        return self._gold[part]

    def tokens(self, part: str) -> list[Tokens]:
        """Return the sentences of a part as d-parsers are given them."""
        return [ctree.tokens for ctree in self.trees(part)]

    def of_tokens(self, part: str) -> dict[str, Any]:
        """Return what `tokens` depend on besides treebank and settings."""
        return {}

    def each(self, work: Callable[[CTree], Any], part: str) -> Iterator[Any]:
        """Do work on the trees of a part. Raises FormatError, which names the file and the sentence."""
        return self._each(work, self.trees(part), part)

    def _each(self, work: Callable[[CTree], Any], trees: Iterable[CTree], part: str) -> Iterator[Any]:
        """Do work on the trees of a part. Raises FormatError, which names the file and the sentence."""
        numbers, file = self.treebank.numbers(part) or count(1), names_of(self.treebank.files[part])
        for number, tree in zip(numbers, trees, strict=False):
            with located(file, number):
                made = work(tree)
            yield made

    @property
    def made_of(self) -> dict[str, Any]:
        """What every step depends on: treebank and tags."""
        tags = {"tags": self.store.key("tags", self._of_tags)} if self.spec.tagger.predicts else {}
        return self._of_treebank | tags

    @cached_property
    def _of_treebank(self) -> dict[str, Any]:
        return self.treebank.made_of()

    @property
    def tag_accuracy(self) -> Mapping[str, float]:
        """Percent of the words of each part with the right tag; empty where tags are gold."""
        return self._tags.facts if self.spec.tagger.predicts else {}

    @property
    def _tags(self) -> StoredStep:
        """Predicted tags, a file for each part: those of train by taggers that have learned from its other
        folds, those of other parts by a tagger that has learned from all of train."""

        def make(directory: Path) -> dict[str, float]:
            files, accuracies = self.treebank.files, dict[str, float]()
            gold = [[ctree.tokens for ctree in self.gold(part)] for part in files]
            with scratch() as place:
                _, tags = self.spec.tagger.train_on(gold, [*files.values()], place / "tagger", log.info)
            for part, own, predicted in zip(files, gold, tags, strict=True):
                guess = [replace(one, tags=of_one) for one, of_one in zip(own, predicted, strict=True)]
                accuracies[part] = 100 * accuracy(own, guess)
                (directory / f"{part}.json").write_text(json.dumps(predicted), encoding="utf-8")
            return accuracies

        return self.store.step("tags", self._of_tags, make)

    @cached_property
    def _of_tags(self) -> dict[str, Any]:
        """What predicted tags depend on; not on heads."""
        tagger = self.spec.tagger
        assert tagger.name is not None
        own = {"tagger": tagger.name, "folds": tagger.tag_folds}
        own |= {"preset": tagger.preset, "seed": tagger.seed}
        any_heads = replace(self.treebank, head_rules="collins").made_of()
        return any_heads | own | self.on_device | self._transformer(TAGGERS, tagger.name)

    def encode(self, encoding: str, ctree: CTree) -> DTree:
        """Return the d-tree that a d-parser learns in an encoding, as UNLABELLED, or CUBED."""
        if encoding == UNLABELLED:
            return unlabelled(self.encode("direct", ctree))
        if encoding not in self._encoders:
            rules = self.treebank.head_rules
            cubed = replace(self.spec.route.chart, head_rules=rules, arc_labels=CUBED)
            chart = encoding == CUBED
            self._encoders[encoding] = ConstrainedCKY(cubed) if chart else Reduction(encoding, rules)
        return self._encoders[encoding].encode(ctree)

    @cached_property
    def _encoders(self) -> dict[str, Route]:
        return {}

    def encoded(self, encoding: str, part: str) -> Iterator[DTree]:
        """Yield the gold d-trees of a part. Raises FormatError for what cannot be encoded."""
        return self.each(partial(self.encode, encoding), part)

    def new_dparser(self, name: str) -> DependencyParser:
        """Return a d-parser that has learned nothing. Raises ModelError."""
        own = self.spec.dparser.changed(dparser=name)
        takes_one = self._transformer(DPARSERS, own.kind)
        return (own if takes_one else own.changed(transformer=None)).make()

    def of_dparser(self, name: str) -> dict[str, Any]:
        """Return the settings that a d-parser depends on."""
        own = self.spec.dparser
        files = [*filter(None, (own.vectors, *(own.charlm or ())))]
        names = ("preset", "epochs", "seed")
        settings: dict[str, Any] = {"dparser": name, **{one: getattr(own, one) for one in names}}
        settings |= {"files": list(map(digest_of_file, files))} if files else {}
        return settings | self.on_device | self._transformer(DPARSERS, name.partition(":")[0])

    @property
    def on_device(self) -> dict[str, str]:
        """The device on which networks run, if the settings name one; weights and speed depend on it."""
        device = self.spec.dparser.device
        return {"device": device} if device else {}

    def _transformer(self, registry: Mapping[str, DParserRow], name: str) -> dict[str, str]:
        """The setting of a transformer, if there is one and the d-parser or tagger takes it."""
        transformer = self.spec.dparser.transformer
        return {"transformer": transformer} if transformer and takes(registry, name, "transformer") else {}

    def dparser(self, name: str, encoding: str) -> StoredStep:
        """Train a d-parser on train; dev selects its best state."""

        def make(directory: Path) -> dict[str, Any]:
            self.train_dparser(name, encoding, directory / "dparser")
            return {}

        made_of = {**self.made_of, **self.of_dparser(name), "encoding": encoding}
        return self.store.step("dparser", made_of, make)

    def trained_dparser(self, name: str, encoding: str) -> DependencyParser:
        """Return the d-parser of the step `dparser`, trained if it is not there."""
        kind: type[DependencyParser] = class_of("d-parser", DPARSERS, name.partition(":")[0])
        return kind.load(self.dparser(name, encoding).directory / "dparser")

    def train_dparser(self, name: str, encoding: str, directory: Path) -> DependencyParser:
        """Train a d-parser into a directory outside of the store."""
        with scratch() as place:
            files = self.trainer().write_encoded(partial(self.encode, encoding), place)
            return self.new_dparser(name).train(*files, directory, log.info)

    def trainer(self, packed: bool = False) -> Trainer:
        """Return the trainer of these trees; packed: of packed arcs."""
        files = self.treebank.files
        data = TreesOf(train=files["train"], dev=files["dev"], experiment=self)
        return Trainer(replace(self.spec, data=data, arcs=ARCS[packed]), log.info)

    def parses(self, name: str, part: str, encoding: str | None = None, packed: bool = False) -> Parses:
        """Return the d-trees of a d-parser that has learned from train; of GOLD, the treebank's own.

        packed: with packed arcs, if it gives any
        """
        encoding = encoding or self.spec.route.encoding
        if name == GOLD:
            key = digest([self.made_of, encoding, part])
            return Parses(GOLD, list(self.encoded(encoding, part)), 0.0, key, part, encoding)
        trained = self.dparser(name, encoding)

        def make(directory: Path) -> dict[str, float]:
            dparser = self.trained_dparser(name, encoding)
            if self.how:
                dparser.settings = replace(dparser.settings, **self.how)
            dtrees, seconds = timed(parsing(dparser, packed), self.tokens(part), f"parsing {part}", cpu=1)
            save_dtrees(dtrees, directory / "parses")
            return {"parsing": seconds}

        made_of = {"dparser": trained.key, "part": part, **({"packed": True} if packed else {}), **self.how}
        step = self.store.step("parses", made_of | self.of_tokens(part), make)
        dtrees = read_dtrees(self.tokens(part), step.directory / "parses")
        return Parses(name, dtrees, step.facts["parsing"], step.key, part, encoding)

    def jackknifed(self, name: str, encoding: str | None = None, packed: bool = False) -> Parses:
        """Return the d-trees of train by d-parsers that have learned from the other folds.

        packed: with packed arcs, if it gives any
        """
        encoding = encoding or self.spec.route.encoding
        folds = self.spec.jackknife or 0

        def make(directory: Path) -> dict[str, Any]:
            with scratch() as files:
                trainer, encode = self.trainer(packed), partial(self.encode, encoding)
                _, dev = trainer.write_encoded(encode, files)
                unseen = trainer.unseen(self.new_dparser(name), encode, dev)
                save_dtrees(unseen.jackknifed or [], directory / "parses")
            return {}

        made_of = {**self.made_of, **self.of_dparser(name), "encoding": encoding, "folds": folds}
        made_of |= {"packed": True} if packed else {}
        step = self.store.step("jackknifed", made_of, make)
        dtrees = read_dtrees([one.tokens for one in self.trees("train")], step.directory / "parses")
        return Parses(name, dtrees, 0.0, step.key, "train", encoding)

    def route(
        self,
        name: str,
        share: float = 1.0,
        dtrees: Parses | None = None,
        of_dev: Parses | None = None,
        **changes: Any,
    ) -> Fitted[Any]:
        """Fit a route to train.

        share:   of the training c-trees, from the first on
        dtrees:  d-trees of `jackknifed`, from which it learns instead of gold ones
        of_dev:  d-trees of dev, on which it is then scored in training
        changes: of the settings, by the names of options
        """

        def make(directory: Path) -> dict[str, Any]:
            self.fit(name, share, dtrees, of_dev, **changes).save(directory / "route")
            return {}

        settings, default = self.spec.route.changed(**changes), RouteSettings()
        options = {
            option: settings.value_of(option)
            for option in ("encoding", "constrained", "labels", "seed", *CHART_OPTIONS)
        }
        set_apart = {option: value for option, value in options.items() if value != default.value_of(option)}
        made_of = {**self.made_of, **set_apart, **changes, "route": name, "share": share}
        made_of["dtrees"] = dtrees and dtrees.key
        made_of |= {"dtrees of dev": of_dev.key} if of_dev else {}
        step = self.store.step("route", made_of, make)
        return Fitted(route_class(name).load(step.directory / "route"), step)

    def fit(
        self,
        name: str,
        share: float = 1.0,
        dtrees: Parses | None = None,
        of_dev: Parses | None = None,
        **changes: Any,
    ) -> Route:
        """Fit a route outside of the store; arguments as of `route`.

        Without d-trees, a chart that sees labels learns from gold d-trees with the labels of the encoding.
        """
        settings = self.spec.route.changed(head_rules=self.treebank.head_rules, **changes)
        trees, route = self.trees("train", share), make_route(name, settings)
        dev_dtrees: Iterable[DTree] | None = of_dev and of_dev.dtrees
        given = None if dtrees is None else dtrees.dtrees[: len(trees)]
        if settings.labels and route.abilities.conventions:
            encoding = CUBED if settings.chart.arc_labels == CUBED else settings.encoding
            given = given or list(self.encoded(encoding, "train"))[: len(trees)]
            dev_dtrees = dev_dtrees or self.encoded(encoding, "dev")
        with located(names_of(self.treebank.files["train"])):
            route.fit(trees, self.trees("dev"), dtrees=given, dev_dtrees=dev_dtrees, progress=log.info)
        return route

    def with_arcs(self, fitted: Fitted[AnyRoute], parses: Parses) -> Fitted[AnyRoute]:
        """Return a fitted route with weights of packed arcs, learned on d-trees that it has not seen."""

        def make(_: Path) -> dict[str, Any]:
            gold = with_tags_of(parses.dtrees, self.trees(parses.part))
            return {"arcs": copy(fitted.route).fit_arcs(gold, parses.dtrees).arcs_}

        step = self.store.step("arcs", {"route": fitted.step.key, "parses": parses.key}, make)
        route = copy(fitted.route)
        route.arcs_ = as_type(step.facts["arcs"], ArcScoring)
        return Fitted(route, step)
