"""Grammars of transition systems: bilexical rules of arc-standard and arc-eager parsing; grammars of c-trees.

A step of a parser that shifts and reduces is a rule of a grammar, and the steps of a computation are the
rules of a parse tree, bottom-up and from left to right. So a tree is written here as its steps: a flat
tuple of rules, without recursion, and two trees are equal where their steps are. Source: Nederhof (2015),
sections 2 and 4.

Parsing without a d-parser has rules, too: the steps of `d2c.trees.binarization`. A shift makes a pre-terminal
of a tag, which is the terminal; an attachment is A → B C, a unary step A → B. Unfinished constituents are
hidden nodes: without them a parse tree is the c-tree; with them, it also holds the d-tree. Parsers run
`d2c.automata.systems`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from d2c.automata.static_oracles import constituent_actions
from d2c.automata.systems import ACCEPT, SHIFT
from d2c.trees import binarization
from d2c.trees.binarization import Binarization, Derivation, Step, simple
from d2c.trees.ctree import CTree

LEAF, LEFT, RIGHT = "x", "l", "r"  # kinds: the head word has no arc yet; the last was a left-, a right-arc


class Symbol(NamedTuple):
    """A nonterminal.

    name: A, or Ā where the head word is a right dependent of what lies left of it (arc-eager)
    head: the terminal of the head word, "" in grammars without heads
    kind: LEAF, LEFT or RIGHT. Where head and dependent are the same terminal, it says which is the head.
          In grammars of c-trees: the bar of the binarization's symbol
    hidden: whether it is no node of the c-tree: its children become its parent's
    """

    name: str
    head: str = ""
    kind: str = ""
    hidden: bool = False

    def __str__(self) -> str:
        return self.name + (f"_{self.head}" if self.head else "") + (f"/{self.kind}" if self.kind else "")


class Rule(NamedTuple):
    """A → a (right: the terminal), or A → B1…Bk, k ≥ 1 (right: the symbols; head: the place of the head)."""

    left: Symbol
    right: str | tuple[Symbol, ...]
    head: int = 0

    @property
    def children(self) -> tuple[Symbol, ...]:
        """Return B1…Bk; none if the right-hand side is a terminal."""
        return () if isinstance(self.right, str) else self.right

    def __str__(self) -> str:
        return f"{self.left} → {' '.join(map(str, self.children or [self.right]))}"


class Where(NamedTuple):
    """Where a rule may be proposed: before the end of the input or not, at the bottom of the stack or not.

    None: anywhere. Oracles may always propose less than constraints (1) and (2) allow, so this is no change.
    """

    end: bool | None = None
    bottom: bool | None = None


class CFG(NamedTuple):
    """A context-free grammar (Σ, N, S, R), and where its rules may be proposed.

    S is in no right-hand side.
    """

    terminals: tuple[str, ...]
    start: Symbol
    rules: tuple[Rule, ...]
    where: Mapping[Rule, Where]

    @property
    def longest(self) -> int:
        """Return the greatest number of symbols on a right-hand side."""
        return max(len(rule.children) for rule in self.rules)


Steps = tuple[Rule, ...]  # a tree: its rules, bottom-up, from left to right
START, TOP = Symbol("S"), Symbol("TOP", kind="top")  # of transition systems, of grammars of c-trees
_ENDED = Where(end=True, bottom=True)


def cfg(
    terminals: Iterable[str],
    rules: Iterable[Rule],
    where: Mapping[Rule, Where] | None = None,
    start: Symbol = START,
) -> CFG:
    """Return the grammar of these rules. Rules of its start symbol are proposed for the whole input only."""
    rules = tuple(rules)
    ended = {rule: _ENDED for rule in rules if rule.left == start}
    return CFG(tuple(terminals), start, rules, {**(where or {}), **ended})


def arc_standard(alphabet: Sequence[str]) -> CFG:
    """S → A_a, A_a → a, A_a → A_a A_b (right-arc), A_a → A_b A_a (left-arc)."""
    trees = _trees("A", alphabet)
    rules = [_arc(kind, *pair) for kind in (LEFT, RIGHT) for pair in product(trees, repeat=2)]
    return cfg(alphabet, [*_shifts(alphabet), *rules, *(Rule(START, (tree,)) for tree in trees)])


def arc_eager(alphabet: Sequence[str], restricted: bool = True, late: bool = True) -> CFG:
    """A_a → a, Ā_a → A_a (right-arc), A_a → A_b A_a (left-arc), A_a → A_a Ā_b and Ā_a → Ā_a Ā_b (reduce).

    restricted: a token whose right dependents are there is no longer in the buffer of an arc-eager parser,
    so it takes no part in a right- or left-arc as the token of the buffer. late: it does become a right
    dependent once the input has ended, where the parser would stop dead otherwise. The bar needs a head: it
    is not proposed at the bottom of the stack.
    """
    trees, barred = _trees("A", alphabet), _trees("Ā", alphabet)
    in_buffer = [tree for tree in trees if not (restricted and tree.kind == RIGHT)]
    where = {}
    for tree, bar in zip(trees, barred, strict=True):
        if late or tree in in_buffer:
            where[Rule(bar, (tree,))] = Where(end=None if tree in in_buffer else True, bottom=False)
    rules = [*_shifts(alphabet), *where]
    rules += [_arc(LEFT, head, dependent) for head, dependent in product(in_buffer, trees)]
    rules += [_arc(RIGHT, head, dependent) for head, dependent in product(trees + barred, barred)]
    return cfg(alphabet, rules + [Rule(START, (tree,)) for tree in trees], where)


def _trees(name: str, alphabet: Sequence[str]) -> list[Symbol]:
    return [Symbol(name, head, kind) for head in alphabet for kind in (LEAF, LEFT, RIGHT)]


def _shifts(alphabet: Sequence[str]) -> list[Rule]:
    return [Rule(Symbol("A", a, LEAF), a) for a in alphabet]


def _arc(kind: str, head: Symbol, dependent: Symbol) -> Rule:
    if kind == LEFT:
        return Rule(head._replace(kind=LEFT), (dependent, head), 1)
    return Rule(head._replace(kind=RIGHT), (head, dependent), 0)


def terminals_of(steps: Steps) -> tuple[str, ...]:
    """Return the yield of a tree."""
    return tuple(rule.right for rule in steps if isinstance(rule.right, str))


def heads_of(steps: Steps) -> tuple[int, ...]:
    """Return the d-tree of a parse tree: the head of each token, from 1; 0 for the root.

    Kinds and bars are forgotten.
    """
    heads: list[int] = []
    stack: list[int] = []
    for rule in steps:
        k = len(rule.children)
        if not k:
            heads.append(0)
            stack.append(len(heads))
            continue
        children = stack[-k:]
        del stack[-k:]
        stack.append(children[rule.head])
        for child in children:
            if child != stack[-1]:
                heads[child - 1] = stack[-1]
    return tuple(heads)


def brackets(steps: Steps, kinds: bool = False) -> str:
    """Return a tree as a term, such as S(A_b(A_a(a) A_b(b))); kinds: show kinds, and hidden nodes, too."""
    stack: list[str] = []
    for rule in steps:
        k = len(rule.children)
        children = stack[len(stack) - k :] or [str(rule.right)]
        del stack[len(stack) - k :]
        hidden = not kinds and (rule.left.hidden or (k == 1 and rule.left.name == "Ā"))
        symbol = rule.left if kinds else rule.left._replace(name=rule.left.name.replace("Ā", "A"), kind="")
        stack.append(" ".join(children) if hidden else f"{symbol}({' '.join(children)})")
    return " ".join(stack)


def of_derivations(trees: Iterable[Steps]) -> CFG:
    """Return the grammar with all rules of parse trees by `steps_of`, in their order; tags are terminals."""
    rules = dict.fromkeys(rule for steps in trees for rule in steps)
    return cfg(sorted(r.right for r in rules if isinstance(r.right, str)), rules, start=TOP)


def steps_of(ctree: CTree, scheme: Binarization = simple) -> Steps:
    """Return the parse tree of a c-tree with head children, as the static oracle builds it.

    Raises ValueError for a c-tree with gaps.
    """
    steps: list[Rule] = []
    stack: list[Symbol] = []
    tags = iter(ctree.tokens.tags)
    for kind, _, parent in constituent_actions(ctree, scheme):
        if kind == SHIFT:
            tag = next(tags)
            steps.append(Rule(_symbol(binarization.Symbol(tag, "tag")), tag))
        else:
            k = 2 if kind in (binarization.LEFT, binarization.RIGHT) else 1
            made = TOP if kind == ACCEPT else _symbol(parent)
            steps.append(Rule(made, tuple(stack[-k:]), int(kind == binarization.LEFT)))
            del stack[-k:]
        stack.append(steps[-1].left)
    return tuple(steps)


def derivation_of(steps: Steps) -> Derivation:
    """Return the steps of each token: with `heads_of`, what `papers.shift_reduce.unbinarize` needs."""
    derivation: Derivation = []
    stack: list[int] = []  # the head token of each tree
    for left, right, head in steps:
        if isinstance(right, str):
            stack.append(len(derivation))
            derivation.append([])
            continue
        stack[-len(right) :] = [stack[head - len(right)]]
        if left != TOP:
            kind = (
                binarization.UNARY if len(right) == 1 else binarization.LEFT if head else binarization.RIGHT
            )
            derivation[stack[-1]].append(Step(kind, binarization.Symbol(left.name, left.kind)))
    return derivation


def _symbol(symbol: binarization.Symbol) -> Symbol:
    return Symbol(symbol.label, kind=symbol.bar, hidden=not symbol.is_whole)
