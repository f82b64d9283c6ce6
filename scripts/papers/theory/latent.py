"""The latent-variable grammar of an oracle automaton (section 5): every parser of this kind is a grammar.

A nonterminal A^(ℓ) has as latent symbol ℓ what the automaton knew of the constituent A: the class of the
stack left of it, its own class, and the terminals right of it. The grammar has the same trees as the
automaton (Theorem 1) with the same probabilities (section 7). It is built only from classes that the
automaton can meet. Source: Nederhof (2015), whose third rule `Saturation.asked` corrects.

The grammar is made proper (section 7) with a factor that the paper leaves out: an automaton gives each string
a distribution of trees, so the weights of all trees of all strings add up to the number of strings, infinity.
With a factor ρ < 1/|Σ| on each shift the trees of a string keep their proportions, and the sum is x/(1 - x),
where x = |Σ|ρ, if no state is dead. Then weights are turned into probabilities as in Chi (1999), "Statistical
properties of probabilistic context-free grammars".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from papers.theory.automaton import END, Automaton, Lookahead
from papers.theory.grammars import CFG, Rule, Steps, Symbol

TOP = 0  # S†
_PASSES = 100_000
_CLOSE = 1e-15  # a change in one pass, relative to the greatest sum

Nonterminal = TypeVar("Nonterminal", bound=Hashable)
Trees = list[tuple[Steps, float]]  # with their weights


class Latent(NamedTuple):
    """A nonterminal A^([τ],[t],a): the classes of the stack left of it and of its tree; the lookahead."""

    symbol: Symbol
    left: int
    tree: int
    lookahead: Lookahead

    def __str__(self) -> str:
        return f"{self.symbol}^({self.left}, {self.tree}, {' '.join(self.lookahead)})"


class Production(NamedTuple, Generic[Nonterminal]):
    """A rule of a grammar with weights.

    left, right: nonterminals; right is empty if the right-hand side is a terminal
    rule:        the step that it adds to a parse tree, if any
    weight:      a probability, or another factor of the weight of a tree
    """

    left: Nonterminal
    right: tuple[Nonterminal, ...]
    rule: Rule | None
    weight: float


LatentRule = Production[int]  # nonterminals by number; rule: of the automaton's grammar, None: S† → S^(ℓ)


class LatentGrammar(NamedTuple):
    """An L-CFG, or L-PCFG.

    nonterminals: [N] the first (TOP) is S†, written as None
    rules:        [R]
    """

    nonterminals: Sequence[Latent | None]
    rules: Sequence[LatentRule]

    def trees(self, length: int) -> Iterator[tuple[Steps, float]]:
        """Yield all parse trees of at most `length` tokens, latent symbols forgotten, with their weights."""
        return derivations(self.rules, TOP, length)

    def lines(self) -> Iterator[str]:
        """Yield the rules as text, without weights; classes are numbers."""
        names = ["S†", *(str(latent) for latent in self.nonterminals[1:])]
        for left, right, rule, _ in self.rules:
            children = [names[child] for child in right]
            yield f"{names[left]} → {' '.join(children or [str(rule and rule.right)])}"

    def reduced(self) -> LatentGrammar:
        """Return the grammar without nonterminals that no tree has: unproductive, or not reached from S†."""
        alive = _reachable(_productive(self.rules))
        kept = [TOP, *sorted({rule.left for rule in alive} - {TOP})]
        number = {old: new for new, old in enumerate(kept)}
        rules = [r._replace(left=number[r.left], right=tuple(number[x] for x in r.right)) for r in alive]
        return LatentGrammar([self.nonterminals[old] for old in kept], rules)


def latent_grammar(automaton: Automaton) -> LatentGrammar:
    """Return the L-PCFG of an automaton: all that its classes, from the empty stack on, lead to."""
    saturation = Saturation(automaton)
    saturation.reach(automaton.classes.empty)
    return saturation.grammar()


class _Partial(NamedTuple):
    """A reduction that has found some of its last children and looks for the next one to the left."""

    rule: Rule
    weight: float
    children: tuple[int, ...]
    lookahead: Lookahead  # right of the last child


class Saturation:
    """Builds the grammar: a nonterminal is an edge from the class of the stack left of it to the one with it.

    From each class of stacks that is reached, shifts make edges. A reduction with A → B1…Bk at the end of a
    path of k edges makes a rule, whose left-hand side is an edge from where the path starts. Edges are found
    by (target, symbol, lookahead); reductions that wait for one more child, by that of the child. Each pair
    of a waiting reduction and a child is joined once, so the run time is linear in the number of rules and
    their parts.
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
        """Return how many classes of stacks were reached."""
        return len(self._reached)

    def grammar(self) -> LatentGrammar:
        """Return the grammar of all that was reached, S† → S^(ℓ) included."""
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
        """Add the shifts from a class of stacks: A^([τ],[A(a)],b) → a for every lookahead b."""
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
        """Return the class of stacks for which Ω says whether to reduce, given the last child: [τ_k t_k].

        The paper prints Ω(τ_k, a0), but τ_k is what lies left of t_k, and the proof has Ω(τ0 t1…tk, a0).
        """
        return self._classes.push(last.left, last.tree)

    def _draw(self, edge: int) -> None:
        """Draw the consequences of an edge: shifts beyond it, and reductions that it continues or begins."""
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
        """Add one more child to a reduction, and a rule to the grammar if that was the last one missing."""
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
    """Return all strings of this length that are terminals and then end markers."""
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


def parse_trees(grammar: CFG, length: int) -> Iterator[Steps]:
    """Yield all parse trees of a grammar with at most `length` tokens. ValueError: see `derivations`."""
    productions = [Production(rule.left, rule.children, rule, 1.0) for rule in grammar.rules]
    return (steps for steps, _ in derivations(productions, grammar.start, length))


def derivations(
    productions: Sequence[Production[Nonterminal]], start: Nonterminal, length: int
) -> Iterator[tuple[Steps, float]]:
    """Yield all trees of a nonterminal with at most `length` tokens, with their weights.

    The trees of each nonterminal with each number of tokens are enumerated once; they are exponentially many.
    Raises ValueError where unary rules run in a circle, so that there are infinitely many.
    """
    by_left: dict[Nonterminal, list[Production[Nonterminal]]] = {}
    for production in productions:
        by_left.setdefault(production.left, []).append(production)
    known: dict[tuple[Nonterminal, int], Trees | None] = {}  # None: being enumerated

    def trees(left: Nonterminal, n: int) -> Trees:
        if (left, n) not in known:
            known[left, n] = None
            known[left, n] = [tree for rule in by_left.get(left, ()) for tree in _trees_by(rule, n, trees)]
        if (found := known[left, n]) is None:
            raise ValueError("the unary rules run in a circle: there are infinitely many trees")
        return found

    for n in range(1, length + 1):
        yield from trees(start, n)


def _trees_by(
    production: Production[Nonterminal], n: int, trees: Callable[[Nonterminal, int], Trees]
) -> Iterator[tuple[Steps, float]]:
    """Yield the trees of n tokens with this rule at the root."""
    step = () if production.rule is None else (production.rule,)
    if not production.right and n == 1:
        yield step, production.weight
    for lengths in _compositions(n, len(production.right)):
        parts = list[Trees]()
        for part in zip(production.right, lengths, strict=True):
            if not (of_part := trees(*part)):
                break
            parts.append(of_part)
        else:
            for children in product(*parts):
                steps: Steps = ()
                weight = production.weight
                for child, factor in children:
                    steps, weight = steps + child, weight * factor
                yield steps + step, weight


@cache
def _compositions(n: int, k: int) -> list[tuple[int, ...]]:
    """Return all ways to write n as a sum of k positive numbers."""
    if k < 2:
        return [(n,)] if k and n else []
    return [(first, *rest) for first in range(1, n) for rest in _compositions(n - first, k - 1)]


def damped(grammar: LatentGrammar, rho: float) -> LatentGrammar:
    """Return the grammar with the factor rho on the weight of each shift.

    Raises ValueError where rho is not between 0 and 1/|Σ|, so that the sum over all strings may be infinite.
    """
    terminals = {rule.rule.right for rule in grammar.rules if rule.rule and not rule.right}
    if not 0 < rho < 1 / len(terminals):
        raise ValueError(f"rho is {rho}; it must be above 0 and below 1/|Σ| = {1 / len(terminals):.4g}")
    rules = [r._replace(weight=r.weight * rho) if not r.right else r for r in grammar.rules]
    return LatentGrammar(grammar.nonterminals, rules)


def partition(grammar: LatentGrammar) -> NDArray[np.float64]:
    """Return [N] Z(A): the sum of the weights of all trees of each nonterminal, by fixed-point iteration.

    Raises ValueError where it does not converge (see `damped`).
    """
    n = len(grammar.nonterminals)
    left, children, weights = _arrays(grammar)
    z = np.zeros(n + 1)
    z[n] = 1.0  # where a rule has fewer children than others
    for _ in range(_PASSES):
        with np.errstate(over="ignore"):
            new = np.bincount(left, weights * z[children].prod(axis=1), minlength=n)
        if not np.isfinite(new).all():
            break
        change, z[:n] = np.abs(new - z[:n]).max(), new
        if change <= _CLOSE * new.max():
            return z[:n]
    raise ValueError("the weights of all trees do not add up to a number")


def proper(grammar: LatentGrammar) -> LatentGrammar:
    """Return the grammar whose weights add up to 1 for each left-hand side: p(r) Π Z(B_i) / Z(A).

    Nonterminals without trees are left out, and rules with them. Raises ValueError where no tree has any
    weight, and as `partition`.
    """
    grammar = LatentGrammar(grammar.nonterminals, [r for r in grammar.rules if r.weight > 0]).reduced()
    if not grammar.rules:
        raise ValueError("the grammar has no trees")
    z = partition(grammar)
    left, children, weights = _arrays(grammar)
    weights = weights * np.append(z, 1.0)[children].prod(axis=1) / z[left]
    rules = [r._replace(weight=float(weight)) for r, weight in zip(grammar.rules, weights, strict=True)]
    return LatentGrammar(grammar.nonterminals, rules)


def total(grammar: LatentGrammar) -> float:
    """Return Z(S†)."""
    return float(partition(grammar)[TOP])


def _arrays(grammar: LatentGrammar) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return [R] left-hand sides, [R, k] children, padded with N, [R] weights."""
    longest = max((len(rule.right) for rule in grammar.rules), default=0)
    children = np.full((len(grammar.rules), longest), len(grammar.nonterminals), dtype=np.int64)
    for row, rule in zip(children, grammar.rules, strict=True):
        row[: len(rule.right)] = rule.right
    left = np.array([rule.left for rule in grammar.rules], dtype=np.int64)
    return left, children, np.array([rule.weight for rule in grammar.rules])
