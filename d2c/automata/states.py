"""Classes of trees as rows of numbers, computed bottom-up: what kernels keep beside stack elements.

Section 3 of Nederhof (2015) asks that the class of A(t1 ... tk) follows from A and the classes of the ti.
Here each attribute of a new tree is computed from the action and the attributes of the trees that it takes
(`leaf`, `attach`, `promote`): so this holds by construction, and so does the consistency of an oracle that
sees classes only. The terminals of a sentence are its tokens with their positions: attributes hold positions,
of which features see words, tags and distances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2c.automata.systems import SHIFT, Tables
from d2c.base.arrays import Ints, Longs
from d2c.learning.kernels import lean
from d2c.trees.binarization import LEFT, RIGHT

# Attributes, one column each: the symbol, unary steps since the last other step, position of the head token,
# numbers of left and right dependents, at most MOST; the outermost left dependent's position and label, those
# of the next one inside, and the same on the right. Position 0: there is none.
ATTRIBUTES = 13
SYMBOL, LEVEL, HEAD, LEFTS, RIGHTS, L1, L1_LABEL, L2, L2_LABEL, R1, R1_LABEL, R2, R2_LABEL = range(ATTRIBUTES)
MOST = 3
AHEAD = 3  # tokens ahead that features see; so many positions behind a sentence are empty


class Text(NamedTuple):
    """Sentences in a row, each with AHEAD empty positions behind it. Position 0 is empty, too.

    words, tags: [positions] numbers, 0 in empty ones
    morphs:      [positions] of their morphology, 0 also where there is none
    leaves:      [positions] symbols of the trees that tokens become when they are shifted
    begin:       [sentences] first position of each
    lengths:     [sentences]
    """

    words: Ints
    tags: Ints
    morphs: Ints
    leaves: Ints
    begin: Longs
    lengths: Longs


BOTTOM = 2  # a stack is an array [rows, ATTRIBUTES]; its first rows are empty: NOTHING, three times


def new_stack(text: Text) -> Longs:
    """Return [rows, ATTRIBUTES] an empty stack with room for any sentence of a text; its top: row BOTTOM."""
    return np.zeros((BOTTOM + 1 + int(text.lengths.max(initial=0)), ATTRIBUTES), np.int64)


@lean
def row_of(tables: Tables, second: Longs, top: Longs, left: int) -> int:
    """Return the row of `masks` and `open` that says which actions apply to two trees, [ATTRIBUTES] each,
    with `left` tokens left."""
    spent = int(top[LEVEL] >= tables.unaries)
    classes = tables.classes
    return tables.rows[int(left == 0), spent, classes[second[SYMBOL]], classes[top[SYMBOL]]]


@lean
def leaf(symbol: int, token: int, tree: Longs) -> None:
    """Write the class of a shifted token, [ATTRIBUTES]."""
    for i in range(ATTRIBUTES):
        tree[i] = 0
    tree[SYMBOL], tree[HEAD] = symbol, token


@lean
def attach(tables: Tables, action: int, head: Longs, other: Longs) -> None:
    """Turn a head's class, [ATTRIBUTES], into that of the tree that a LEFT or RIGHT action makes."""
    label = tables.arcs[action] if tables.arcs[action] else tables.labels[other[SYMBOL]]
    side, count = (L1, LEFTS) if tables.kinds[action] == LEFT else (R1, RIGHTS)
    head[side + 2], head[side + 3] = head[side], head[side + 1]
    head[side], head[side + 1] = other[HEAD], label
    head[count] = min(head[count] + 1, MOST)
    head[SYMBOL], head[LEVEL] = tables.results[head[SYMBOL], action], 0


@lean
def promote(tables: Tables, action: int, tree: Longs) -> None:
    """Turn a tree's class, [ATTRIBUTES], into that of the tree that a UNARY or ACCEPT action makes."""
    tree[SYMBOL] = tables.results[tree[SYMBOL], action]
    tree[LEVEL] += 1


@lean
def take(tables: Tables, text: Text, trees: Longs, top: int, action: int, token: int) -> int:
    """Let an action change a stack, [rows, ATTRIBUTES]; return where its top is then. token: the next one"""
    kind = tables.kinds[action]
    if kind == SHIFT:
        leaf(text.leaves[token], token, trees[top + 1])
        return top + 1
    if kind == LEFT:
        attach(tables, action, trees[top], trees[top - 1])
        for i in range(ATTRIBUTES):  # numba takes seconds to compile the assignment of an array
            trees[top - 1, i] = trees[top, i]
        return top - 1
    if kind == RIGHT:
        attach(tables, action, trees[top - 1], trees[top])
        return top - 1
    promote(tables, action, trees[top])
    return top
