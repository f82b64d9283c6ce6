"""A forest: all derivations of a sentence, packed into a hypergraph."""

from __future__ import annotations

from typing import NamedTuple

from d2c.base.arrays import Ints


class Forest(NamedTuple):
    """V vertices and E edges, each of which derives a vertex from one or two others.

    head:     [E] the vertex derived; edges stand in an order in which a vertex's derivations precede its uses
    tail:     [E] the vertex that it is derived from
    modifier: [E] the other one, or -1
    vertices: V; the last vertex is the goal; one without derivation is an axiom
    """

    head: Ints
    tail: Ints
    modifier: Ints
    vertices: int
