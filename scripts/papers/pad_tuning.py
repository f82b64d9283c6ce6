"""λ and γ of constrained CKY, chosen by F1 on gold d-trees of sentences that it has not learned from.

Section 6 of "Transforming Dependencies into Phrase Structures" (PAD): "We use the development set to tune the
regularization parameter, λ, and the pruning threshold, γ." That is so where final results are those of a test
part. Where they are those of dev, the last tenth of train takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.progress import log
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.rows import timed, with_tags_of
from d2c.experiments.store import StoredStep
from d2c.experiments.tuning import GAMMAS, PENALTIES
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from papers.experiment import PaperExperiment
from papers.scores import ALL, figures
from papers.table import Cell, Table

BEARABLE = 0.1  # of F1, that a lower γ may lose


class Split(NamedTuple):
    """Trees to learn from, others to choose by, and these with the treebank's own tags."""

    learned: list[CTree]
    held_out: list[CTree]
    gold: list[CTree]


def chosen(experiment: PaperExperiment) -> dict[str, float]:
    """penalty and gamma: those of the settings, or, where these say none, the best."""
    penalty = _penalty(experiment)
    return {"penalty": penalty, "gamma": _gamma(experiment, penalty)}


def tuning(experiment: PaperExperiment) -> Table:
    """F1 and speed with each λ, and, with the chosen λ, with each γ of method 2."""
    best = chosen(experiment)
    penalty, gamma = best["penalty"], best["gamma"]
    rows = [
        _row("λ", value, value == penalty, _with_penalty(experiment, value).facts)
        for value in sorted({*PENALTIES, penalty})
    ]
    rows += [
        _row("γ", value, value == gamma, _with_gamma(experiment, penalty, value).facts)
        for value in sorted({*GAMMAS, gamma})
    ]
    notes = (
        f"F1 on gold d-trees of {_described(experiment)}.",
        f"γ: with method 2 alone; of those at most {BEARABLE} below the best F1 the lowest.",
        experiment.described("dev"),
    )
    return Table(("setting", "value", "chosen", "F1", "sentences/s", "non-zero weights"), rows, notes)


def _row(name: str, value: float, is_chosen: bool, facts: Mapping[str, Any]) -> list[Cell]:
    mark = "yes" if is_chosen else ""
    return [name, f"{value:g}", mark, facts["f1"], facts["speed"], facts.get("weights")]


def _described(experiment: PaperExperiment) -> str:
    return "dev" if experiment.treebank.reported == "test" else "the last tenth of train"


def split(experiment: PaperExperiment) -> Split:
    """What is learned from, and what the choice is made on."""
    train = experiment.trees("train")
    if experiment.treebank.reported == "test":
        return Split(train, experiment.trees("dev"), experiment.gold("dev"))
    cut = len(train) - max(1, len(train) // 10)
    return Split(train[:cut] or train, train[cut:], experiment.gold("train")[cut:])


def _penalty(experiment: PaperExperiment) -> float:
    if experiment.settings.penalty is not None:
        return experiment.settings.penalty
    return max(PENALTIES, key=lambda value: _with_penalty(experiment, value).facts["f1"])


def _gamma(experiment: PaperExperiment, penalty: float) -> float:
    if experiment.settings.gamma is not None:
        return experiment.settings.gamma
    f1 = {value: _with_gamma(experiment, penalty, value).facts["f1"] for value in GAMMAS}
    return next(value for value in GAMMAS if f1[value] >= max(f1.values()) - BEARABLE)


def _with_penalty(experiment: PaperExperiment, penalty: float) -> StoredStep:
    own = {**experiment.settings.chart, "seed": experiment.settings.seed, "penalty": penalty}
    made_of = {**experiment.made_of, **own}
    if own.get("labels"):
        made_of["encoding"] = experiment.settings.encoding

    def make(directory: Path) -> dict[str, Any]:
        parts, rules = split(experiment), experiment.treebank.head_rules
        route = ConstrainedCKY(head_rules=rules, **own)
        learned, held_out = (_dtrees(experiment, trees) for trees in (parts.learned, parts.held_out))
        route.fit(parts.learned, parts.held_out, dtrees=learned, dev_dtrees=held_out, progress=log.info)
        route.save(directory / "route")
        return {"weights": int((route.weights_ != 0).sum()), **_measured(experiment, route, parts)}

    return experiment.store.step("penalty", made_of, make)


def _with_gamma(experiment: PaperExperiment, penalty: float, gamma: float) -> StoredStep:
    trained = _with_penalty(experiment, penalty)

    def make(_: Path) -> dict[str, Any]:
        parts, route = split(experiment), ConstrainedCKY.load(trained.directory / "route")
        settings = replace(route.settings, gamma=gamma, epochs=1)  # of which the weights are not used
        route.allowed_ = ConstrainedCKY(settings).fit(parts.learned).allowed_
        route.settings = replace(route.settings, pruning="2")
        return _measured(experiment, route, parts)

    return experiment.store.step("gamma", {"route": trained.key, "gamma": gamma}, make)


def _dtrees(experiment: PaperExperiment, trees: Sequence[CTree]) -> list[DTree] | None:
    """What a chart with labels sees, those of the d-parsers; None where it sees none: its own d-trees."""
    if not experiment.settings.chart.get("labels"):
        return None
    return list(map(Reduction(experiment.settings.encoding, experiment.treebank.head_rules).encode, trees))


def _measured(experiment: PaperExperiment, route: ConstrainedCKY, parts: Split) -> dict[str, float]:
    dtrees = _dtrees(experiment, parts.held_out) or list(map(route.encode, parts.held_out))
    guess, seconds = timed(route.decode_all, dtrees, "converting gold d-trees")
    found = figures(parts.gold, with_tags_of(parts.gold, guess), route.gaps_)
    return {"f1": found[found["default"]][ALL]["f1"], "speed": len(dtrees) / seconds}
