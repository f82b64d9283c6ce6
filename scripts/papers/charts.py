"""Constrained CKY with the λ and the γ that are chosen by F1 on gold d-trees of sentences that it has not
learned from; its search spaces and its oracle.

Section 6 of "Transforming Dependencies into Phrase Structures" (PAD): "We use the development set to tune the
regularization parameter, λ, and the pruning threshold, γ." So it is here where final results are reported on
a test part. Where they are reported on dev, the last tenth of train takes the place of dev.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.progress import counted
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.rows import Parses
from d2c.learning.learner import Epoch
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from experiments.experiment import Fitted
from experiments.store import StoredStep, digest
from experiments.timing import timed
from experiments.tuning import GAMMAS, PENALTIES
from papers.experiment import RUNS, PaperExperiment
from papers.scores import f1_of, figures
from papers.table import Cell, Table

WEIGHTS = {"last": "last weights", "averages": "averages", "weights": "weights of the model"}
BEARABLE = 0.1  # points of F1 that a lower γ may lose


def chart(
    experiment: PaperExperiment,
    share: float = 1.0,
    dtrees: Parses | None = None,
    tags: str | None = None,
    **changes: Any,
) -> Fitted[ConstrainedCKY]:
    """Return constrained CKY with the settings of all charts, and the λ and the γ that are chosen.

    share, dtrees, changes: as of `PaperExperiment.route`
    tags: gold or predicted, if not those with which λ and γ are chosen
    """
    settings = {**experiment.chart, **chosen(experiment), **changes}
    own = experiment.with_tags(tags) if tags else experiment
    return own.route("cky", share, dtrees, **settings)


def pruned(fitted: Fitted[ConstrainedCKY], pruning: str) -> Fitted[ConstrainedCKY]:
    """Return the same weights with another search space, one of `d2c.cky.settings.METHODS`."""
    route, key = copy(fitted.route), digest([fitted.step.key, pruning])
    route.settings = replace(route.settings, pruning=pruning)
    return Fitted(route, replace(fitted.step, key=key))


def oracle(experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses) -> float:
    """Return F1 of the c-trees nearest to gold in the charts of d-trees (PAD, section 7, footnote 10)."""

    def make(_: Path) -> dict[str, Any]:
        pairs = zip(experiment.trees(parses.part), parses.dtrees, strict=True)
        nearest = [fitted.route.oracle(*pair) for pair in counted(pairs, f"oracle of {parses.source}")]
        return experiment.figures(nearest, parses.part)

    return f1_of(experiment.step_of("oracle", fitted, parses, make))


class Split(NamedTuple):
    """Trees to learn from, trees to choose by, and the latter with the treebank's own tags."""

    learned: list[CTree]
    held_out: list[CTree]
    gold: list[CTree]


def split(experiment: PaperExperiment) -> Split:
    """Return the trees to learn from, and those by which λ and γ are chosen."""
    train = experiment.trees("train")
    if experiment.treebank.reported == "test":
        return Split(train, experiment.trees("dev"), experiment.gold("dev"))
    cut = len(train) - max(1, len(train) // 10)
    return Split(train[:cut] or train, train[cut:], experiment.gold("train")[cut:])


def chosen(experiment: PaperExperiment) -> dict[str, float]:
    """Return penalty and gamma: those of the settings, or else the best λ, and the lowest BEARABLE γ."""
    penalty, gamma = experiment.penalty, experiment.gamma
    if penalty is None:
        penalty = max(PENALTIES, key=lambda value: _with_penalty(experiment, value).facts["f1"])
    if gamma is None:
        f1 = {value: _with_gamma(experiment, penalty, value).facts["f1"] for value in GAMMAS}
        gamma = next(value for value in GAMMAS if f1[value] >= max(f1.values()) - BEARABLE)
    return {"penalty": penalty, "gamma": gamma}


def tuning(experiment: PaperExperiment) -> Table:
    """Return F1 and speed with each λ, and, with the chosen λ, with each γ of method 2."""
    penalty, gamma = chosen(experiment).values()
    steps = [("λ", x, x == penalty, _with_penalty(experiment, x)) for x in sorted({*PENALTIES, penalty})]
    steps += [("γ", x, x == gamma, _with_gamma(experiment, penalty, x)) for x in sorted({*GAMMAS, gamma})]
    rows: list[list[Cell]] = [
        [name, f"{x:g}", "yes" * best, *(step.facts.get(fact) for fact in ("f1", "speed", *WEIGHTS))]
        for name, x, best, step in steps
    ]
    of = "dev" if experiment.treebank.reported == "test" else "the last tenth of train"
    return experiment.table(
        ("setting", "value", "chosen", "F1", "sentences/s", *WEIGHTS.values()),
        rows,
        "Weights that are not 0: the last ones, their averages over all steps, and those of the model: the "
        "averages of those whose last value is not 0.",
        f"F1 on gold d-trees of {of}.",
        f"γ: with method 2 alone; of those at most {BEARABLE} below the best F1 the lowest.",
    )


def _with_penalty(experiment: PaperExperiment, penalty: float) -> StoredStep:
    own = {**experiment.chart, "seed": experiment.spec.route.seed, "penalty": penalty}
    made_of = {**experiment.made_of, **own}
    if own.get("labels"):
        made_of["encoding"] = experiment.spec.route.encoding

    def make(directory: Path) -> dict[str, Any]:
        parts, rules = split(experiment), experiment.treebank.head_rules
        route = ConstrainedCKY(head_rules=rules, **own)
        learned, held_out = (_dtrees(experiment, trees) for trees in (parts.learned, parts.held_out))
        epochs = list[Epoch]()
        route.fit(parts.learned, parts.held_out, dtrees=learned, dev_dtrees=held_out, progress=epochs.append)
        route.save(directory / "route")
        last, averages = max(epochs, key=lambda epoch: epoch.f1 or 0.0).nonzero  # the first of the best
        weights = {"last": last, "averages": averages, "weights": int((route.weights_ != 0).sum())}
        return weights | _measured(experiment, route, parts)

    return experiment.store.step("penalty", made_of, make)


def _with_gamma(experiment: PaperExperiment, penalty: float, gamma: float) -> StoredStep:
    trained = _with_penalty(experiment, penalty)

    def make(_: Path) -> dict[str, Any]:
        parts, route = split(experiment), ConstrainedCKY.load(trained.directory / "route")
        settings = replace(route.settings, gamma=gamma, epochs=1)  # the weights of this fit are not used
        route.allowed_ = ConstrainedCKY(settings).fit(parts.learned).allowed_
        route.settings = replace(route.settings, pruning="2")
        return _measured(experiment, route, parts)

    return experiment.store.step("gamma", {"route": trained.key, "gamma": gamma}, make)


def _dtrees(experiment: PaperExperiment, trees: Sequence[CTree]) -> list[DTree] | None:
    """Return d-trees with the d-parsers' labels for a chart that sees labels; None for any other chart."""
    if not experiment.chart.get("labels"):
        return None
    return list(map(Reduction(experiment.spec.route.encoding, experiment.treebank.head_rules).encode, trees))


def _measured(experiment: PaperExperiment, route: ConstrainedCKY, parts: Split) -> dict[str, float]:
    dtrees = _dtrees(experiment, parts.held_out) or list(map(route.encode, parts.held_out))
    guess, seconds = timed(route.decode_all, dtrees, "converting gold d-trees", cpu=RUNS)
    f1 = f1_of(figures(parts.gold, guess, route.gaps_))
    return {"f1": f1, "speed": len(dtrees) / seconds}
