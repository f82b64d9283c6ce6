"""Routes: what turns c-trees into d-trees for a d-parser, and its d-trees into c-trees again.

Another route is an estimator in a file of its own and a row of ROUTES. What only some routes can do are
protocols of their own, asked for by `isinstance`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from d2c.base.errors import ModelError
from d2c.dparsers.registry import import_class
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.repair import Repairs

Progress = Callable[[object], None]  # is told what to show


class Route(Protocol):
    """What every route can do."""

    @property
    def gaps_(self) -> bool:
        """Whether training trees had gaps."""

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learns from gold c-trees; dev selects among what was learned.

        dtrees: for each c-tree what the d-parser makes of it without having learned from it (jackknifing)
        """

    def encode(self, ctree: CTree) -> DTree:
        """The d-tree that the d-parser is trained on."""

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """Valid c-trees over exactly the tokens of predicted d-trees."""

    def save(self, directory: Path) -> None:
        """Writes plain files."""

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""


@runtime_checkable
class Relabels(Protocol):
    """A route that reads other labels than those of the d-parser."""

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """The d-trees whose labels decoding reads; repairs of their heads are added to `counts`."""

    def check_jackknifing(self) -> None:
        """Raises ValueError where `fit` cannot learn from d-trees that a d-parser predicts."""


@runtime_checkable
class GivesConfidences(Protocol):
    """A route that says how sure it is of each node."""

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        """The c-trees of `decode_all`, each with a number in [0, 1] for each of its nodes [K]."""


@runtime_checkable
class HasOracle(Protocol):
    """A route that cannot make every c-tree of a d-tree, and knows which comes nearest."""

    def oracle(self, ctree: CTree, dtree: DTree) -> CTree:
        """The c-tree nearest to a gold one among those that it could make of the d-tree."""


@runtime_checkable
class TakesArcs(Protocol):
    """A route that takes d-trees with packed arcs (`d2c.packed.arcs`), and looks among all that these hold.

    What arcs count for is its `arcs_`, once it is fitted.
    """

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learns `arcs_`, after all else, from d-trees with arcs, of sentences new to parser and route."""


@runtime_checkable
class KBest(Protocol):
    """A route that has more than one c-tree for a d-tree."""

    def decode_k_best(self, dtree: DTree, k: int) -> list[tuple[float, CTree]]:
        """The best c-trees with their scores, best first, at most k."""


@runtime_checkable
class LearnsConventions(HasOracle, Protocol):
    """A route that learns from d-trees of any convention, not only from those that it encodes."""

    def fit_grammar(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree] | None = None) -> Sequence[object]:
        """Learns what `oracle` needs."""

    def fit(self, ctrees: Iterable[CTree], dev: Iterable[CTree] = (), **others: Any) -> Self:
        """As `Route.fit`, which has the others; dev_dtrees: what the d-parser makes of `dev`."""


@runtime_checkable
class WarmsUp(Protocol):
    """What has kernels to compile."""

    @classmethod
    def warm_up(cls, train: bool) -> None:
        """Compiles the kernels of decoding into numba's cache; those of `fit`, too, if `train`."""


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

    path:     where its class is, `module:Class`; new: what makes an untrained one of it
    kernels:  where they are
    settings: names of a training's settings that mean something for it, beside head rules and the d-parser's
    """

    path: str
    new: Callable[[type[Any], RouteSettings], Any]
    kernels: str | None = None
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


_LABELER, _CHART = "d2c.reduction.labeler.labeler:Labeler", "d2c.cky.constrained_cky:ConstrainedCKY"
ROUTES = {
    "reduction": RouteRow("d2c.reduction.reduction:Reduction", _new_reduction, settings=("encoding",)),
    "labeler": RouteRow(
        "d2c.reduction.labeler.two_stage:TwoStage", _new_reduction, _LABELER, ("encoding", "folds", "arcs")
    ),
    "cky": RouteRow(_CHART, _new_chart, _CHART, ("folds", "labels", "arcs", *_OF_TRAINING)),
    "rules": RouteRow("d2c.rules.rule_based:RuleBased", _new_rules),
    "combined": RouteRow(
        "d2c.routes.combined:Combined",
        _new_combined,
        _CHART,
        ("encoding", "folds", *_OF_TRAINING),
    ),
}


def route_class(name: str) -> type[Any]:
    """The estimator of one of ROUTES, imported only now: some need numba. Raises ModelError."""
    if name not in ROUTES:
        raise ModelError(f"unknown route {name!r}; known are {', '.join(ROUTES)}")
    return import_class("route", name, ROUTES[name].path, "d2c")


def converts_any(name: str) -> bool:
    """Whether one of ROUTES learns from d-trees of any convention. Raises ModelError."""
    return issubclass(route_class(name), LearnsConventions)


def foreign_refused() -> str:
    """Why the others take no d-trees of a parser that is trained elsewhere."""
    able = " or ".join(filter(converts_any, ROUTES))
    return f"is trained elsewhere; only the route {able} learns from its d-trees"


def kernels_of(name: str) -> type[WarmsUp] | None:
    """What has the kernels of one of ROUTES; None where it has none to compile."""
    path = ROUTES[name].kernels if name in ROUTES else None
    found = path and import_class("route", name, path, "d2c")
    return found if found and issubclass(found, WarmsUp) else None


def make_route(name: str, settings: RouteSettings = RouteSettings()) -> Route:
    """Makes an untrained route. Raises ModelError."""
    made = route_class(name)
    route: Route = ROUTES[name].new(made, settings)
    return route
