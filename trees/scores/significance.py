"""Whether a difference in F1 between two parsers is more than chance: paired approximate randomisation.

E. Noreen, "Computer-Intensive Methods for Testing Hypotheses" (1989); for F1 see A. Yeh, "More accurate tests
for the statistical significance of result differences" (COLING 2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.trees.scores.evalb.report import VALID, Score

_ROWS = 500  # trials at a time


class Difference(NamedTuple):
    """F1 of the second parser less that of the first, in points; how likely as large a one is by chance."""

    points: float
    p: float


def approximate_randomisation(
    first: Sequence[Score], second: Sequence[Score], trials: int = 10_000, seed: int = 0
) -> Difference:
    """Compares the scores of the same sentences, in the same order, by two parsers.

    In each trial every sentence's two results change places with probability 1/2. p is the share of trials
    whose |difference| is at least the observed one, the observed one counted among them. Sentences that
    EVALB leaves out count nothing. Raises ValueError where the numbers of sentences differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} sentences")
    a, b = _counts(first), _counts(second)
    observed = float(_f1(b.sum(0)) - _f1(a.sum(0)))
    rng, extreme = np.random.default_rng(seed), 0
    both, moved = a.sum(0) + b.sum(0), b - a
    for begin in range(0, trials, _ROWS):
        swap = rng.integers(0, 2, (min(_ROWS, trials - begin), len(a))).astype(np.float64)
        sums = a.sum(0) + swap @ moved
        difference = np.abs(_f1(both - sums) - _f1(sums))
        extreme += int((difference >= abs(observed) - 1e-9).sum())
    return Difference(observed, (extreme + 1) / (trials + 1))


def _counts(scores: Sequence[Score]) -> NDArray[np.float64]:
    """[n, 2] matched brackets; brackets of gold and guess together."""
    rows = [(s.matched, s.gold + s.test) if s.status == VALID else (0, 0) for s in scores]
    return np.array(rows, np.float64).reshape(-1, 2)


def _f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """In points, of sums [..., 2]."""
    return 200 * sums[..., 0] / np.maximum(1, sums[..., 1])
