"""How far the confidences of routes can be trusted on a treebank, as they are and calibrated.

Nothing may be judged on sentences from which it has learned, so what is calibrated on every other sentence is
judged on the rest, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from d2c.experiments.reliability import Reliability, reliability
from d2c.models.calibration import Calibration, Judged


class Reliabilities(NamedTuple):
    """The reliability of a route's confidences as they are, and calibrated; None: there are too few."""

    raw: Reliability
    calibrated: Reliability | None


def reliabilities(judged: Sequence[Judged]) -> Reliabilities | None:
    """Return how far the confidences of some parses can be trusted; None where there are none."""
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
