"""What packed arcs count for: how many are kept, and the weight of their probabilities, on held-out trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt

import numpy as np

from d2c.trees.arcs import LEAST
from d2c.trees.dtree import DTree

HEADS_PER_WORD = 1.5
_LARGEST = 64.0


def least_probability(dtrees: Iterable[DTree], heads_per_word: float = HEADS_PER_WORD) -> float:
    """The probability from which on arcs are kept, so that words have about so many heads; their own are
    kept in any case. Raises ValueError where no d-tree has packed arcs."""
    words, others = 0, [np.zeros(0, np.float32)]
    for dtree in dtrees:
        if dtree.arcs is not None and dtree.heads:
            own = np.array(dtree.heads)[dtree.arcs.dependents()]
            others.append(dtree.arcs.logs[dtree.arcs.heads != own])
            words += len(dtree.heads)
    if not words:
        raise ValueError("these d-trees have no packed arcs")
    falling, wanted = np.sort(np.concatenate(others))[::-1], round((heads_per_word - 1) * words)
    if wanted < 1:
        return 1.0
    return float(np.exp(falling[wanted - 1])) if wanted <= len(falling) else LEAST


def line_search(score: Callable[[float], float]) -> float:
    """The weight with the best score: doubled, or halved, from 1 on for as long as it gets better; then by
    the root of two."""
    best, highest = 1.0, score(1.0)
    for factors in ((2.0, 0.5), (sqrt(2), sqrt(0.5))):
        for factor in factors:
            before = best
            while 1 / _LARGEST <= best * factor <= _LARGEST and (found := score(best * factor)) > highest:
                best, highest = best * factor, found
                if factors[0] < 2:  # the next one is known
                    break
            if best != before:
                break
    return best
