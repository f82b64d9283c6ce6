"""The best settings of a route, by trials that are logged one by one, and what they gain.

The search is coordinate-wise: one setting after the other, the others as they are in the best trial so far.
A setting is a row of TUNABLE; it must be a field of `TrainingSpec` and an option of `d2c train`.

A trial is a route with some settings, scored on sentences that neither it nor its d-parser has learned from.
They learn from eight tenths of the treebank; the ninth selects states, as `--dev` of `d2c train` does, and
sets the weights of packed arcs; F1 and UAS are those of the last. Tenths are of consecutive sentences, so
that documents stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import FormatError, ModelError, located
from d2c.base.inputs import names_of
from d2c.base.progress import counted
from d2c.base.store import Journal
from d2c.base.temporary import scratch
from d2c.experiments.rows import GOLD, Parses
from d2c.experiments.significance import Difference, approximate_randomisation, counted_matches
from d2c.models.model import ARCS, parsing
from d2c.packed.arcs import with_packed_arcs
from d2c.protocols.route import Progress, Route
from d2c.routes.compatibility import check_arcs, check_own
from d2c.routes.registry import ROUTES, RouteSettings
from d2c.training.jackknife import tenths
from d2c.training.spec import TrainingSpec
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import Reading
from d2c.trees.refinement import REFINEMENTS
from d2c.trees.scores.attachment import attachment_scores
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Matches
from experiments.experiment import Experiment, Treebank
from experiments.packed_files import read_dtrees, save_dtrees
from experiments.store import Store, StoredStep

# As in PAD's section 6, but here λ is for each sentence: `d2c.learning.adagrad`
PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
GAMMAS = (0.75, 0.85, 0.95, 0.99)  # γ of pruning by its method 2
RouteValues = Mapping[str, Any]  # of settings, by the names of TUNABLE


class Tunable(NamedTuple):
    """A setting that can be tried.

    values:  those to try; none where the user has to name them, as they are not known or take long
    matters: whether it has any effect, given all settings
    """

    values: tuple[Any, ...] = ()
    matters: Callable[[RouteValues], bool] = lambda settings: True


_OF_ALL = ("head_rules", "epochs")
TUNABLE = {  # those that change F1 most come first, as few trials get no further
    "head_rules": Tunable(),
    "epochs": Tunable(),
    "jackknife": Tunable(),
    "encoding": Tunable(("direct", "delta")),
    "arcs": Tunable(ARCS),
    "penalty": Tunable(PENALTIES),
    "chart_epochs": Tunable((3, 5, 8)),
    "table_bits": Tunable((20, 22, 24)),
    "labels": Tunable((True,), lambda settings: settings["jackknife"] is not None),
    "grammar": Tunable(tuple(GRAMMARS)),
    "symbols": Tunable(tuple(REFINEMENTS)),
    "binarization": Tunable(tuple(BINARIZATIONS)),
    "max_unaries": Tunable((2, 3, 4)),
    "pruning": Tunable(("none", "1", "2", "1+2")),
    "gamma": Tunable(GAMMAS, lambda settings: "2" in settings["pruning"]),
}


def of_route(route: str) -> dict[str, Tunable]:
    """Return the rows of TUNABLE that have an effect on a route."""
    meant = {*_OF_ALL, *ROUTES[route].options}
    return {name: row for name, row in TUNABLE.items() if name in meant}


@dataclass(frozen=True)
class Trial:
    """The outcome of some settings.

    trial:   digest of all that it depends on: treebank, settings, tried or not, version of d2c
    f1, uas: in percent, of c-trees and d-trees; None where the settings do not fit the treebank
    seconds: of training the route, converting and scoring; without the d-parser
    error:   why they do not fit
    """

    trial: str
    settings: Mapping[str, Any]
    f1: float | None
    uas: float | None
    seconds: float
    error: str | None = None


class TrialLog:
    """The trials that are done, by their digests; each is a line of a journal.

    Raises FormatError for a file of other lines.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal, self.trials = journal, dict[str, Trial]()
        try:
            self.trials |= {trial.trial: trial for trial in journal.rows(Trial, first=0)}
        except FormatError as error:
            message = "is no line of a log of tune.py; name another -o"
            raise FormatError(error.file, error.line, 0, message) from None

    def add(self, trial: Trial) -> None:
        """Write the line of a trial. Raises FormatError where it cannot."""
        self._journal.append(asdict(trial))
        self.trials[trial.trial] = trial


@contextmanager
def opened(path: Path) -> Iterator[TrialLog]:
    """Open a log to go on with; a new log is removed again if no trial is made. Raises what `Journal` raises,
    and FormatError for a file that is no such log."""
    with Journal(path, begins=b'{"trial"') as journal:
        log = TrialLog(journal)
        try:
            yield log
        finally:
            if not log.trials:
                journal.remove()


class TrialExperiment(Experiment):
    """The experiment of one trial. Of d-parsers it keeps only the d-trees, of routes nothing."""

    @cached_property
    def untrained(self) -> Route:
        """The route, which says what the d-parser learns."""
        (route,) = self.spec.new_routes().values()
        return route

    def encode(self, encoding: str, ctree: CTree) -> DTree:
        """Return the d-tree that the route encodes, whatever the name of the encoding."""
        return self.untrained.encode(ctree)

    def parses(self, name: str, part: str, encoding: str | None = None, packed: bool = False) -> Parses:
        """Return the d-trees of dev or test; of dev only from d-parsers that give packed arcs."""
        if name == GOLD:
            return super().parses(name, part, encoding)
        labels = self.labels
        parts = ("dev", "test") if self.new_dparser(name).abilities.packed_arcs else ("test",)

        def make(directory: Path) -> Mapping[str, Any]:
            with scratch() as files:
                dparser = self.train_dparser(name, labels, files / "dparser")
                for own in parts:
                    dtrees = list(counted(parsing(dparser, True)(self.tokens(own)), "parsing"))
                    save_dtrees(dtrees, directory / own)
            return {}

        made_of = {**self.made_of, **self.of_dparser(name), "labels of arcs": labels}
        step = self.store.step("parsed", made_of, make)
        dtrees = read_dtrees(self.tokens(part), step.directory / part)
        if not packed:
            dtrees = [with_packed_arcs(dtree, None) for dtree in dtrees]
        return Parses(name, dtrees, step.seconds, step.key, part, labels)

    @property
    def labels(self) -> str:
        """What the d-parser's labels depend on besides the treebank."""
        encodes = "encoding" in ROUTES[self.spec.routes[0]].options
        return self.spec.route.encoding if encodes else self.spec.route.chart.arc_labels

    def scored(self) -> dict[str, Any]:
        """Return F1, UAS, and the brackets of each sentence of test."""
        spec = self.spec
        name, packed = spec.dparser.name, spec.packed
        check_arcs(packed, {spec.routes[0]: self.untrained}, self.new_dparser(name), spec.dparser.kind)
        parses = self.parses(name, "test", packed=packed)
        over_arcs = spec.over_arcs(self.untrained)
        dtrees = self.jackknifed(name, self.labels, over_arcs) if spec.jackknife else None
        of_dev = self.parses(name, "dev", packed=True) if over_arcs else None
        route = self.fit(spec.routes[0], dtrees=dtrees, of_dev=of_dev)
        if packed and route.abilities.packed_arcs and not over_arcs:
            with located(names_of(spec.data.train)):
                route.fit_arcs(self.trees("dev"), self.parses(name, "dev", packed=True).dtrees)
        guess = list(counted(route.decode_all(parses.dtrees), "converting d-trees"))
        gold = self.trees("test")
        gaps = any(not ctree.is_continuous() for part in self.treebank.files for ctree in self.trees(part))
        metric = metric_for(gold, gaps)
        scores = metric.score(gold, guess)
        attached = attachment_scores(map(route.encode, gold), parses.dtrees)
        rows = [[one.gold, one.guess, one.matched] for one in counted_matches(scores)]
        return {"f1": metric.summary(scores).f1, "uas": attached.uas, "matches": rows}


@dataclass
class Trials:
    """Trials of one route on one treebank, train of `spec.data`.

    spec:      what all trials share, and the settings that are not tried; its reading is a `Reading`
    sentences: of the treebank, drawn evenly; None: all
    store:     keeps d-trees and scores
    """

    spec: TrainingSpec
    sentences: int | None
    store: Store
    _trees: dict[str, dict[str, list[CTree]]] = field(default_factory=dict)  # of parts, by head rules

    def __post_init__(self) -> None:
        check_own(self.spec.dparser.make(), self.spec.dparser.kind, "tune trains its own")

    def key(self, settings: Mapping[str, Any]) -> str:
        """Return the digest by which the log knows a trial."""
        return self.store.key("trial", self._made_of(settings))

    def run(self, settings: Mapping[str, Any]) -> Trial:
        """Make a trial, or find it in the store. Raises FormatError, ModelError where settings do not fit."""
        step = self._step(settings)
        return Trial(step.key, settings, step.facts["f1"], step.facts["uas"], step.seconds)

    def matches(self, settings: Mapping[str, Any]) -> list[Matches]:
        """Return the matches of each held-out sentence; all 0 where the metric leaves a sentence out."""
        return [Matches(*counts) for counts in self._step(settings).facts["matches"]]

    def _step(self, settings: Mapping[str, Any]) -> StoredStep:
        experiment = self._experiment(settings)
        return self.store.step("trial", self._made_of(settings), lambda _: experiment.scored())

    def _made_of(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        experiment, route = self._experiment(settings), self.spec.routes[0]
        own = {name: value for name, value in settings.items() if name != "head_rules"}
        meant, default = {*ROUTES[route].options} - {*TUNABLE, "checkpoints"}, RouteSettings()
        fixed = {name: self.spec.value_of(name) for name in meant}
        own |= {name: value for name, value in fixed.items() if value != default.value_of(name)}
        made_of = experiment.made_of | experiment.of_dparser(self.spec.dparser.name) | own
        return made_of | {"labels of arcs": experiment.labels, "route": route}

    def _experiment(self, settings: Mapping[str, Any]) -> TrialExperiment:
        spec = self.spec.changed(**settings)
        assert isinstance(spec.data.reading, Reading)
        rules, parts = spec.route.head_rules, self._tenths
        files, reading = dict.fromkeys(parts, spec.data.train), spec.data.reading
        reading = replace(reading, marked=rules == "marked")
        treebank = Treebank(names_of(spec.data.train), files, rules, reading, chosen=parts)
        return TrialExperiment(treebank, spec, self.store, _trees=self._trees.setdefault(rules, {}))

    @cached_property
    def _tenths(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the sentences that are drawn, by part: eight tenths are train, the ninth is dev, the
        last test. Raises FormatError for fewer than ten."""
        data = self.spec.data
        assert isinstance(data.reading, Reading)
        whole = Treebank("", {"train": data.train}, reading=data.reading, sentences=self.sentences)
        numbers = whole.numbers("train") or range(1, 1 + sum(1 for _ in whole.trees("train")))
        with located(names_of(data.train)):
            *_, dev, test = tenths(len(numbers))
        parts = {"train": range(dev.start), "dev": dev, "test": test}
        return {part: numbers[tenth.start : tenth.stop] for part, tenth in parts.items()}


def climb(
    start: RouteValues,
    values: Mapping[str, Sequence[Any]],
    f1: Callable[[RouteValues], float],
    most: int,
) -> RouteValues:
    """Return the best settings among those that it tries, beginning with `start`; the first of equally good
    ones.

    values: those of each setting, tried in this order, again and again until a round finds nothing better
    f1:     returns the F1 of a trial; most: the greatest number of trials

    Which settings are tried depends only on the arguments and on what f1 returns.
    """
    tried = {_key(start): f1(start)}
    best, before = start, None
    while best != before:
        before = best
        for name, choices in values.items():
            for value in choices:
                candidate = {**best, name: value}
                if _key(candidate) in tried or not TUNABLE[name].matters(candidate):
                    continue
                if len(tried) >= most:
                    return best
                tried[_key(candidate)] = f1(candidate)
                if tried[_key(candidate)] > tried[_key(best)]:
                    best = candidate
    return best


def _key(settings: RouteValues) -> tuple[Any, ...]:
    return tuple(settings.values())


class Tuned(NamedTuple):
    """The trial of the given settings, the best trial, and how their F1 differs; the number of trials."""

    given: Trial
    best: Trial
    difference: Difference
    trials: int


def choose(
    trials: Trials,
    values: Mapping[str, Sequence[Any]],
    log: TrialLog,
    most: int,
    progress: Progress,
    described: Callable[[RouteValues], str],
) -> Tuned:
    """Try settings, at most so many, and log each trial that is not in the log yet.

    values:    those of each setting that is tried, see `climb`
    described: returns the text in which `progress` is told the settings that differ from those given

    Settings that do not fit the treebank are logged with the reason. Raises FormatError, ModelError where
    the given ones do not.
    """
    given = {name: trials.spec.value_of(name) for name in of_route(trials.spec.routes[0])}
    done = list[Trial]()

    def f1(settings: RouteValues) -> float:
        trial = log.trials.get(trials.key(settings)) or _run(trials, settings, strict=not done)
        if trial.trial not in log.trials:
            log.add(trial)
        done.append(trial)
        changes = {name: value for name, value in settings.items() if value != given[name]}
        progress(f"trial {len(done)}, {described(changes) or 'as given'}: {_figures(trial)}")
        return -1.0 if trial.f1 is None else trial.f1

    best = log.trials[trials.key(climb(given, values, f1, most))]
    difference = approximate_randomisation(trials.matches(given), trials.matches(best.settings))
    return Tuned(done[0], best, difference, len(done))


def _run(trials: Trials, settings: RouteValues, strict: bool) -> Trial:
    """Make a trial; strict: errors are raised, not logged."""
    try:
        return trials.run(settings)
    except (FormatError, ModelError) as error:
        if strict:
            raise
        return Trial(trials.key(settings), settings, None, None, 0.0, str(error).splitlines()[0])


def _figures(trial: Trial) -> str:
    if trial.f1 is None:
        return f"does not fit: {trial.error}"
    return f"F1 {trial.f1:.2f}, UAS {trial.uas:.2f}, {trial.seconds:.0f} s"


def lines(tuned: Tuned) -> list[str]:
    """Return the lines that are printed in the end."""
    given, best, difference = tuned.given, tuned.best, tuned.difference
    lines = [f"as given: F1 {given.f1:.2f}, UAS {given.uas:.2f}"]
    if best == given:
        return [*lines, f"nothing better in {tuned.trials} trials"]
    p = f"p = {difference.p:.4f}, paired approximate randomisation, 10,000 trials"
    chosen = f"the best of {tuned.trials}, so p is too small"
    points = f"{difference.points:+.2f} F1 ({p}; {chosen})"
    return [*lines, f"best: F1 {best.f1:.2f}, UAS {best.uas:.2f}, {points}"]
