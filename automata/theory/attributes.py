"""Attributes of trees that are computed bottom-up: what an oracle may know of the trees on its stack.

An attribute of A(t1…tk) is computed from A and the attributes of t1…tk, and has finitely many values. So
equal attributes of the parts give equal attributes of the whole, which makes having the same attributes a
finite congruence of trees. The features of section 6 of Nederhof (2015) are such attributes, and so is more
that parsers read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from d2c.automata.theory.grammars import Symbol

Item = TypeVar("Item")
Value = Hashable  # of an attribute; None is the paper's ⊥


class Attribute(ABC):
    """An S-attribute with finitely many values. Attributes are compared by value: they are keys."""

    def needs(self) -> Sequence[Attribute]:
        """What it reads of children besides itself."""
        return ()

    @abstractmethod
    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        """Its value on A(a)."""

    @abstractmethod
    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        """Its value on A(t1…tk), given the values on t1…tk."""


Values = Mapping[Attribute, Value]  # of one tree


@dataclass(frozen=True)
class Path(Attribute):
    """root(child(i_ℓ, … child(i1, ·))): indices from 1 are counted from the left, from -1 from the right."""

    indices: tuple[int, ...] = ()

    def needs(self) -> Sequence[Attribute]:
        return (Path(self.indices[1:]),) if self.indices else ()

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return terminal if self.indices in ((1,), (-1,)) else None if self.indices else symbol

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        if not self.indices:
            return symbol
        child = nth(self.indices[0], children)
        return None if child is None else child[Path(self.indices[1:])]


@dataclass(frozen=True)
class First(Attribute):
    """The first terminals of the yield, at most `length`."""

    length: int = 1

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return (terminal,)

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        return tuple(a for child in children for a in terminals_in(child[self]))[: self.length]


@dataclass(frozen=True)
class Last(Attribute):
    """The last terminals of the yield, at most `length`."""

    length: int = 1

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return (terminal,)

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        return tuple(a for child in children for a in terminals_in(child[self]))[-self.length :]


@dataclass(frozen=True)
class Corner(Attribute):
    """first_intern (index 1) and last_intern (-1): the symbol just above the outermost terminal there."""

    index: int

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return symbol

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        child = nth(self.index, children)
        return None if child is None else child[self]


def nth(index: int, items: Sequence[Item]) -> Item | None:
    """The item at an index from 1, or from -1 backward; None if there is none."""
    return items[index - (index > 0)] if 0 < abs(index) <= len(items) else None


def terminals_in(value: Value) -> tuple[str, ...]:
    """A value of First or Last."""
    assert isinstance(value, tuple)
    return value
