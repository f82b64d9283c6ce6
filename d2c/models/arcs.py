"""Whether models look among all likely arcs: which d-parsers give them, which routes take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from d2c.base.errors import ModelError
from d2c.dparsers.protocol import DependencyParser
from d2c.routes.registry import ROUTES, route_class
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.route import Route

ARCS = "single", "packed"
Parse = Callable[[Iterable[Tokens]], Iterator[DTree]]


def check_arcs(packed: bool, routes: Mapping[str, Route], dparser: DependencyParser, name: str) -> None:
    """Raise ModelError where packed arcs are wanted that the d-parser does not give, or no route takes."""
    if packed and not dparser.gives_arcs:
        message = "does not say how probable other heads are; stanza:graph and transition do"
        raise ModelError(f"--arcs packed: the d-parser {name} {message}")
    if packed and not any(route.supports_arcs for route in routes.values()):
        able = " and ".join(name for name in ROUTES if route_class(name).supports_arcs)
        raise ModelError(f"--arcs packed: the route {', '.join(routes)} takes one d-tree; {able} take more")


def parsing(dparser: DependencyParser, packed: bool) -> Parse:
    """Return how a d-parser parses: with packed arcs, where it gives them, or without."""
    return dparser.parse_packed if packed and dparser.gives_arcs else dparser.parse
