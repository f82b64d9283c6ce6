"""The latent-variable grammar of an oracle automaton (section 5): every parser of this kind is a grammar.

A nonterminal A^(ℓ) has as latent symbol ℓ what the automaton knew of the constituent A: the class of the
stack left of it, its own class, and the terminals right of it. The grammar has the same trees as the
automaton (Theorem 1) with the same probabilities (section 7). It is built from those classes alone that the
automaton can meet. Source: Nederhof (2015); where its third rule is corrected, see `Saturation.asked`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from d2c.automata.theory.automaton import END, Automaton
from d2c.automata.theory.classes import Lookahead
from d2c.automata.theory.enumeration import Production, derivations
from d2c.automata.theory.grammars import Rule, Steps, Symbol

TOP = 0  # S†


class Latent(NamedTuple):
    """A nonterminal A^([τ],[t],a): the classes of the stack left of it and of its tree, and what is right."""

    symbol: Symbol
    left: int
    tree: int
    lookahead: Lookahead

    def __str__(self) -> str:
        return f"{self.symbol}^({self.left}, {self.tree}, {' '.join(self.lookahead)})"


class LatentRule(NamedTuple):
    """A rule of the grammar.

    left, right: nonterminals by number; right is empty if it is a terminal
    rule:        the rule of the automaton's grammar, which is what a parse tree shows; None: S† → S^(ℓ)
    weight:      a probability, or another factor of the weight of a tree
    """

    left: int
    right: tuple[int, ...]
    rule: Rule | None
    weight: float

    @property
    def is_shift(self) -> bool:
        """Whether it is A^(ℓ) → a."""
        return not self.right


class LatentGrammar(NamedTuple):
    """An L-CFG, or L-PCFG.

    nonterminals: [N] the first (TOP) is S†, written as None
    rules:        [R]
    """

    nonterminals: Sequence[Latent | None]
    rules: Sequence[LatentRule]

    def trees(self, length: int) -> Iterator[tuple[Steps, float]]:
        """All parse trees with at most `length` tokens, latent symbols forgotten, with their weights."""
        return derivations([Production(*rule) for rule in self.rules], TOP, length)

    def lines(self) -> Iterator[str]:
        """The rules as text, without weights; classes are numbers."""
        names = ["S†", *(str(latent) for latent in self.nonterminals[1:])]
        for left, right, rule, _ in self.rules:
            children = [names[child] for child in right]
            yield f"{names[left]} → {' '.join(children or [str(rule and rule.right)])}"

    def reduced(self) -> LatentGrammar:
        """The grammar without nonterminals that no tree has: unproductive, or not reached from S†."""
        alive = _reachable(_productive(self.rules))
        kept = [TOP, *sorted({rule.left for rule in alive} - {TOP})]
        number = {old: new for new, old in enumerate(kept)}
        rules = [r._replace(left=number[r.left], right=tuple(number[x] for x in r.right)) for r in alive]
        return LatentGrammar([self.nonterminals[old] for old in kept], rules)


def latent_grammar(automaton: Automaton) -> LatentGrammar:
    """The L-PCFG of an automaton, with all that its classes, starting from the empty stack, lead to."""
    saturation = Saturation(automaton)
    saturation.reach(automaton.classes.empty)
    return saturation.grammar()


class _Partial(NamedTuple):
    """A reduction that has found its last children, and looks for the next to the left."""

    rule: Rule
    weight: float
    children: tuple[int, ...]
    lookahead: Lookahead  # right of the last child


class Saturation:
    """Builds the grammar: each nonterminal is an edge from the class of the stack left of it to that with it.

    From each class of stacks that is reached, shifts make edges. A reduction with A → B1…Bk at the end of a
    path of k edges makes a rule, whose nonterminal is an edge from where the path starts. Edges are found
    by (target, symbol, lookahead); reductions that wait for one more child, by that child. Each pair of a
    waiting reduction and a child is joined once, so the run time is linear in the number of rules and their
    parts.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton, self._classes = automaton, automaton.classes
        self._nonterminals: list[Latent | None] = [None]
        self._numbers: dict[Latent, int] = {}
        self._rules: list[LatentRule] = []
        self._reached: set[int] = set()
        self._agenda: list[int] = []  # edges whose consequences are not drawn yet
        self._edges: dict[tuple[int, Symbol, Lookahead], list[int]] = {}
        self._waiting: dict[tuple[int, Symbol, Lookahead], list[_Partial]] = {}
        self._lookaheads = _lookaheads(automaton.grammar.terminals, automaton.classes.lookahead)

    @property
    def stacks(self) -> int:
        """How many classes of stacks were reached."""
        return len(self._reached)

    def grammar(self) -> LatentGrammar:
        """The grammar of all that was reached, S† → S^(ℓ) included."""
        while self._agenda:
            self._draw(self._agenda.pop())
        start = self._automaton.grammar.start
        ended = (END,) * self._classes.lookahead
        tops = [
            LatentRule(TOP, (number,), None, 1.0)
            for latent, number in self._numbers.items()
            if (latent.symbol, latent.left, latent.lookahead) == (start, self._classes.empty, ended)
        ]
        return LatentGrammar(self._nonterminals, tops + self._rules)

    def reach(self, stack: int) -> None:
        """Adds the shifts from a class of stacks: A^([τ],[A(a)],b) → a for every lookahead b."""
        if stack in self._reached:
            return
        self._reached.add(stack)
        for terminal, right in product(self._automaton.grammar.terminals, self._lookaheads):
            ahead = (terminal, *right)[: self._classes.lookahead]
            for rule, weight in self._automaton.oracle(stack, ahead).items():
                if not rule.children:
                    tree = self._classes.trees.leaf(rule.left, terminal)
                    self._add(Latent(rule.left, stack, tree, right), (), rule, weight)

    def asked(self, last: Latent) -> int:
        """The class of stacks about which Ω is asked whether to reduce, given the last child: [τ_k t_k].

        The paper prints Ω(τ_k, a0), but τ_k is what lies left of t_k, and the proof has Ω(τ0 t1…tk, a0).
        """
        return self._classes.push(last.left, last.tree)

    def _draw(self, edge: int) -> None:
        """Draws the consequences of an edge: shifts beyond it, reductions that it goes on with or begins."""
        latent = self._nonterminals[edge]
        assert latent is not None
        target = self._classes.push(latent.left, latent.tree)
        self.reach(target)
        key = target, latent.symbol, latent.lookahead
        self._edges.setdefault(key, []).append(edge)
        for partial in list(self._waiting.get(key, ())):
            self._join(edge, latent, partial)
        for rule, weight in self._automaton.oracle(self.asked(latent), latent.lookahead).items():
            if rule.children[-1:] == (latent.symbol,):
                self._join(edge, latent, _Partial(rule, weight, (), latent.lookahead))

    def _join(self, edge: int, latent: Latent, partial: _Partial) -> None:
        """A reduction with one more child: a rule, if it has all now."""
        rule, weight, children, lookahead = partial
        children = (edge, *children)
        missing = len(rule.children) - len(children)
        if not missing:
            trees = tuple(child.tree for number in children if (child := self._nonterminals[number]))
            tree = self._classes.trees.build(rule.left, trees)
            self._add(Latent(rule.left, latent.left, tree, lookahead), children, rule, weight)
            return
        longer = partial._replace(children=children)
        before = self._classes.before(latent.tree, latent.lookahead)
        key = latent.left, rule.children[missing - 1], before
        self._waiting.setdefault(key, []).append(longer)
        for left in list(self._edges.get(key, ())):
            other = self._nonterminals[left]
            assert other is not None
            self._join(left, other, longer)

    def _add(self, latent: Latent, right: tuple[int, ...], rule: Rule, weight: float) -> None:
        number = self._numbers.setdefault(latent, len(self._nonterminals))
        if number == len(self._nonterminals):
            self._nonterminals.append(latent)
            self._agenda.append(number)
        self._rules.append(LatentRule(number, right, rule, weight))


def _lookaheads(terminals: Sequence[str], length: int) -> list[Lookahead]:
    """All strings of this length of terminals and, behind them, end markers."""
    ended = [product(terminals, repeat=k) for k in range(length + 1)]
    return [(*w, *[END] * (length - len(w))) for strings in ended for w in strings]


def _productive(rules: Sequence[LatentRule]) -> list[LatentRule]:
    """Return the rules that derive terminals."""
    productive, size = set[int](), -1
    while len(productive) > size:
        size = len(productive)
        productive |= {rule.left for rule in rules if productive.issuperset(rule.right)}
    return [rule for rule in rules if productive.issuperset(rule.right)]


def _reachable(rules: Sequence[LatentRule]) -> list[LatentRule]:
    """Return the rules that S† leads to, in their order."""
    by_left: dict[int, list[LatentRule]] = {}
    for rule in rules:
        by_left.setdefault(rule.left, []).append(rule)
    reached, agenda = {TOP}, [TOP]
    while agenda:
        new = {child for rule in by_left.get(agenda.pop(), ()) for child in rule.right} - reached
        reached |= new
        agenda += new
    return [rule for rule in rules if rule.left in reached]
