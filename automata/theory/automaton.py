"""Oracle automata: parsers that shift and reduce as an oracle Ω says (sections 3 and 7).

Ω gives rules their probabilities, where the stack and the next K terminals are given. A deterministic oracle
gives one rule probability 1, or none any: then the automaton fails. Ω sees the stack's class and nothing
else of it, so it is consistent with the classes by construction. Source: Nederhof (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from d2c.automata.theory.attributes import Attribute, Path
from d2c.automata.theory.classes import Feature, Lookahead, StackClasses
from d2c.automata.theory.grammars import CFG, Rule, Steps, Symbol, Where

END = "$"
Oracle = Callable[[int, Lookahead], Mapping[Rule, float]]  # [τ], the next K terminals → p > 0 of rules


class Element(NamedTuple):
    """A tree on the stack: its root, the class of the stack left of it, and its own class."""

    symbol: Symbol
    left: int
    tree: int


class Configuration(NamedTuple):
    """(τ, v$): the stack, top last, and what is left of the input, with K end markers."""

    stack: tuple[Element, ...]
    rest: tuple[str, ...]


def classes_for(grammar: CFG, features: Iterable[Feature], lookahead: int = 1) -> StackClasses:
    """Classes of stacks that tell the features, and by which all constraints on an oracle can be obeyed.

    These are the roots of as many trees as the longest right-hand side has symbols, and one more where the
    grammar asks whether there is another tree below.
    """
    bottoms = [len(rule.children) for rule, where in grammar.where.items() if where.bottom is not None]
    depths = range(1, max(grammar.longest, 1 + max(bottoms, default=0)) + 1)
    roots: Attribute = Path()
    return StackClasses([*(Feature(-depth, roots) for depth in depths), *features], lookahead)


class Applicable:
    """The rules that an oracle may propose by constraints (1) and (2), and by the grammar's own."""

    def __init__(self, grammar: CFG, classes: StackClasses) -> None:
        self.grammar, self.classes = grammar, classes
        self._by_right: dict[str | tuple[Symbol, ...], list[Rule]] = {}
        for rule in grammar.rules:
            self._by_right.setdefault(rule.right, []).append(rule)
        self._number = {rule: number for number, rule in enumerate(grammar.rules)}
        self._known: dict[tuple[int, Lookahead], tuple[Rule, ...]] = {}

    def __call__(self, stack: int, lookahead: Lookahead) -> tuple[Rule, ...]:
        """The rules for a class of stacks and a lookahead, by number."""
        known = self._known.get((stack, lookahead))
        if known is None:
            rules = sorted(self._rules(stack, lookahead), key=self._number.__getitem__)
            known = self._known[stack, lookahead] = tuple(rules)
        return known

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
            bottom = self.classes.read(stack, Feature(-depth - 1, Path())) is None
            if bottom != where.bottom:
                return False
        return where.end in (None, ended)


class Automaton(NamedTuple):
    """An oracle automaton for a grammar.

    The classes know the oracle's features; the oracle sees only classes.
    """

    grammar: CFG
    classes: StackClasses
    oracle: Oracle

    def start(self, w: Iterable[str]) -> Configuration:
        """(ε, w$)"""
        return Configuration((), (*w, *[END] * self.classes.lookahead))

    def accepts(self, configuration: Configuration) -> bool:
        """Whether it is (t, $) with root(t) = S."""
        stack, rest = configuration
        return rest[0] == END and len(stack) == 1 and stack[0].symbol == self.grammar.start

    def proposals(self, configuration: Configuration) -> Mapping[Rule, float]:
        """Ω(τ, the next K terminals)"""
        return self.oracle(*self.place(configuration))

    def place(self, configuration: Configuration) -> tuple[int, Lookahead]:
        """What the oracle sees: the class of the stack and the next K terminals."""
        stack, rest = configuration
        return self._class_of(stack), rest[: self.classes.lookahead]

    def step(self, configuration: Configuration, rule: Rule) -> Configuration:
        """The configuration after a shift, or a reduction. The rule is one of the proposals."""
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
        """The tree of a string by the most probable rule at each step, of equals the first; None: it fails.

        A computation that comes to the same class of trees twice by unary rules would not end: it fails, too.
        """
        configuration = self.start(w)
        steps: list[Rule] = []
        seen: set[int] = set()
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
        """All trees of a string with their probabilities: for short strings and tests.

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
