"""The classes of trees: what an action makes of those of the trees that it takes."""

from __future__ import annotations

import numpy as np

from d2c.automata.states import ATTRIBUTES, HEAD, L1, LEFTS, MOST, R1, RIGHTS, attach
from d2c.automata.systems import Action, Tables, arc_standard
from d2c.base.arrays import Longs
from d2c.learning.kernels import kernel
from d2c.trees.binarization import LEFT, RIGHT

SYSTEM = arc_standard(["a", "b"], ["root"])


@kernel
def attached(tables: Tables, action: int, head: Longs, other: Longs) -> None:
    attach(tables, action, head, other)


def test_the_two_outermost_dependents_are_kept_on_each_side() -> None:
    tree, labels = np.zeros(ATTRIBUTES, np.int64), SYSTEM.labels
    tree[HEAD] = 9
    steps = (
        (LEFT, "a", 8),
        (RIGHT, "b", 10),
        (LEFT, "b", 7),
        (LEFT, "a", 5),
        (RIGHT, "a", 12),
        (LEFT, "a", 3),
    )
    for kind, label, token in steps:
        other = np.zeros(ATTRIBUTES, np.int64)
        other[HEAD] = token
        attached(SYSTEM.tables, SYSTEM.actions.index(Action(kind, label)), tree, other)
    a, b = labels.index("a"), labels.index("b")
    assert tree[L1 : L1 + 4].tolist() == [3, a, 5, a] and tree[R1 : R1 + 4].tolist() == [12, a, 10, b]
    assert (tree[HEAD], tree[LEFTS], tree[RIGHTS]) == (9, MOST, 2)
