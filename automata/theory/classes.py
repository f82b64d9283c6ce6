"""Classes of trees and stacks: numbers for what an oracle may know of them, and how one becomes another.

Trees are equal that have the same attributes. Of a stack, its class keeps what features read, and what they
may read once more trees lie on it. So both are congruences by construction, and finite. What a class is made
of, and what becomes of it, is computed once. Source: Nederhof (2015), sections 3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from d2c.automata.theory.attributes import Attribute, First, Path, Value, Values, nth, terminals_in
from d2c.automata.theory.grammars import Symbol

Lookahead = tuple[str, ...]  # [K] the next terminals; $ after the end


class TreeClasses:
    """≡tr: trees are equal that have the same attributes.

    A class is a number; new ones are made as they are met.
    """

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        """attributes: those that are read; what they need is added."""
        needed = dict.fromkeys(attributes)
        waiting = list(needed)
        while waiting:
            new = [attribute for attribute in waiting.pop().needs() if attribute not in needed]
            needed.update(dict.fromkeys(new))
            waiting += new
        self.attributes = tuple(needed)
        self.values: list[Values] = []  # of each class
        self._numbers: dict[tuple[Value, ...], int] = {}
        self._leaves: dict[tuple[Symbol, str], int] = {}
        self._built: dict[tuple[Symbol, tuple[int, ...]], int] = {}

    def __len__(self) -> int:
        """How many classes were met."""
        return len(self.values)

    def leaf(self, symbol: Symbol, terminal: str) -> int:
        """[A(a)]"""
        known = self._leaves.get((symbol, terminal))
        if known is None:
            known = self._number([attribute.leaf(symbol, terminal) for attribute in self.attributes])
            self._leaves[symbol, terminal] = known
        return known

    def build(self, symbol: Symbol, children: tuple[int, ...]) -> int:
        """[A(t1…tk)] from [t1]…[tk]"""
        known = self._built.get((symbol, children))
        if known is None:
            below = [self.values[child] for child in children]
            known = self._number([attribute.build(symbol, below) for attribute in self.attributes])
            self._built[symbol, children] = known
        return known

    def _number(self, values: list[Value]) -> int:
        number = self._numbers.setdefault(tuple(values), len(self.values))
        if number == len(self.values):
            self.values.append(dict(zip(self.attributes, values, strict=True)))
        return number


class Feature(NamedTuple):
    """An attribute of nth(i0, τ), a tree of the stack: from 1 at the bottom, from -1 at the top."""

    nth: int
    attribute: Attribute


class _Stack(NamedTuple):
    """A class of stacks: what is kept of each tree, from the top downward and from the bottom upward."""

    top: tuple[tuple[Value, ...], ...]
    bottom: tuple[tuple[Value, ...], ...]


class StackClasses:
    """≡st: stacks are equal that no feature tells apart, now or after the same trees were pushed.

    At depth d below the top that is what features read at depth d or deeper, since deeper is where a tree
    goes as the stack grows. The trees from the bottom up to the greatest positive index are counted in any
    case, also where no feature reads them, and likewise at the top: the section's own definition, which
    drops more, is no congruence (see `d2c.automata.theory.erase`).
    """

    empty = 0

    def __init__(self, features: Iterable[Feature], lookahead: int = 1) -> None:
        """lookahead: K, how many terminals an oracle sees; the first K of a tree are told by its class."""
        features = dict.fromkeys(features)
        deepest: dict[Attribute, int] = {}
        for index, attribute in features:
            if index < 0:
                deepest[attribute] = max(-index, deepest.get(attribute, 0))
        highest = max((index for index, _ in features), default=0)
        self.lookahead = lookahead
        self.trees = TreeClasses([Path(), First(lookahead), *(attribute for _, attribute in features)])
        self._first = First(lookahead)
        self._read = sorted(deepest, key=lambda attribute: -deepest[attribute])  # of these, the first
        depths = range(1, max(deepest.values(), default=0) + 1)
        self._kept = [
            sum(deepest[a] >= depth for a in self._read) for depth in depths
        ]  # ... so many are kept
        self._bottom = [[a for i, a in features if i == index] for index in range(1, highest + 1)]
        self._stacks = [_Stack((), ())]
        self._numbers = {self._stacks[0]: 0}
        self._pushed: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """How many classes were met."""
        return len(self._stacks)

    def push(self, stack: int, tree: int) -> int:
        """[τt] from [τ] and [t]"""
        known = self._pushed.get((stack, tree))
        if known is None:
            known = self._pushed[stack, tree] = self._push(self._stacks[stack], self.trees.values[tree])
        return known

    def _push(self, stack: _Stack, values: Values) -> int:
        rows = (tuple(values[attribute] for attribute in self._read), *stack.top)
        top = tuple(row[:kept] for row, kept in zip(rows, self._kept, strict=False))
        bottom = stack.bottom
        if len(bottom) < len(self._bottom):
            bottom = (*bottom, tuple(values[attribute] for attribute in self._bottom[len(bottom)]))
        number = self._numbers.setdefault(_Stack(top, bottom), len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(_Stack(top, bottom))
        return number

    def read(self, stack: int, feature: Feature) -> Value:
        """A feature's value on a class of stacks; None (⊥) where the stack has no such tree.

        ValueError: it is none of those that the classes were made for.
        """
        index, attribute = feature
        top, bottom = self._stacks[stack]
        attributes = self._bottom if index > 0 else [self._read[:kept] for kept in self._kept]
        rows = bottom if index > 0 else top
        if abs(index) > len(attributes) or attribute not in attributes[abs(index) - 1]:
            raise ValueError(f"the classes of stacks do not keep {feature}")
        row = nth(abs(index), rows)
        return None if row is None else row[attributes[abs(index) - 1].index(attribute)]

    def symbol(self, tree: int) -> Symbol:
        """root(t)"""
        symbol = self.trees.values[tree][Path()]
        assert isinstance(symbol, Symbol)
        return symbol

    def before(self, tree: int, lookahead: Lookahead) -> Lookahead:
        """The lookahead left of a tree, given the one right of it."""
        return (terminals_in(self.trees.values[tree][self._first]) + lookahead)[: self.lookahead]
