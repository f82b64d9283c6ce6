"""Static oracles: from a gold tree the one sequence of actions that builds it, and back.

Section 4 of Nederhof (2015) has the systems, but leaves open which of several sequences is canonical.
Arc-standard: left-arc as soon as the second tree's head is the top one, right-arc once the top has all its
dependents, otherwise shift. Arc-eager: the same for left-arcs; a token commits itself to the head on its left
once it has its left dependents, and is reduced once it has the right ones. Constituents: the order of the
binarization, each token's steps bottom-up. Linear in the number of actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from d2c.automata.systems import ACCEPT, SHIFT, Action, System, arc_eager, arc_standard
from d2c.trees.binarization import LEFT, RIGHT, UNARY, Binarization, Derivation, Step, binarize, simple
from d2c.trees.ctree import CTree
from d2c.trees.dtree import is_projective, modifiers_of


def standard_actions(heads: Sequence[int], labels: Sequence[str]) -> Iterator[Action]:
    """Yield the actions of arc-standard.

    Raises ValueError for heads ([n] 1..n, 0 = root) of no projective tree.
    """
    _check(heads)
    modifiers = modifiers_of(heads)
    kinds = [[LEFT if m < h else RIGHT for m in below] for h, below in enumerate(modifiers)]
    for kind, _, modifier, _ in _moves(heads, kinds):
        yield Action(kind, "" if modifier is None else labels[modifier])
    yield Action(ACCEPT, labels[heads.index(0)])


def eager_actions(heads: Sequence[int], labels: Sequence[str]) -> Iterator[Action]:
    """Yield the actions of arc-eager; arguments and errors as in `standard_actions`."""
    _check(heads)
    stack: list[int] = []
    missing = [sum(m > h for m in below) for h, below in enumerate(modifiers_of(heads))]
    for token, head in enumerate(heads):
        yield Action(SHIFT)
        while stack and heads[stack[-1]] == token + 1:
            yield Action(LEFT, labels[stack.pop()])
        stack.append(token)
        if 0 < head <= token:
            yield Action(UNARY, labels[token])
        while 0 < heads[stack[-1]] <= stack[-1] and not missing[stack[-1]]:
            stack.pop()
            missing[stack[-1]] -= 1
            yield Action(RIGHT)
    yield Action(ACCEPT, labels[heads.index(0)])


def constituent_actions(ctree: CTree, scheme: Binarization = simple) -> Iterator[Action]:
    """Yield the actions that build a c-tree with head children. Raises ValueError for one with gaps."""
    if not ctree.is_continuous():
        raise ValueError("a c-tree with gaps is not built from left to right")
    heads, derivation = binarize(ctree, scheme)
    assert derivation is not None, "trees without gaps are nested"
    for kind, head, _, step in _moves(heads, [[step.kind for step in steps] for steps in derivation]):
        yield Action(kind) if kind == SHIFT else Action(kind, parent=derivation[head][step].parent)
    yield Action(ACCEPT)


class Built(NamedTuple):
    """What actions have built over n tokens; only d-trees need the labels, only c-trees the derivation.

    heads:      [n] 1..n, 0 = root
    labels:     [n] of the arcs
    derivation: [n] the steps of each token, in c-trees with their parents
    """

    heads: list[int]
    labels: list[str]
    derivation: Derivation


def built(actions: Iterable[Action]) -> Built:
    """Return what a sequence of applicable actions builds: the inverse of the static oracles."""
    result, stack = Built([], [], []), list[int]()
    for kind, label, parent in actions:
        if kind == SHIFT:
            stack.append(len(result.heads))
            result.heads.append(0)
            result.labels.append("")
            result.derivation.append([])
            continue
        token = stack.pop(-2 if kind == LEFT else -1)  # the dependent; otherwise the top, which stays
        if kind in (LEFT, RIGHT):
            result.heads[token] = stack[-1] + 1
        else:
            stack.append(token)
        if label:
            result.labels[token] = label
        if kind != ACCEPT:
            result.derivation[stack[-1]].append(Step(kind, parent))
    return result


class _Move(NamedTuple):
    """An action's kind; the token shifted, or the head of what it makes; the dependent; the number of steps
    that made something of this head before."""

    kind: int
    head: int
    modifier: int | None
    step: int


def _moves(heads: Sequence[int], kinds: Sequence[Sequence[int]]) -> Iterator[_Move]:
    """Yield for each token its shift, then all steps of tokens on the stack that are possible by then.

    kinds: [n] of the steps of each token, in order

    The heads are those of a projective tree; closer dependents on a side are taken first.
    """
    stack: list[int] = []
    done = [0] * len(heads)
    for token in range(len(heads)):
        yield _Move(SHIFT, token, None, 0)
        stack.append(token)
        while True:
            top, modifier = stack[-1], None
            kind = kinds[top][done[top]] if done[top] < len(kinds[top]) else None
            if kind is None and 0 < heads[top] <= top:  # complete: what it depends on is below
                kind, modifier = RIGHT, stack.pop()
            elif kind == LEFT:
                modifier = stack.pop(-2)
            elif kind != UNARY:
                break
            done[stack[-1]] += 1
            yield _Move(kind, stack[-1], modifier, done[stack[-1]] - 1)


def _check(heads: Sequence[int]) -> None:
    """Raise ValueError where no sequence of actions builds the tree."""
    if not is_projective(heads):
        raise ValueError("a d-tree with crossing arcs is not built from left to right; projectivize it first")


class Transitions(NamedTuple):
    """A way to build d-trees.

    make:    returns the system for labels of arcs and of roots
    actions: returns those that build a projective tree with these heads and labels
    """

    make: Callable[[Iterable[str], Iterable[str]], System]
    actions: Callable[[Sequence[int], Sequence[str]], Iterator[Action]]


SYSTEMS = {
    "standard": Transitions(arc_standard, standard_actions),
    "eager": Transitions(arc_eager, eager_actions),
}
