"""How far confidences can be trusted: what is right of those that are equally sure.

Expected calibration error (Naeini, Cooper and Hauskrecht, AAAI 2015): the mean distance of confidence and
share of right ones, over classes of a tenth; precision at a coverage: of the surest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CLASSES = 10
COVERAGES = (0.5, 0.7, 0.9)


class Reliability(NamedTuple):
    """Of each class of confidences that has some, [C]: how many, their mean, the share of right ones.

    error:      expected calibration error
    precisions: at each of COVERAGES
    """

    counts: Sequence[int]
    means: Sequence[float]
    right: Sequence[float]
    error: float
    precisions: Sequence[float]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> Reliability:
    """Judge confidences, from 0 to 1, of which at least one is given, by what was right."""
    sure, good = np.array(confidences), np.array(right, np.float64)
    classes = np.minimum((sure * CLASSES).astype(int), CLASSES - 1)
    counts = np.bincount(classes, minlength=CLASSES)
    some = np.flatnonzero(counts)
    means, shares = (np.bincount(classes, of, CLASSES)[some] / counts[some] for of in (sure, good))
    error = float((counts[some] * np.abs(means - shares)).sum() / len(sure))
    surest = good[np.argsort(-sure, kind="stable")]
    precisions = [float(surest[: max(1, round(share * len(good)))].mean()) for share in COVERAGES]
    return Reliability(counts[some].tolist(), means.tolist(), shares.tolist(), error, precisions)
