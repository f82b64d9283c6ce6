"""Whether differences in F1 between parsers are more than chance: paired approximate randomisation, and, for
many comparisons, Holm's correction.

E. Noreen, "Computer-Intensive Methods for Testing Hypotheses" (1989); for F1 see A. Yeh, "More accurate tests
for the statistical significance of result differences" (COLING 2000); S. Holm, "A Simple Sequentially
Rejective Multiple Test Procedure" (1979).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.trees.scores.matches import Matches, Score

_SWAPS = 2_000_000  # sentences of all trials at a time


class Difference(NamedTuple):
    """F1 of the second parser less that of the first, in points; p: how likely chance makes one as large."""

    points: float
    p: float


def counted_matches(scores: Iterable[Score]) -> list[Matches]:
    """Return the counts of each sentence, all 0 where a scorer leaves the sentence out."""
    return [score.matches if score.valid else Matches() for score in scores]


def approximate_randomisation(
    first: Sequence[Matches], second: Sequence[Matches], trials: int = 10_000
) -> Difference:
    """Compare the counts of the same sentences, in the same order, by two parsers.

    In each trial every sentence's two results change places with probability 1/2. p is the share of trials
    whose |difference| is at least the observed one, the observed one counted among them. Raises ValueError
    where the numbers of sentences differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} sentences")
    sides = first, second
    before, after = (sum(side, Matches()).f1 for side in sides)
    # [n, 2] matched brackets; brackets of gold and guess together
    a, b = (np.array([(m.matched, m.gold + m.guess) for m in side], float).reshape(-1, 2) for side in sides)
    observed = after - before
    rng, extreme = np.random.default_rng(0), 0
    both, moved = a.sum(0) + b.sum(0), b - a
    rows = max(1, _SWAPS // max(1, len(a)))
    for begin in range(0, trials, rows):
        swap = rng.integers(0, 2, (min(rows, trials - begin), len(a))).astype(np.float64)
        sums = a.sum(0) + swap @ moved
        difference = np.abs(_f1(both - sums) - _f1(sums))
        extreme += int((difference >= abs(observed) - 1e-9).sum())
    return Difference(observed, (extreme + 1) / (trials + 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number: where nothing differs, the least is below 0.05 in at most
    one of 20 families, however many they are."""
    corrected, most = [1.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = most
    return corrected


def differences_of(pairs: Iterable[tuple[str, Sequence[Score], Sequence[Score]]]) -> dict[str, Difference]:
    """Return, for each pair of scores, by its name, by how much the second are better; p is corrected
    for the number of pairs."""
    counted = ((name, counted_matches(first), counted_matches(second)) for name, first, second in pairs)
    found = {name: approximate_randomisation(first, second) for name, first, second in counted}
    corrected = holm([difference.p for difference in found.values()])
    return {name: one._replace(p=p) for (name, one), p in zip(found.items(), corrected, strict=True)}


def difference_rows(differences: Mapping[str, Difference]) -> list[tuple[str, str, str]]:
    """Return the cells of a table of differences, after its header; nothing without any."""
    rows = [(name, f"{one.points:+.2f}", f"{one.p:.4f}") for name, one in differences.items()]
    return [("difference", "F1", "p"), *rows] if rows else []


def how_compared(number: int) -> str:
    """Return a sentence that says how so many differences were tested."""
    corrected = f"; Holm's correction for {number} comparisons" if number > 1 else ""
    return f"p: paired approximate randomisation, 10,000 trials{corrected}."


def _f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `Matches.f1` of sums [..., 2], many at a time."""
    return 200 * sums[..., 0] / np.maximum(1, sums[..., 1])
