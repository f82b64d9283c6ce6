"""Routes by name. Classes are imported only where they are used: some need numba.

Another route is a subclass of `d2c.trees.route.Route` in a file of its own, and a row of ROUTES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import ModelError
from d2c.dparsers.registry import import_class
from d2c.trees.route import Route


@dataclass(frozen=True, kw_only=True)
class RouteSettings:
    """What routes are made with; the routes say what each is for.

    encoding:    of the labels, see `d2c.reduction.encodings`
    pruning, gamma, penalty, binarization, grammar, symbols, max_unaries, table_bits, chart_epochs: of the
                 chart, see `d2c.cky.settings`, where the last is `epochs`
    labels:      whether d-labels are features of the chart, as of d-trees with labels of their own (nsubj);
                 None: if these are not the route's own
    checkpoints: a directory, from which an interrupted training of the chart, or of a transformer, goes on
    seed:        of everything that draws
    """

    encoding: str = "direct"
    head_rules: str = "collins"
    pruning: str = "none"
    gamma: float = 0.95
    penalty: float = 1e-6
    binarization: str = "simple"
    grammar: str = "observed"
    symbols: str = "plain"
    max_unaries: int = 3
    table_bits: int = 22
    chart_epochs: int = 5
    labels: bool | None = None
    checkpoints: Path | None = None
    seed: int = 1


class RouteRow(NamedTuple):
    """What is known of a route before it is imported.

    path:     where its class is, `module:Class`; new: makes an untrained one of it
    kernels:  whether it has any to compile, by `Route.warm_up`
    settings: names of a training's settings that mean something for it, beside head rules and the d-parser's
    """

    path: str
    new: Callable[[type[Any], RouteSettings], Route]
    kernels: bool = False
    settings: tuple[str, ...] = ()


_OF_CHARTS = (
    *("head_rules", "pruning", "gamma", "penalty", "binarization", "grammar", "symbols", "max_unaries"),
    *("table_bits", "seed", "checkpoints"),
)
_OF_TRAINING = (*_OF_CHARTS, "chart_epochs")


def _new_reduction(made: type[Any], settings: RouteSettings) -> Any:
    return made(settings.encoding, settings.head_rules, seed=settings.seed)


def _new_chart(made: type[Any], settings: RouteSettings) -> Any:
    chosen = {name: getattr(settings, name) for name in _OF_CHARTS}
    return made(**chosen, epochs=settings.chart_epochs, labels=bool(settings.labels))


def _new_rules(made: type[Any], settings: RouteSettings) -> Any:
    return made(settings.head_rules, bool(settings.labels))


def _new_combined(made: type[Any], settings: RouteSettings) -> Any:
    labeler, chart = route_class("labeler"), route_class("cky")
    labelled = replace(settings, labels=True)
    return made(_new_reduction(labeler, settings), _new_chart(chart, labelled))


ROUTES = {
    "reduction": RouteRow("d2c.reduction.reduction:Reduction", _new_reduction, settings=("encoding",)),
    "labeler": RouteRow(
        "d2c.reduction.labeler.two_stage:TwoStage", _new_reduction, True, ("encoding", "folds", "arcs")
    ),
    "cky": RouteRow(
        "d2c.cky.constrained_cky:ConstrainedCKY",
        _new_chart,
        True,
        ("folds", "labels", "arcs", *_OF_TRAINING),
    ),
    "rules": RouteRow("d2c.rules.rule_based:RuleBased", _new_rules),
    "combined": RouteRow(
        "d2c.routes.combined:Combined", _new_combined, True, ("encoding", "folds", *_OF_TRAINING)
    ),
}


def route_class(name: str) -> type[Route]:
    """Return the class of one of ROUTES. Raises ModelError."""
    if name not in ROUTES:
        raise ModelError(f"unknown route {name!r}; known are {', '.join(ROUTES)}")
    return import_class("route", name, ROUTES[name].path, "d2c")


def make_route(name: str, settings: RouteSettings = RouteSettings()) -> Route:
    """Make an untrained route. Raises ModelError."""
    made = route_class(name)
    return ROUTES[name].new(made, settings)


def foreign_refused() -> str:
    """Return why other routes take no d-trees of a parser that is trained elsewhere."""
    able = " or ".join(name for name in ROUTES if route_class(name).learns_conventions)
    return f"is trained elsewhere; only the route {able} learns from its d-trees"
