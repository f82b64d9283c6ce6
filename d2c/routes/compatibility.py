"""Which routes and d-parsers go together, and what can be asked of them: the one place that refuses what
their declared abilities (`d2c.protocols.abilities`) do not allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from d2c.base.errors import ModelError
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Route
from d2c.routes.registry import ROUTES, route_class


def check_unlabelled(routes: Mapping[str, Route], labels: bool | None) -> None:
    """Raise ModelError for routes, by their names, that need the labels which a d-parser is not to learn.

    labels: whether a chart sees them as features
    """
    for name, route in routes.items():
        if labels or route.abilities.needs_labels:
            raise ModelError(f"--unlabelled leaves the route {name} no labels, which it needs")


def check_jackknifing(routes: Mapping[str, Route]) -> None:
    """Raise ModelError for routes, by their names, that learn nothing from jackknifed d-trees."""
    for name, route in routes.items():
        try:
            route.check_jackknifing()
        except ValueError as error:
            raise ModelError(f"--jackknife with the route {name}: {error}") from None


def check_foreign(what: str, routes: Collection[str], jackknife: bool = False) -> None:
    """Raise ModelError where a route learns nothing from d-trees of another convention.

    what:      what gives these d-trees, as messages call it
    jackknife: whether there are folds, from which such a d-parser learns nothing
    """
    if jackknife or not all(route_class(name).abilities.conventions for name in routes):
        able = " or ".join(_able("conventions"))
        message = f"is trained elsewhere; only the route {able} learns from its d-trees"
        raise ModelError(f"{what} {message}{', without jackknifing' if jackknife else ''}")


def check_own(dparser: DependencyParser, name: str, instead: str) -> None:
    """Raise ModelError for a d-parser that is trained elsewhere, where it must learn what the routes encode.

    instead: what to do
    """
    if dparser.abilities.foreign:
        message = "is trained elsewhere, on other d-trees than the routes'"
        raise ModelError(f"the d-parser {name} {message}; {instead}")


def check_arcs(packed: bool, routes: Mapping[str, Route], dparser: DependencyParser, name: str) -> None:
    """Raise ModelError where packed arcs are wanted that the d-parser does not give, or no route takes."""
    if packed and not dparser.abilities.packed_arcs:
        message = "does not say how probable other heads are; stanza and transition do"
        raise ModelError(f"--arcs packed: the d-parser {name} {message}")
    if packed and not any(route.abilities.packed_arcs for route in routes.values()):
        able = " and ".join(_able("packed_arcs"))
        raise ModelError(f"--arcs packed: the route {', '.join(routes)} takes one d-tree; {able} take more")


def check_confidences(route: Route, name: str) -> None:
    """Raise ModelError for a route, by its name, that does not say how sure it is, where that is needed."""
    if not route.abilities.confidences:
        raise ModelError(f"the route {name} does not say how sure it is of constituents")


def check_one_stream(dparser: DependencyParser, name: str, option: str) -> None:
    """Raise ModelError for a d-parser that must be given all sentences in order, where an option keeps it
    from that."""
    if dparser.abilities.in_order:
        raise ModelError(f"the d-parser {name} has its d-trees in a file, in order; leave out {option}")


def _able(ability: str) -> list[str]:
    """Return the names of the routes that have an ability."""
    return [name for name in ROUTES if getattr(route_class(name).abilities, ability)]
