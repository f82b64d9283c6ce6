"""Attributes that parsers read and the paper does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from papers.theory.automaton import Attribute, Path, Value, Values
from papers.theory.grammars import LEFT, RIGHT, Symbol


@dataclass(frozen=True)
class Length(Attribute):
    """How many terminals the yield has, or `most` if there are more."""

    most: int

    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        return 1

    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        return min(self.most, sum(_number(child[self]) for child in children))


@dataclass(frozen=True)
class Unaries(Attribute):
    """How many unary rules were applied last, or `most`: an oracle that stops there does not run in circles.

    The paper's computations may be infinite.
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


def _head_and_dependent(symbol: Symbol, children: Sequence[Values]) -> tuple[Values, Values | None]:
    if len(children) != 2 or symbol.kind not in (LEFT, RIGHT):
        return children[0], None
    return (children[1], children[0]) if symbol.kind == LEFT else (children[0], children[1])


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value
