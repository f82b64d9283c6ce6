"""A d-tree's skeleton: what it fixes of every c-tree in Y(x, d) (PAD, section 3.1).

It has for each word h: its left dependents L(h) and right dependents R(h), from the word outward, which is
the order in which it takes them; its span ⟨h⇐, h⇒⟩, all words below it; and its items. An item (h, a, b) is
word h with its a nearest left and b nearest right dependents: there are (|L(h)| + 1)(|R(h)| + 1), each with a
cell in the chart. If these are more than MOST_CELLS, the word takes all its right dependents first, as the
simple binarization does within a node (bottom-up). Here that holds across all nodes of h, so some derivations
are missing: it has only the |L(h)| + |R(h)| + 1 items (0, b) and (a, |R(h)|).

A site is where a rule applies, whatever the rule: a step from one item to another.

Kernels count words from 0. Heads are 1..n, and 0 for the root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.learning.kernels import kernel, lean
from d2c.trees.binarization import LEFT, RIGHT, UNARY

MOST_CELLS = 10_000

# What features see of a token: numbers of its word, its tag, its head (1..n, 0 = root), the d-label of the
# arc into it, and its morphology, from 1 on. A sentence has a token of zeros before and behind; d-labels and
# morphology are zeros, too, unless in use
TOKEN = np.dtype([(name, np.int32) for name in ("word", "tag", "head", "label", "morph")], align=True)
Observed = NDArray[np.void]  # [n + 2] of TOKEN

# Of each word: its head (1..n, 0 = root); where in `Skeleton.dependents` its left dependents begin, where its
# right ones begin and end; the outermost words of its yield, which may have gaps if arcs cross; the number of
# its first cell
WORD = np.dtype(
    [(name, np.int32) for name in ("head", "begin", "middle", "end", "first", "last", "cell")], align=True
)

# The site of a step to the item (h, a, b):
# side:  LEFT, RIGHT or UNARY
# h, m:  head word; dependent (-1 in a unary step)
# g:     head of h, 1..n, 0 where it is the root
# i, j:  first and last word of the result
# k:     last word of the left part; in unary steps how many were before, of root rules and copies -1
# next_left, next_right:   the dependents of h that come next on either side, after the step (-1: none)
# inner_left, inner_right: the dependents of h that came last on either side, before the step (-1: none)
SITE = np.dtype(
    [(name, np.int32) for name in ("side", "h", "m", "g", "i", "j", "k")]
    + [(name, np.int32) for name in ("next_left", "next_right", "inner_left", "inner_right")],
    align=True,
)
Sites = NDArray[np.void]  # of SITE


class Skeleton(NamedTuple):
    """The skeleton of a d-tree of n words.

    order:      [n] words, dependents before their heads
    dependents: [n - 1] the left dependents of word 0 outward, its right ones outward, those of word 1, ...
    words:      [n + 1] of type WORD; in the row after the last word only `cell` has a meaning
    """

    order: Ints
    dependents: Ints
    words: NDArray[np.void]


@kernel
def heads_of(observed: Observed) -> Ints:
    """Return [n] the heads of a sentence."""
    return observed["head"][1:-1].copy()


@kernel
def skeleton_of(heads: Ints) -> Skeleton:
    """Return the skeleton of heads [n] (1..n, 0 = root) that form a tree. Linear time."""
    n, root = len(heads), 0
    words = np.empty(n + 1, WORD)
    for h in range(n + 1):
        word = words[h]
        word["middle"], word["end"], word["first"], word["last"], word["cell"] = 0, 0, h, h, 0
    for m in range(n):  # first how many are on either side
        words[m]["head"], h = heads[m], heads[m] - 1
        if h < 0:
            root = m
        elif m < h:
            words[h]["middle"] += 1
        else:
            words[h]["end"] += 1
    filled: Any = 0
    for h in range(n):
        word = words[h]
        lefts, rights = np.int64(words[h]["middle"]), np.int64(words[h]["end"])
        word["begin"], word["middle"], word["end"] = filled, filled + lefts, filled + lefts + rights
        square = (lefts + 1) * (rights + 1)
        words[h + 1]["cell"] = word["cell"] + (square if square <= MOST_CELLS else lefts + rights + 1)
        filled += lefts + rights
    dependents, order = np.empty(max(0, n - 1), np.int32), np.empty(n, np.int32)
    free = np.empty(n, np.int32)  # where the next right dependent of each word stands
    for h in range(n):
        free[h] = words[h]["middle"]
    for m in range(n):
        h = heads[m] - 1
        if m > h >= 0:
            dependents[free[h]] = m
            free[h] += 1
    for h in range(n):
        free[h] = words[h]["begin"]
    for m in range(n - 1, -1, -1):
        h = heads[m] - 1
        if m < h:
            dependents[free[h]] = m
            free[h] += 1
    order[n - 1], filled = root, n - 1
    for rank in range(n - 1, -1, -1):
        word = words[order[rank]]
        for i in range(word["begin"], word["end"]):
            filled -= 1
            order[filled] = dependents[i]
    for m in order[:-1]:
        head, word = words[heads[m] - 1], words[m]
        head["first"], head["last"] = min(head["first"], word["first"]), max(head["last"], word["last"])
    return Skeleton(order, dependents, words)


@lean
def cell_of(words: NDArray[np.void], h: int, a: int, b: int) -> int:
    """Return the number of the cell of the item (h, a, b), or -1 where there is none. words: [n + 1]"""
    word = words[h]
    lefts, rights = word["middle"] - word["begin"], word["end"] - word["middle"]
    if words[h + 1]["cell"] - word["cell"] == (lefts + 1) * (rights + 1):
        return word["cell"] + a * (rights + 1) + b
    return word["cell"] + a + b if a == 0 or b == rights else -1


@lean
def item_of(words: NDArray[np.void], h: int, number: int) -> tuple[int, int]:
    """Return a and b of the word's cell with this number, counted from its first. words: [n + 1]"""
    word = words[h]
    lefts, rights = word["middle"] - word["begin"], word["end"] - word["middle"]
    if words[h + 1]["cell"] - word["cell"] == (lefts + 1) * (rights + 1):
        return number // (rights + 1), number % (rights + 1)
    return max(0, number - rights), min(number, rights)


@lean
def set_site(
    dependents: Ints, words: NDArray[np.void], side: int, h: int, a: int, b: int, site: np.void
) -> None:
    """Write the site of a step to the item (h, a, b), except for the k of unary steps.

    dependents, words: [n - 1] and [n + 1], as in `Skeleton`
    """
    word, first, last = words[h], h, h
    left, right = np.int64(word["begin"]) + a, np.int64(word["middle"]) + b
    for i in range(word["begin"], left):
        first, last = min(first, words[dependents[i]]["first"]), max(last, words[dependents[i]]["last"])
    for i in range(word["middle"], right):
        first, last = min(first, words[dependents[i]]["first"]), max(last, words[dependents[i]]["last"])
    site["side"], site["h"], site["m"], site["i"], site["j"], site["k"] = side, h, -1, first, last, -1
    site["g"] = word["head"]
    site["next_left"] = dependents[left] if left < word["middle"] else -1
    site["next_right"] = dependents[right] if right < word["end"] else -1
    if side == LEFT:
        left -= 1
        site["m"] = dependents[left]
        site["k"] = words[site["m"]]["last"]
    elif side == RIGHT:
        right -= 1
        site["m"] = dependents[right]
        site["k"] = words[site["m"]]["first"] - 1
    site["inner_left"] = dependents[left - 1] if left > word["begin"] else -1
    site["inner_right"] = dependents[right - 1] if right > word["middle"] else -1


@kernel
def sites_of_steps(skeleton: Skeleton, kinds: Ints, steps: Ints) -> Sites:
    """Return the sites of the P steps of a derivation.

    kinds: [P] of the steps, word by word; steps: [n + 1] where those of each word begin; the last step of
           the root is the root rule
    """
    sites = np.empty(len(kinds), SITE)
    for h in range(len(steps) - 1):
        a = b = level = 0
        for step in range(steps[h], steps[h + 1]):
            kind = kinds[step]
            a, b = a + int(kind == LEFT), b + int(kind == RIGHT)
            set_site(skeleton.dependents, skeleton.words, kind, h, a, b, sites[step])
            if kind == UNARY:
                sites[step]["k"] = level
            level = level + 1 if kind == UNARY else 0
    if len(kinds):  # a tree that has no derivation has no steps
        sites[steps[skeleton.order[-1] + 1] - 1]["k"] = -1
    return sites


@kernel
def is_projective_tree(heads: Ints) -> bool:
    """Return whether heads [n] from 0 to n form a projective tree with one root: in a kernel, what `is_tree`
    and `is_projective` of `d2c.trees.dtree` say. Linear time."""
    n, roots = len(heads), 0
    missing, size = np.zeros(n, np.int32), np.ones(n, np.int32)  # dependents still to come; words below
    first, last, ready = np.arange(n), np.arange(n), np.empty(n, np.int32)
    for m in range(n):
        if heads[m]:
            missing[heads[m] - 1] += 1
        else:
            roots += 1
    count = 0
    for m in range(n):
        if missing[m] == 0:
            ready[count], count = m, count + 1
    for i in range(n):
        if i == count:  # all others are on a cycle or below one
            return False
        m, h = ready[i], heads[ready[i]] - 1
        if last[m] - first[m] + 1 != size[m]:
            return False
        if h >= 0:
            first[h], last[h], size[h] = min(first[h], first[m]), max(last[h], last[m]), size[h] + size[m]
            missing[h] -= 1
            if missing[h] == 0:
                ready[count], count = h, count + 1
    return roots == 1
