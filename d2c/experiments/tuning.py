"""The best settings of a route, by trials that are logged one by one, and what they gain.

The search is coordinate-wise: one setting after the other, the others as they are in the best trial so far.
Another setting is a row of TUNABLE, if it is a field of `TrainingSpec` and an option of `d2c train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from d2c.base.errors import FormatError, ModelError
from d2c.experiments.trials import Trial, TrialLog, Trials
from d2c.models.model import ARCS
from d2c.routes.registry import ROUTES
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS
from d2c.trees.refinement import REFINEMENTS
from d2c.trees.route import Progress
from d2c.trees.scores.significance import Difference, randomised

PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # λ of PAD's section 6
GAMMAS = (0.75, 0.85, 0.95, 0.99)  # γ of pruning by its method 2
RouteValues = Mapping[str, Any]  # of settings, by the names of TUNABLE


class Tunable(NamedTuple):
    """A setting that can be tried.

    values:  that are tried; none where the user has to name them, as they are not known or take long
    matters: whether it means something beside others
    """

    values: tuple[Any, ...] = ()
    matters: Callable[[RouteValues], bool] = lambda settings: True


_OF_ALL = ("head_rules", "epochs")
TUNABLE = {  # what changes most comes first; it is what a few trials see
    "head_rules": Tunable(),
    "epochs": Tunable(),
    "folds": Tunable(),
    "encoding": Tunable(("direct", "delta")),
    "arcs": Tunable(ARCS),
    "penalty": Tunable(PENALTIES),
    "chart_epochs": Tunable((3, 5, 8)),
    "table_bits": Tunable((20, 22, 24)),
    "labels": Tunable((True,), lambda settings: settings["folds"] is not None),
    "grammar": Tunable(tuple(GRAMMARS)),
    "symbols": Tunable(tuple(REFINEMENTS)),
    "binarization": Tunable(tuple(BINARIZATIONS)),
    "max_unaries": Tunable((2, 3, 4)),
    "pruning": Tunable(("none", "1", "2", "1+2")),
    "gamma": Tunable(GAMMAS, lambda settings: "2" in settings["pruning"]),
}


def of_route(route: str) -> dict[str, Tunable]:
    """Return those of TUNABLE that mean something for a route."""
    meant = {*_OF_ALL, *ROUTES[route].settings}
    return {name: row for name, row in TUNABLE.items() if name in meant}


def climb(
    start: RouteValues,
    values: Mapping[str, Sequence[Any]],
    f1: Callable[[RouteValues], float],
    most: int,
) -> RouteValues:
    """Return the best settings among those that it tries, beginning with `start`; the first of equally good
    ones.

    values: of each setting that is tried, in this order, again and again until a round finds nothing better
    f1:     makes a trial; most: so many of them at the most

    What is tried depends on the arguments and on what f1 returns, and on nothing else.
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
    """The trial with the settings that were given, the best one, and how F1 differs; how many there were."""

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

    values:    of each setting that is tried, see `climb`
    described: settings that differ from those given, as `progress` is told them

    Settings that do not fit the treebank are logged with the reason. Raises FormatError, ModelError where
    those given do not.
    """
    given = {name: trials.spec.option(name) for name in of_route(trials.spec.routes[0])}
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
    difference = randomised(trials.matches(given), trials.matches(best.settings))
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
    """Return what is said in the end."""
    given, best, difference = tuned.given, tuned.best, tuned.difference
    lines = [f"as given: F1 {given.f1:.2f}, UAS {given.uas:.2f}"]
    if best == given:
        return [*lines, f"nothing better in {tuned.trials} trials"]
    p = f"p = {difference.p:.4f}, paired approximate randomisation, 10,000 trials"
    chosen = f"the best of {tuned.trials}, so p is too small"
    points = f"{difference.points:+.2f} F1 ({p}; {chosen})"
    return [*lines, f"best: F1 {best.f1:.2f}, UAS {best.uas:.2f}, {points}"]
