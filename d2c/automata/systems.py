"""Transition systems as tables of actions, which kernels run and charts search.

Section 4 of Nederhof (2015): the rules of a system are those of a grammar. An *action* stands for all rules
of one kind and one label, or parent: it takes the tree on top of the stack, with or without the second one,
and makes a tree of a new symbol. One of the trees is the *head*: its head token is that of the new tree. The
*other* tree becomes a dependent; where an action takes only one tree, the *other* is what stands below this.

    SHIFT           the next token becomes a tree           other: the top
    LEFT, RIGHT     head: the top, or the second tree       other: the dependent
    UNARY           head: the top                           other: the second tree
    ACCEPT          head: the only tree, all tokens taken   other: nothing

LEFT, RIGHT and UNARY are those of `d2c.trees.binarization`. Which actions apply depends on the classes of the
two topmost symbols, on whether tokens are left, and on how many unary steps in a row there were: of these a
table is made once. In the three systems here, no stack that actions have made is dead: there always is an
action until the tree is accepted. `d2c.automata.static_oracles` gives the actions of a gold tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np

from d2c.base.arrays import Bools, Longs
from d2c.trees.binarization import GLUE, LEFT, RIGHT, UNARY, Step, Symbol

SHIFT, ACCEPT, KINDS = 3, 4, 5
NOTHING, GOAL = 0, 1  # numbers of what is below the stack, and of the symbol that only ACCEPT makes
_MOST = 1 << 25  # cells of the table of results, 256 MB
UNKNOWN_TAG = Symbol("", "tag")  # of tokens whose tags were not in the treebank

Item = TypeVar("Item")


class Action(NamedTuple):
    """An action. Actions are ordered by their kinds, then by labels or parents.

    label:  of the arc that it makes or promises (arc-eager), or of the root that it accepts
    parent: symbol of the new tree, where it is a constituent
    """

    kind: int
    label: str = ""
    parent: Symbol = Symbol("")


class Tables(NamedTuple):
    """A system for kernels: A actions, S symbols (NOTHING and GOAL are two), C classes of symbols.

    kinds:   [A] of each action
    begin:   [KINDS + 1] where the actions of each kind begin
    results: [S, A] the symbol of what an action makes of a head; not used for SHIFT, which makes a leaf
    arcs:    [A] number of the label that an action gives its dependent (ACCEPT: the root); 0: that which the
             dependent's symbol says
    labels:  [S] number of the label that a symbol says
    classes: [S] the class of each symbol
    rows:    [2, 2, C, C] which of the masks holds: tokens left or none; fewer unary steps than `unaries`
             since the last other step, or as many; class of the second tree; class of the top
    masks:   [R, A] whether an action applies
    open:    [R, KINDS] whether any of a kind applies
    unaries: how many unary steps may follow each other
    """

    kinds: Longs
    begin: Longs
    results: Longs
    arcs: Longs
    labels: Longs
    classes: Longs
    rows: Longs
    masks: Bools
    open: Bools
    unaries: int


@dataclass(frozen=True, eq=False)
class System:
    """A transition system.

    symbols: [S] by number, None for NOTHING
    labels:  of arcs, by number; "" has the number 0: no label
    actions: [A]
    """

    symbols: tuple[Symbol | None, ...]
    labels: tuple[str, ...]
    actions: tuple[Action, ...]
    tables: Tables

    @cached_property
    def leaves(self) -> dict[str, int]:
        """Return the symbols of shifted tokens by tag; "" stands for all other tags, in d-trees for all."""
        return {one.label: i for i, one in enumerate(self.symbols) if one is not None and one.is_tag}

    def leaf(self, tag: str) -> int:
        """Return the symbol of a shifted token."""
        return self.leaves.get(tag, self.leaves[""])

    @cached_property
    def number_of(self) -> dict[Action, int]:
        """Return the numbers of actions."""
        return {action: number for number, action in enumerate(self.actions)}


def arc_standard(labels: Iterable[str], roots: Iterable[str]) -> System:
    """Return arc-standard: a head takes its dependents from itself outward, left and right in any order.

    labels, roots: those of arcs, and those of the root; so in all systems of d-trees. A symbol says what the
    last action made: a leaf, or a tree by a left-arc (l) or by a right-arc (r). Raises ValueError where there
    is no label of arcs, or of roots.
    """
    labels, roots = _some(labels), _some(roots)
    actions = [Action(kind, label) for kind in (LEFT, RIGHT) for label in labels]
    rules = _Rules(lambda action, head: _KIND[action.kind], lambda action, other: True)
    return _system((UNKNOWN_TAG, *_KIND.values()), actions, roots, rules)


def arc_eager(labels: Iterable[str], roots: Iterable[str]) -> System:
    """Return arc-eager: a token may commit itself to the head below it before it takes its right dependents.

    UNARY is that commitment, which says the label (the new symbol has a bar and this label), and RIGHT is the
    reduction that makes the arc. Only a token without right dependents (not r) may commit itself or take left
    ones, as it is still in the buffer of an arc-eager parser; so few d-trees have two derivations (of three,
    four and five words, 7, 30 and 143 d-trees have 8, 38 and 196). Only at the end of the sentence may all
    tokens commit themselves: otherwise some stacks would be dead.
    """
    labels, roots = _some(labels), _some(roots)
    actions = [Action(LEFT, label) for label in labels] + [Action(RIGHT)]
    actions += [Action(UNARY, label) for label in labels]

    def result(action: Action, head: Symbol) -> Symbol | None:
        if action.kind == RIGHT:
            return _KIND[RIGHT] if head.is_whole else head
        if action.kind == UNARY:
            return Symbol(action.label, "bar") if head.is_whole else None
        return _KIND[LEFT] if head.is_whole and head != _KIND[RIGHT] else None

    def beside(action: Action, other: Symbol) -> bool:
        return action.kind == UNARY or other.is_whole == (action.kind == LEFT)

    def late(action: Action, head: Symbol) -> bool:
        return action.kind == UNARY and head == _KIND[RIGHT]

    symbols = (UNKNOWN_TAG, *_KIND.values(), *(Symbol(label, "bar") for label in labels))
    return _system(symbols, actions, roots, _Rules(result, beside, late, below=True))


def constituents(steps: Iterable[Step], tags: Iterable[str], unaries: int = 3) -> System:
    """Return bottom-up parsing with a binarized grammar: all steps of a treebank's derivations, and its tags.

    A part of a constituent goes on with steps to parents of its own label, and only whole constituents and
    pre-terminals are dependents. Steps that are not in the treebank are added where stacks would be dead
    without them: steps that end a part, with a dependent on the left or on the right, and at the end of the
    sentence alone without a dependent.
    """
    seen = set(_some(steps))
    chains = {parent for kind, parent in seen if kind == UNARY} or {parent for _, parent in seen}
    whole = {Symbol(parent.label) for _, parent in seen}
    actions = seen | {Step(kind, parent) for kind in (LEFT, RIGHT, UNARY) for parent in whole}

    def result(action: Action, head: Symbol) -> Symbol | None:
        parent = action.parent
        if action.kind == UNARY:
            return parent if (parent in chains if head.is_whole else parent == Symbol(head.label)) else None
        if parent.bar == GLUE and not head.is_tag:
            return head if head.label == parent.label else None
        parent = Symbol(parent.label) if parent.bar == GLUE else parent
        return parent if head.is_whole or head.label == parent.label else None

    def late(action: Action, head: Symbol) -> bool:
        return action.kind == UNARY and not head.is_whole

    rules = _Rules(
        result, lambda action, other: action.kind == UNARY or other.is_whole, late, lambda one: not one.is_tag
    )
    symbols = [UNKNOWN_TAG, *(Symbol(tag, "tag") for tag in sorted(set(tags) - {""}))]
    symbols += sorted(whole | {parent for _, parent in seen if parent.bar != GLUE})
    return _system(
        symbols, [Action(kind, "", parent) for kind, parent in sorted(actions)], [""], rules, unaries
    )


_KIND = {LEFT: Symbol("l"), RIGHT: Symbol("r")}


class _Rules(NamedTuple):
    """What LEFT, RIGHT and UNARY make of a head, whether they take what is beside it, which heads they take
    at the end of the sentence alone, and which symbols are accepted, if whole.

    below: whether UNARY needs a tree below the top
    """

    result: Callable[[Action, Symbol], Symbol | None]
    beside: Callable[[Action, Symbol], bool]
    late: Callable[[Action, Symbol], bool] = lambda action, head: False
    accepts: Callable[[Symbol], bool] = lambda symbol: True
    below: bool = False


def _some(items: Iterable[Item]) -> list[Item]:
    """Return items sorted, each once. Raises ValueError where there is none: stacks would be dead."""
    if not (found := sorted(set(items))):  # type: ignore[type-var]
        raise ValueError("a system needs labels of arcs and of roots, or steps")
    return found


def _system(
    symbols: Sequence[Symbol], steps: Sequence[Action], roots: Iterable[str], rules: _Rules, unaries: int = 1
) -> System:
    """Return the system of some steps, SHIFT and ACCEPT. Neither symbols nor steps come twice.

    Raises ValueError where they are too many.
    """
    accepting = [Action(ACCEPT, root) for root in roots]
    actions = (*sorted(steps, key=lambda action: action.kind), Action(SHIFT), *accepting)
    labels = sorted({one.label for one in symbols} | {one.label for one in actions} | {""})
    place = {label: number for number, label in enumerate(labels)}
    kinds = np.array([action.kind for action in actions])
    shape = len(symbols) + 2, len(actions)
    if prod(shape) > _MOST:
        raise ValueError(f"{shape[0]:,} symbols and {shape[1]:,} actions are too many for such a system")
    results, beside, late = np.zeros(shape, np.int64), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    number_of: dict[Symbol | None, int] = {None: NOTHING}
    number_of |= {symbol: number for number, symbol in enumerate(symbols, GOAL + 1)}
    for number, symbol in enumerate(symbols, GOAL + 1):
        results[number, : len(steps)] = [number_of[rules.result(action, symbol)] for action in steps]
        beside[number, : len(steps)] = [rules.beside(action, symbol) for action in steps]
        late[number, : len(steps)] = [rules.late(action, symbol) for action in steps]
        results[number, kinds == ACCEPT] = GOAL if symbol.is_whole and rules.accepts(symbol) else NOTHING
    results[:, kinds == SHIFT] = GOAL  # not looked at: what is shifted does not depend on the top
    beside[:, kinds == SHIFT] = True
    beside[NOTHING] = (kinds == SHIFT) | (kinds == ACCEPT) | ((kinds == UNARY) & (not rules.below))
    fits, classes = np.unique(np.stack([results > 0, beside, late], 1), axis=0, return_inverse=True)
    rows, masks = _masks(kinds, fits)
    begin = np.searchsorted(kinds, np.arange(KINDS + 1))
    tables = Tables(
        kinds,
        begin,
        results,
        np.array([place[action.label] for action in actions]),
        np.array([0, 0, *(place[symbol.label] for symbol in symbols)]),
        classes.reshape(-1),
        rows,
        masks,
        np.array([[mask[low:high].any() for low, high in pairwise(begin)] for mask in masks]),
        unaries,
    )
    return System((None, None, *symbols), tuple(labels), actions, tables)


def _masks(kinds: Longs, fits: Bools) -> tuple[Longs, Bools]:
    """Return `rows` and `masks` of the tables.

    kinds: [A] of the actions
    fits:  [C, 3, A] whether a symbol of a class is a head, is taken beside it, and is a head at the end alone
    """
    heads, others, late = (fits[:, i] for i in range(3))
    each, masks = np.arange(len(kinds)), []
    for at_end, spent, second, top in np.ndindex(2, 2, len(fits), len(fits)):
        head, other = np.where(kinds == RIGHT, second, top), np.where(kinds == RIGHT, top, second)
        mask = heads[head, each] & others[other, each]
        mask &= kinds != SHIFT if at_end else (kinds != ACCEPT) & ~late[head, each]
        masks.append(mask & (kinds != UNARY) if spent else mask)
    kept, rows = np.unique(np.array(masks), axis=0, return_inverse=True)
    return rows.reshape(2, 2, len(fits), len(fits)), kept
