"""How far confidences can be trusted: the share of right ones among equally sure ones, raw or calibrated.

Expected calibration error (Naeini, Cooper and Hauskrecht, AAAI 2015): the mean distance of confidence and
share of right ones, over classes of a tenth. Precision at a coverage: the share of right ones among so many
of the surest. Nothing may be judged on sentences from which it has learned, so what is calibrated on every
other sentence is judged on the rest, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from d2c.models.calibration import Calibration, Judged

CLASSES = 10
COVERAGES = (0.5, 0.7, 0.9)


class Reliability(NamedTuple):
    """For each class that has confidences, [C]: how many, their mean, the share of right ones.

    error:      expected calibration error
    precisions: at each of COVERAGES
    """

    counts: Sequence[int]
    means: Sequence[float]
    right: Sequence[float]
    error: float
    precisions: Sequence[float]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> Reliability:
    """Judge confidences, at least one, each from 0 to 1, by what was right."""
    sure, good = np.array(confidences), np.array(right, np.float64)
    classes = np.minimum((sure * CLASSES).astype(int), CLASSES - 1)
    counts = np.bincount(classes, minlength=CLASSES)
    some = np.flatnonzero(counts)
    means, shares = (np.bincount(classes, of, CLASSES)[some] / counts[some] for of in (sure, good))
    error = float((counts[some] * np.abs(means - shares)).sum() / len(sure))
    surest = good[np.argsort(-sure, kind="stable")]
    precisions = [float(surest[: max(1, round(share * len(good)))].mean()) for share in COVERAGES]
    return Reliability(counts[some].tolist(), means.tolist(), shares.tolist(), error, precisions)


class Reliabilities(NamedTuple):
    """The reliability of a route's confidences as they are, and calibrated; None: there are too few."""

    raw: Reliability
    calibrated: Reliability | None


def reliabilities(judged: Sequence[Judged]) -> Reliabilities | None:
    """Return how far the confidences of parses can be trusted; None where there are no confidences."""
    halves = judged[::2], judged[1::2]
    right = [good for half in halves for one in half for good in one.right()]
    if not right:
        return None
    raw = reliability([share for half in halves for one in half for share in one.shares], right)
    learned = [Calibration.fit(half, ()) for half in reversed(halves)]
    if None in learned:
        return Reliabilities(raw, None)
    pairs = [(fitted, one) for fitted, half in zip(learned, halves, strict=True) for one in half if fitted]
    shares = [share for fitted, one in pairs for share in fitted(one.ctree, one.shares)]
    return Reliabilities(raw, reliability(shares, right))
