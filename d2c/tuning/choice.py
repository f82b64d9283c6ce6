"""The best settings of a route, by trials that are logged one by one, and what they gain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from d2c.base.errors import FormatError, ModelError
from d2c.trees.route import Progress
from d2c.trees.scores.significance import Difference, randomised
from d2c.tuning.climbing import climb
from d2c.tuning.log import Log, Trial
from d2c.tuning.space import Settings
from d2c.tuning.trials import Trials


class Tuned(NamedTuple):
    """The trial with the settings that were given, the best one, and how F1 differs; how many there were."""

    given: Trial
    best: Trial
    difference: Difference
    trials: int


def choose(
    trials: Trials,
    values: Mapping[str, Sequence[Any]],
    log: Log,
    most: int,
    progress: Progress,
    described: Callable[[Settings], str],
) -> Tuned:
    """Tries settings, at most so many, and logs each trial that is not in the log yet.

    values:    of each setting that is tried, see `climb`
    described: settings that differ from those given, as `progress` is told them

    Settings that do not fit the treebank are logged with the reason. Raises FormatError, ModelError where
    those given do not.
    """
    given, done = trials.given, list[Trial]()

    def f1(settings: Settings) -> float:
        trial = log.trials.get(trials.key(settings)) or _made(trials, settings, final=not done)
        if trial.trial not in log.trials:
            log.add(trial)
        done.append(trial)
        changes = {name: value for name, value in settings.items() if value != given[name]}
        progress(f"trial {len(done)}, {described(changes) or 'as given'}: {_figures(trial)}")
        return -1.0 if trial.f1 is None else trial.f1

    best = log.trials[trials.key(climb(given, values, f1, most))]
    difference = randomised(trials.matches(given), trials.matches(best.settings))
    return Tuned(done[0], best, difference, len(done))


def _made(trials: Trials, settings: Settings, final: bool) -> Trial:
    """final: errors are raised, not logged."""
    try:
        return trials.run(settings)
    except (FormatError, ModelError) as error:
        if final:
            raise
        return Trial(trials.key(settings), settings, None, None, 0.0, str(error).splitlines()[0])


def _figures(trial: Trial) -> str:
    if trial.f1 is None:
        return f"does not fit: {trial.error}"
    return f"F1 {trial.f1:.2f}, UAS {trial.uas:.2f}, {trial.seconds:.0f} s"


def lines(tuned: Tuned) -> list[str]:
    """What is said in the end."""
    given, best, difference = tuned.given, tuned.best, tuned.difference
    lines = [f"as given: F1 {given.f1:.2f}, UAS {given.uas:.2f}"]
    if best == given:
        return [*lines, f"nothing better in {tuned.trials} trials"]
    p = f"p = {difference.p:.4f}, paired approximate randomisation, 10,000 trials"
    chosen = f"the best of {tuned.trials}, so p is too small"
    points = f"{difference.points:+.2f} F1 ({p}; {chosen})"
    return [*lines, f"best: F1 {best.f1:.2f}, UAS {best.uas:.2f}, {points}"]
