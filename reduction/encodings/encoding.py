"""The base of all encodings: reads and writes labels, and constrains those of one head's modifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.labels import read_label
from d2c.trees.unaries import Chain

Spine = tuple[str, ...]  # the proper nodes whose lexical head is a word, from its tag upwards


class Order(NamedTuple):
    """The order that the labels of a d-tree encode.

    symbols: [n] of each arc; None: its label says none
    events:  [n] event index of each arc; 0: its label says none
    spines:  [n] of each token, where labels hold spines; None: its label says none
    """

    symbols: list[str | None]
    events: list[int]
    spines: list[Spine | None] | None = None


class Constraint(NamedTuple):
    """The constraint under which the labeler chooses the labels of one head's modifiers.

    rising:      events never fall from a modifier to the next one outward
    joint:       the events of both sides together are 1, 2, ..., without gaps, and each has one symbol
    differences: a number is the difference to the event of the next modifier towards the head
    """

    rising: bool = False
    joint: bool = False
    differences: bool = False


class Encoding(ABC):
    """One way to write a head-ordered d-tree into labels and to read it back.

    name:            by which users choose it
    carries_unaries: its labels hold the unary nodes, too
    continuous_only: it takes no trees with gaps
    constraint:      which labels fit together, for the labeler
    """

    name: str
    carries_unaries = False
    continuous_only = False
    constraint = Constraint()

    def encode(self, ctree: CTree) -> DTree:
        """Return the d-tree with labels. Raises ValueError for a c-tree without head children, or with gaps
        where the encoding takes none: with gaps, events may fall from a modifier to the next, or arcs cross.
        """
        if self.continuous_only and not ctree.is_continuous():
            message = f"the {self.name} encoding takes continuous trees only; use the direct encoding"
            raise ValueError(f"{message}, or make them so (--continuous)")
        return self.label(to_dependencies(ctree))

    @abstractmethod
    def label(self, dtree: DTree) -> DTree:
        """Return a head-ordered d-tree with labels that encode its order. Raises ValueError if none can."""

    @abstractmethod
    def decode(self, dtree: DTree) -> Order:
        """Return the order that the labels of a d-tree encode; its heads must be in range."""

    def chains(self, dtree: DTree, ctree: CTree, spines: Sequence[Spine | None]) -> list[Chain]:
        """Return the unary nodes above each node of the unaryless c-tree of a d-tree, by its spines."""
        return [()] * (ctree.root + 1)

    def read(self, label: str) -> tuple[object, int]:
        """Return what a label names (a symbol, a spine, ...) and its number."""
        return read_label(label)
