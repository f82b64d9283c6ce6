"""Grammars of c-trees: parsing without a d-parser as rules (sections 2 and 4 of Nederhof, 2015).

The steps of `d2c.trees.binarization` are rules: a shift makes a pre-terminal of a tag, a terminal; an
attachment is A → B C, a unary step A → B. Parts of constituents are hidden, so without them a parse tree is
the c-tree; with them, it says the d-tree, too. `d2c.automata.systems.constituents` is what parsers run.
"""

from __future__ import annotations

from collections.abc import Iterable

from d2c.automata.static_oracles import constituent_actions
from d2c.automata.systems import ACCEPT, SHIFT
from d2c.automata.theory import grammars
from d2c.automata.theory.grammars import CFG, Rule, Steps, cfg
from d2c.trees.binarization import LEFT, RIGHT, UNARY, Binarization, Derivation, Step, Symbol, simple
from d2c.trees.ctree import CTree

TOP = grammars.Symbol("TOP", kind="top")  # the kind of all others is the bar of the binarization's symbol


def of_derivations(trees: Iterable[Steps]) -> CFG:
    """The grammar with all rules of these parse trees, which `steps_of` has made; terminals are their tags.

    Rules are in the order in which the trees have them.
    """
    rules = dict.fromkeys(rule for steps in trees for rule in steps)
    return cfg(sorted(r.right for r in rules if isinstance(r.right, str)), rules, start=TOP)


def steps_of(ctree: CTree, scheme: Binarization = simple) -> Steps:
    """The parse tree of a c-tree with head children, as the static oracle builds it.

    Raises ValueError for one with gaps.
    """
    steps: list[Rule] = []
    stack: list[grammars.Symbol] = []
    tags = iter(ctree.tokens.tags)
    for kind, _, parent in constituent_actions(ctree, scheme):
        if kind == SHIFT:
            tag = next(tags)
            steps.append(Rule(_symbol(Symbol(tag, "tag")), tag))
        else:
            k = 2 if kind in (LEFT, RIGHT) else 1
            made = TOP if kind == ACCEPT else _symbol(parent)
            steps.append(Rule(made, tuple(stack[-k:]), int(kind == LEFT)))
            del stack[-k:]
        stack.append(steps[-1].left)
    return tuple(steps)


def derivation_of(steps: Steps) -> Derivation:
    """The steps of each token: with `grammars.heads_of`, what `d2c.trees.binarization.unbinarize` needs."""
    derivation: Derivation = []
    stack: list[int] = []  # the head token of each tree
    for left, right, head in steps:
        if isinstance(right, str):
            stack.append(len(derivation))
            derivation.append([])
            continue
        children = stack[-len(right) :]
        del stack[-len(right) :]
        stack.append(children[head])
        if left != TOP:
            kind = UNARY if len(right) == 1 else LEFT if head else RIGHT
            derivation[stack[-1]].append(Step(kind, Symbol(left.name, left.kind)))
    return derivation


def _symbol(symbol: Symbol) -> grammars.Symbol:
    return grammars.Symbol(symbol.label, kind=symbol.bar, hidden=not symbol.is_whole)
