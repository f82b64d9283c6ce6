"""Systems that build d-trees, by name, each with its static oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from d2c.automata.static_oracles import eager_actions, standard_actions
from d2c.automata.systems import Action, System, arc_eager, arc_standard
from d2c.trees.dtree import DTree


class Transitions(NamedTuple):
    """A way to build d-trees.

    make:    the system for labels of arcs and of roots
    actions: those that build a projective tree, of its heads and labels
    """

    make: Callable[[Iterable[str], Iterable[str]], System]
    actions: Callable[[Sequence[int], Sequence[str]], Iterator[Action]]


SYSTEMS = {
    "standard": Transitions(arc_standard, standard_actions),
    "eager": Transitions(arc_eager, eager_actions),
}


def labels_of(dtrees: Iterable[DTree]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of the arcs of d-trees with labels, and of their roots."""
    found: tuple[set[str], set[str]] = set(), set()
    for dtree in dtrees:
        for head, label in zip(dtree.heads, dtree.labels or (), strict=True):
            found[head == 0].add(label)
    return tuple(sorted(found[0])), tuple(sorted(found[1]))
