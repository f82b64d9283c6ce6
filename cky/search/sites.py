"""Sites: where in a d-tree a rule applies, whatever the rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.cky.search.layout import Layout
from d2c.learning.kernels import kernel, lean
from d2c.trees.binarization import LEFT, RIGHT, UNARY

# side:  LEFT, RIGHT or UNARY
# h, m:  head word; dependent (-1 in a unary step)
# g:     head of h, 1..n, 0 where it is the root
# i, j:  first and last word of the result
# k:     last word of the left part; in unary steps how many were before, of root rules and copies -1
# next_left, next_right:   the dependents of h that come next on either side (-1: none)
# inner_left, inner_right: the outermost ones that the step found there (-1: none)
SITE = np.dtype(
    [(name, np.int32) for name in ("side", "h", "m", "g", "i", "j", "k")]
    + [(name, np.int32) for name in ("next_left", "next_right", "inner_left", "inner_right")],
    align=True,
)
Sites = NDArray[np.void]  # of SITE


class Parts(NamedTuple):
    """The P parts (i, k, j, rule) of a derivation, bottom-up.

    sites: [P] where each rule applies, of type SITE
    rules: [P]
    """

    sites: Sites
    rules: Ints


@lean
def set_site(
    dependents: Ints, words: NDArray[np.void], side: int, h: int, a: int, b: int, site: np.void
) -> None:
    """Writes the site of a step to the item (h, a, b), but for the k of unary steps. dependents, words: as in
    `Layout`."""
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


@lean
def same_site(one: np.void, other: np.void) -> bool:
    """Return whether two sites are the same, also of different d-trees."""
    step = one["h"] == other["h"] and one["side"] == other["side"] and one["k"] == other["k"]
    words = one["i"] == other["i"] and one["j"] == other["j"]
    arcs = one["m"] == other["m"] and one["g"] == other["g"]
    after = one["next_left"] == other["next_left"] and one["next_right"] == other["next_right"]
    before = one["inner_left"] == other["inner_left"] and one["inner_right"] == other["inner_right"]
    return step and words and arcs and after and before


@kernel
def sites_of_steps(layout: Layout, kinds: Ints, steps: Ints) -> Sites:
    """The sites of a derivation. kinds: of the steps, word by word; steps: [n + 1] where those of each word
    begin; the last one of the root is the root rule."""
    sites = np.empty(len(kinds), SITE)
    for h in range(len(steps) - 1):
        a = b = level = 0
        for step in range(steps[h], steps[h + 1]):
            kind = kinds[step]
            a, b = a + int(kind == LEFT), b + int(kind == RIGHT)
            set_site(layout.dependents, layout.words, kind, h, a, b, sites[step])
            if kind == UNARY:
                sites[step]["k"] = level
            level = level + 1 if kind == UNARY else 0
    if len(kinds):  # a tree that has no derivation has no steps
        sites[steps[layout.order[-1] + 1] - 1]["k"] = -1
    return sites
