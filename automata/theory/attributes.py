"""Attributes of trees that are computed bottom-up: what an oracle may know of the trees on its stack.

An attribute of A(t1…tk) is computed from A and the attributes of t1…tk, and has finitely many values. So
equal attributes of the parts give equal attributes of the whole, which makes having the same attributes a
finite congruence of trees. That covers the features of section 6 and more that parsers read. Source:
Nederhof (2015), section 6; what is not in the paper is said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from d2c.automata.theory.grammars import LEFT, RIGHT, Symbol

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


@dataclass(frozen=True)
class Length(Attribute):
    """How many terminals the yield has, or `most` if there are more. Not in the paper."""

    most: int

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return 1

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        return min(self.most, sum(_number(child[self]) for child in children))


@dataclass(frozen=True)
class Unaries(Attribute):
    """How many unary rules were applied last, or `most`: an oracle that stops there does not run in circles.

    Not in the paper, whose computations may be infinite.
    """

    most: int

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return 0

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        return min(self.most, 1 + _number(children[0][self])) if len(children) == 1 else 0


@dataclass(frozen=True)
class Outermost(Attribute):
    """The head word's outermost dependent by arcs of this kind, as the symbol of its tree.

    For grammars of transition systems, where the kind of a symbol says which child has the head word.
    """

    kind: str

    def needs(self) -> Sequence[Attribute]:
        return (Path(),)

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return None

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        head, dependent = _head_and_dependent(symbol, children)
        return dependent[Path()] if dependent and symbol.kind == self.kind else head[self]


@dataclass(frozen=True)
class Dependents(Attribute):
    """How many dependents the head word has by arcs of this kind, or `most` (Sagae and Lavie)."""

    kind: str
    most: int

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return 0

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        head, dependent = _head_and_dependent(symbol, children)
        new = dependent is not None and symbol.kind == self.kind
        return min(self.most, _number(head[self]) + new)


def nth(index: int, items: Sequence[Item]) -> Item | None:
    """The item at an index from 1, or from -1 backward; None if there is none."""
    return items[index - (index > 0)] if 0 < abs(index) <= len(items) else None


def _head_and_dependent(symbol: Symbol, children: Sequence[Values]) -> tuple[Values, Values | None]:
    if len(children) != 2 or symbol.kind not in (LEFT, RIGHT):
        return children[0], None
    return (children[1], children[0]) if symbol.kind == LEFT else (children[0], children[1])


def terminals_in(value: Value) -> tuple[str, ...]:
    """A value of First or Last."""
    assert isinstance(value, tuple)
    return value


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value
