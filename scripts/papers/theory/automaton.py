"""Oracle automata: they shift and reduce as an oracle Ω tells them for a class of stacks (sections 3, 6, 7).

An S-attribute of A(t1…tk) is computed from A and the attributes of t1…tk, and has finitely many values: so
equal attributes of the parts give equal attributes of the whole. Trees with the same attributes are
equivalent. The class of a stack keeps what features read, and what they may read once more trees lie on it.
Both are congruences by construction, and finite; the successors of a class are computed once. Ω gives rules
their probabilities for a class of stacks and the next K terminals: it is consistent with the classes, since
it sees nothing else. A deterministic oracle gives one rule probability 1, or no rule any; then the automaton
fails. Source: Nederhof (2015); the features of section 6 are attributes, and so are others that parsers read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeVar

from papers.theory.grammars import CFG, Rule, Steps, Symbol, Where

Item = TypeVar("Item")
Value = Hashable  # of an attribute; None is the paper's ⊥
Lookahead = tuple[str, ...]  # [K] the next terminals; END after the end
Oracle = Callable[[int, Lookahead], Mapping[Rule, float]]  # [τ], the next K terminals → p > 0 of rules
END = "$"


class Attribute(ABC):
    """An S-attribute with finitely many values. Attributes are compared by value: they are keys."""

    def needs(self) -> Sequence[Attribute]:
        """Return the attributes of children that it reads besides itself."""
        return ()

    @abstractmethod
    def leaf(self, symbol: Symbol, terminal: str) -> Value:
        """Return its value on A(a)."""

    @abstractmethod
    def build(self, symbol: Symbol, children: Sequence[Values]) -> Value:
        """Return its value on A(t1…tk), given the values on t1…tk."""


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
class Last(First):
    """The last terminals of the yield, at most `length`."""

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
    """Return the item at an index from 1, or from -1 backward; None if there is none."""
    return items[index - (index > 0)] if 0 < abs(index) <= len(items) else None


def terminals_in(value: Value) -> tuple[str, ...]:
    """Return a value of First or Last, known to be terminals."""
    assert isinstance(value, tuple)
    return value


class TreeClasses:
    """≡tr: trees with the same attributes are equivalent.

    A class is a number; new classes are made as they are met. values: the attributes of each class
    """

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        """attributes: those that features read; the attributes that these need are added."""
        needed = list(dict.fromkeys(attributes))
        for attribute in needed:  # which grows
            needed += [one for one in attribute.needs() if one not in needed]
        self.attributes, self.values = tuple(needed), list[Values]()
        self._numbers: dict[tuple[Value, ...], int] = {}
        self.leaf, self.build = cache(self._leaf), cache(self._build)

    def __len__(self) -> int:
        """Return how many classes were met."""
        return len(self.values)

    def _leaf(self, symbol: Symbol, terminal: str) -> int:
        """Return [A(a)]."""
        return self._number(tuple(attribute.leaf(symbol, terminal) for attribute in self.attributes))

    def _build(self, symbol: Symbol, children: tuple[int, ...]) -> int:
        """Return [A(t1…tk)] from [t1]…[tk]."""
        below = [self.values[child] for child in children]
        return self._number(tuple(attribute.build(symbol, below) for attribute in self.attributes))

    def _number(self, values: tuple[Value, ...]) -> int:
        if values not in self._numbers:
            self._numbers[values] = len(self.values)
            self.values.append(dict(zip(self.attributes, values, strict=True)))
        return self._numbers[values]


class Feature(NamedTuple):
    """An attribute of nth(i0, τ), a tree of the stack: from 1 at the bottom, from -1 at the top."""

    nth: int
    attribute: Attribute


class _Stack(NamedTuple):
    """A class of stacks: what is kept of each tree, from the top downward and from the bottom upward."""

    top: tuple[tuple[Value, ...], ...] = ()
    bottom: tuple[tuple[Value, ...], ...] = ()


class StackClasses:
    """≡st: stacks are equivalent if no feature tells them apart, now or after the same trees are pushed.

    Of the tree at depth d below the top, a class keeps what features read at depth d or deeper, since the
    tree gets deeper as the stack grows. The trees from the bottom up to the greatest positive index are
    counted in any case, also where no feature reads them, and likewise at the top: the paper's own
    definition, which drops more, is no congruence (tests/scripts/papers/theory/erase.py has it).
    """

    empty = 0

    def __init__(self, features: Iterable[Feature], lookahead: int = 1) -> None:
        """lookahead: K, how many terminals an oracle sees; the class of a tree keeps its first K."""
        features = dict.fromkeys(features)
        deepest: dict[Attribute, int] = {}
        for index, attribute in features:
            if index < 0:
                deepest[attribute] = max(-index, deepest.get(attribute, 0))
        highest = max((index for index, _ in features), default=0)
        read, depths = sorted(deepest, key=lambda one: -deepest[one]), range(max(deepest.values(), default=0))
        # [depth], [height]: the attributes that are kept of the tree there
        self._top = [[one for one in read if deepest[one] > depth] for depth in depths]
        self._bottom = [[a for i, a in features if i == index] for index in range(1, highest + 1)]
        self.lookahead, self._first = lookahead, First(lookahead)
        self.trees = TreeClasses([Path(), self._first, *(attribute for _, attribute in features)])
        self._stacks, self._numbers = [_Stack()], {_Stack(): self.empty}
        self.push = cache(self._push)

    def __len__(self) -> int:
        """Return how many classes were met."""
        return len(self._stacks)

    def _push(self, stack: int, tree: int) -> int:
        """Return [τt] from [τ] and [t]."""
        values, (top, bottom) = self.trees.values[tree], self._stacks[stack]
        rows = (tuple(values[attribute] for attribute in kept) for kept in self._top[:1])
        top = tuple(row[: len(kept)] for row, kept in zip((*rows, *top), self._top, strict=False))
        added = self._bottom[len(bottom) : len(bottom) + 1]
        bottom = (*bottom, *(tuple(values[attribute] for attribute in kept) for kept in added))
        number = self._numbers.setdefault(_Stack(top, bottom), len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(_Stack(top, bottom))
        return number

    def read(self, stack: int, feature: Feature) -> Value:
        """Return a feature's value on a class of stacks; None (⊥) where the stack has no such tree.

        Raises ValueError for a feature that the classes were not made for.
        """
        index, attribute = feature
        kept = nth(abs(index), self._bottom if index > 0 else self._top)
        if kept is None or attribute not in kept:
            raise ValueError(f"the classes of stacks do not keep {feature}")
        row = nth(abs(index), self._stacks[stack].bottom if index > 0 else self._stacks[stack].top)
        return None if row is None else row[kept.index(attribute)]

    def before(self, tree: int, lookahead: Lookahead) -> Lookahead:
        """Return the lookahead left of a tree, given the one right of it."""
        return (terminals_in(self.trees.values[tree][self._first]) + lookahead)[: self.lookahead]


def classes_for(grammar: CFG, features: Iterable[Feature], lookahead: int = 1) -> StackClasses:
    """Return classes of stacks that keep what the features read and what an oracle's constraints need.

    The latter are the roots of as many trees as the longest right-hand side has symbols, and of one more
    where the grammar asks whether there is another tree below.
    """
    bottoms = [1 + len(rule.children) for rule, where in grammar.where.items() if where.bottom is not None]
    depths = range(1, max(grammar.longest, *bottoms, 1) + 1)
    return StackClasses([*(Feature(-depth, Path()) for depth in depths), *features], lookahead)


class Applicable:
    """The rules that an oracle may propose by constraints (1) and (2), and by the grammar's own."""

    def __init__(self, grammar: CFG, classes: StackClasses) -> None:
        self.grammar, self.classes = grammar, classes
        self._by_right: dict[str | tuple[Symbol, ...], list[Rule]] = {}
        for rule in grammar.rules:
            self._by_right.setdefault(rule.right, []).append(rule)
        number = {rule: number for number, rule in enumerate(grammar.rules)}
        self._known = cache(lambda *place: tuple(sorted(self._rules(*place), key=number.__getitem__)))

    def __call__(self, stack: int, lookahead: Lookahead) -> tuple[Rule, ...]:
        """Return the rules for a class of stacks and a lookahead, by number."""
        return self._known(stack, lookahead)

    def _rules(self, stack: int, lookahead: Lookahead) -> Iterator[Rule]:
        ended = lookahead[0] == END
        yield from self._by_right.get(lookahead[0], ())
        right: tuple[Symbol, ...] = ()
        for depth in range(1, self.grammar.longest + 1):
            symbol = self.classes.read(stack, Feature(-depth, Path()))
            if not isinstance(symbol, Symbol):
                break
            right = (symbol, *right)
            for rule in self._by_right.get(right, ()):
                if self._fits(self.grammar.where.get(rule, Where()), stack, depth, ended):
                    yield rule

    def _fits(self, where: Where, stack: int, depth: int, ended: bool) -> bool:
        if where.bottom is not None:
            below = self.classes.read(stack, Feature(-depth - 1, Path()))
            if where.bottom != (below is None):
                return False
        return where.end in (None, ended)


class Element(NamedTuple):
    """A tree on the stack: its root, the class of the stack left of it, and its own class."""

    symbol: Symbol
    left: int
    tree: int


class Configuration(NamedTuple):
    """(τ, v$): the stack, top last, and what is left of the input, with K end markers."""

    stack: tuple[Element, ...]
    rest: tuple[str, ...]


class Automaton(NamedTuple):
    """An oracle automaton for a grammar; its classes know the oracle's features."""

    grammar: CFG
    classes: StackClasses
    oracle: Oracle

    def start(self, w: Iterable[str]) -> Configuration:
        """Return (ε, w$)."""
        return Configuration((), (*w, *[END] * self.classes.lookahead))

    def accepts(self, configuration: Configuration) -> bool:
        """Return whether the configuration is (t, $) with root(t) = S."""
        stack, rest = configuration
        return rest[0] == END and len(stack) == 1 and stack[0].symbol == self.grammar.start

    def proposals(self, configuration: Configuration) -> Mapping[Rule, float]:
        """Return Ω(τ, the next K terminals)."""
        return self.oracle(*self.place(configuration))

    def place(self, configuration: Configuration) -> tuple[int, Lookahead]:
        """Return what the oracle sees: the class of the stack and the next K terminals."""
        stack, rest = configuration
        return self._class_of(stack), rest[: self.classes.lookahead]

    def step(self, configuration: Configuration, rule: Rule) -> Configuration:
        """Return the configuration after a shift or a reduction. rule: one of the proposals"""
        stack, rest = configuration
        if isinstance(rule.right, str):
            new = Element(rule.left, self._class_of(stack), self.classes.trees.leaf(rule.left, rule.right))
            return Configuration((*stack, new), rest[1:])
        k = len(rule.children)
        left, children = stack[:-k], stack[-k:]
        tree = self.classes.trees.build(rule.left, tuple(child.tree for child in children))
        return Configuration((*left, Element(rule.left, children[0].left, tree)), rest)

    def _class_of(self, stack: tuple[Element, ...]) -> int:
        return self.classes.push(stack[-1].left, stack[-1].tree) if stack else self.classes.empty

    def parse(self, w: Iterable[str]) -> Steps | None:
        """Return the tree by the most probable rule at each step, of equals the first; None if that fails.

        A computation that comes to the same class of trees twice by unary rules would not end, so it fails.
        """
        configuration, steps, seen = self.start(w), list[Rule](), set[int]()
        while not self.accepts(configuration):
            proposals = self.proposals(configuration)
            if not proposals:
                return None
            steps.append(max(proposals, key=proposals.__getitem__))
            configuration = self.step(configuration, steps[-1])
            top = configuration.stack[-1].tree
            unary = len(steps[-1].children) == 1
            if unary and top in seen:
                return None
            seen = seen | {top} if unary else {top}
        return tuple(steps)

    def computations(self, w: Iterable[str]) -> Iterator[tuple[Steps, float]]:
        """Yield all trees of a string with their probabilities: for short strings and tests.

        Does not end where the oracle lets unary rules run in a circle.
        """
        agenda: list[tuple[Configuration, Steps, float]] = [(self.start(w), (), 1.0)]
        while agenda:
            configuration, steps, probability = agenda.pop()
            if self.accepts(configuration):
                yield steps, probability
                continue
            for rule, p in self.proposals(configuration).items():
                agenda.append((self.step(configuration, rule), (*steps, rule), probability * p))
