"""Routes by name. Classes are imported only where they are used: some need numba.

Another route is a subclass of `d2c.protocols.route.Route` in a file of its own, and a row of ROUTES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from d2c.base.settings import named_fields, setting
from d2c.cky.settings import ChartSettings
from d2c.protocols.route import CommonSettings, Route
from d2c.protocols.settings import shared
from d2c.reduction.encodings import ENCODINGS
from d2c.routes.rows import RegistryRow, class_of

# The settings that only routes with a chart have, by the names of their options.
_COMMON = named_fields(CommonSettings)
CHART_OPTIONS = tuple(name for name in named_fields(ChartSettings) if name not in _COMMON)


@dataclass(frozen=True, kw_only=True)
class RouteSettings(CommonSettings):
    """What routes of any name are made with.

    chart:       of routes with a chart, which take head rules, seed and labels from the fields of this class
    labels:      whether d-labels are features, as for d-trees of another convention (nsubj); None: where they
                 are not the route's own
    checkpoints: a directory, from which an interrupted training goes on: of the chart, a transformer, spaCy
    """

    encoding: str = setting(
        "direct", "The encoding of the labels; spine is the H&N-encoding.", choices=ENCODINGS
    )
    constrained: bool = setting(
        True,
        "Labeler: choose labels that fit together at each head. --no-constrained: the paper's own sequence "
        "model.",
    )
    chart: ChartSettings = ChartSettings()
    labels: bool | None = setting(
        None,
        "Chart (cky), and the route rules: use the labels of d-trees as features.  [default: only those of a "
        "d-parser trained elsewhere]",
    )
    checkpoints: Path | None = shared("checkpoints")


@dataclass(frozen=True, kw_only=True)
class RouteRow(RegistryRow):
    """A registered route.

    new:     makes an untrained route of its class
    kernels: whether it has any to compile, by `Route.warm_up`
    options: names of a training's settings that mean something for it, besides head rules and the d-parser's
    """

    new: Callable[[type[Any], RouteSettings], Route]
    kernels: bool = False
    options: tuple[str, ...] = ()


def _new_labeler(made: type[Any], settings: RouteSettings) -> Route:
    own = {"seed": settings.seed, "constrained": settings.constrained}
    return cast(Route, made(settings.encoding, settings.head_rules, **own))


def _new_chart(made: type[Any], settings: RouteSettings) -> Route:
    shared = {one.name: getattr(settings, one.name) for one in fields(CommonSettings)}
    chart = replace(settings.chart, **shared, labels=bool(settings.labels))
    return cast(Route, made(chart, checkpoints=settings.checkpoints))


def _new_combined(made: type[Any], settings: RouteSettings) -> Route:
    labeler = _new_labeler(route_class("labeler"), settings)
    return cast(Route, made(labeler, _new_chart(route_class("cky"), replace(settings, labels=True))))


_OF_CHART = ("seed", "checkpoints", *CHART_OPTIONS)
ROUTES = {
    "reduction": RouteRow(
        path="d2c.reduction.reduction:Reduction",
        new=lambda made, given: made(given.encoding, given.head_rules, seed=given.seed),
        options=("encoding",),
    ),
    "labeler": RouteRow(
        path="d2c.reduction.labeler.two_stage:TwoStage",
        new=_new_labeler,
        kernels=True,
        options=("encoding", "constrained", "jackknife", "arcs"),
    ),
    "cky": RouteRow(
        path="d2c.cky.constrained_cky:ConstrainedCKY",
        new=_new_chart,
        kernels=True,
        options=("jackknife", "labels", "arcs", *_OF_CHART),
    ),
    "rules": RouteRow(
        path="d2c.routes.rules.rule_based:RuleBased",
        new=lambda made, given: made(given.head_rules, bool(given.labels)),
        options=("labels",),
    ),
    "combined": RouteRow(
        path="d2c.routes.combined:Combined",
        new=_new_combined,
        kernels=True,
        options=("encoding", "constrained", "jackknife", *_OF_CHART),
    ),
}


def route_class(name: str) -> type[Route]:
    """Return the class of one of ROUTES. Raises ModelError."""
    return class_of("route", ROUTES, name)


def make_route(name: str, settings: RouteSettings = RouteSettings()) -> Route:
    """Make an untrained route. Raises ModelError."""
    made = route_class(name)
    return ROUTES[name].new(made, settings)
