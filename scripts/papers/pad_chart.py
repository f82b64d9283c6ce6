"""What the tables of PAD share: charts with the chosen settings, their search spaces and oracles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from d2c.base.errors import ModelError
from d2c.base.progress import counted
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.store import digest
from d2c.trees.dtree import DTree
from d2c.trees.scores.attachment import Attachment, score_attachment
from papers.experiment import Fitted, PaperExperiment, Parses
from papers.pad_tuning import chosen
from papers.scores import ALL


def chart(
    experiment: PaperExperiment,
    share: float = 1.0,
    dtrees: Parses | None = None,
    tags: str | None = None,
    **changes: Any,
) -> Fitted[ConstrainedCKY]:
    """Constrained CKY with the settings of all charts, and the λ and the γ that are chosen.

    share, dtrees, changes: as of `PaperExperiment.route`
    tags: other ones than those with which λ and γ are chosen
    """
    settings = {**experiment.settings.chart, **chosen(experiment), **changes}
    own = experiment.with_tags(tags) if tags else experiment
    return own.route("cky", share, dtrees, **settings)


def pruned(fitted: Fitted[ConstrainedCKY], pruning: str) -> Fitted[ConstrainedCKY]:
    """The same weights with another search space, one of `d2c.cky.settings.METHODS`."""
    route, key = copy(fitted.route), digest([fitted.step.key, pruning])
    route.settings = replace(route.settings, pruning=pruning)
    return Fitted(route, replace(fitted.step, key=key))


def oracle(experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses) -> float:
    """F1 of the c-trees that are nearest to gold in the charts of d-trees (PAD, section 7, footnote 10)."""

    def make(_: Path) -> dict[str, Any]:
        pairs = zip(experiment.trees(parses.part), parses.dtrees, strict=True)
        nearest = [fitted.route.oracle(*pair) for pair in counted(pairs, f"oracle of {parses.source}")]
        return experiment.figures(nearest, parses.part)

    return f1_of(
        experiment.store.step("oracle", {"route": fitted.step.key, "parses": parses.key}, make).facts
    )


def f1_of(figures: Mapping[str, Any]) -> float:
    """Of `papers.scores.figures`: of all sentences, under the metric for these trees."""
    return float(figures[figures["default"]][ALL]["f1"])


def all_parses(experiment: PaperExperiment) -> tuple[list[Parses], list[str]]:
    """The d-trees of dev by all d-parsers, and a line on each that cannot be had.

    Raises ModelError where none can.
    """
    found, missing = experiment.all_parses("dev")
    if not found:
        raise ModelError(" ".join(missing) or "no d-parser is given")
    return found, missing


def best_parses(experiment: PaperExperiment) -> tuple[Parses, list[str]]:
    """Of `all_parses` those with the highest UAS."""
    found, missing = all_parses(experiment)
    gold = list(experiment.encoded(experiment.settings.encoding, "dev"))
    return max(found, key=lambda parses: uas(gold, parses)), missing


def uas(gold: Sequence[DTree], parses: Parses) -> float:
    """In percent, without punctuation."""
    return sum(map(score_attachment, gold, parses.dtrees), Attachment()).uas
