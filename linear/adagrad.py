"""AdaGrad for a table of weights under an L1 penalty (Duchi, Hazan and Singer, 2011).

The composite mirror descent of their section 5: after a step with gradient g on one weight,
w ← soft(w − η g / √G, λ η / √G), where G is the sum of the squares of its gradients and soft(w, c) moves w
towards 0 by c. A weight whose gradient is 0 moves towards 0 in every step, too; such steps are made up for
when its next gradient comes, and for all weights in `catch_up`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class AdaGrad(NamedTuple):
    """State of the learner; every array has the table's size.

    weights: the weights w
    squares: sums G of squared gradients
    sums:    sums of each weight over the steps so far, for the average
    seen:    the step up to which the penalty of each weight is paid and its sum is complete
    clock:   [1] number of steps so far
    rate:    η
    penalty: λ
    """

    weights: NDArray[np.float32]
    squares: NDArray[np.float32]
    sums: NDArray[np.float64]
    seen: NDArray[np.int32]
    clock: NDArray[np.int64]
    rate: float
    penalty: float

    @classmethod
    def new(cls, size: int, rate: float, penalty: float) -> AdaGrad:
        """All weights 0; size must be a power of two."""
        weights, squares = np.zeros(size, np.float32), np.zeros(size, np.float32)
        sums, seen = np.zeros(size, np.float64), np.zeros(size, np.int32)
        return cls(weights, squares, sums, seen, np.zeros(1, np.int64), rate, penalty)

    def average(self) -> NDArray[np.float32]:
        """The mean of the weights over all steps; the last ones follow the last sentences too closely."""
        catch_up(self)
        return (self.sums / max(1, self.clock[0])).astype(np.float32)


@njit(cache=True, nogil=True)
def _shrink(learner: AdaGrad, place: int, until: int) -> None:
    """Pays the penalty of a weight for the steps up to and with `until`."""
    w, steps = learner.weights[place], until - learner.seen[place]
    learner.seen[place] = until
    if w != 0.0 and steps > 0:
        paid = min(steps * learner.penalty * learner.rate / np.sqrt(learner.squares[place]), abs(w))
        learner.weights[place] = w - paid if w > 0 else w + paid
        learner.sums[place] += steps * 0.5 * (w + learner.weights[place])


@njit(cache=True, nogil=True)
def step(learner: AdaGrad, places: NDArray[np.int64], gradient: NDArray[np.float32], count: int) -> None:
    """One step: the gradient's non-zero entries at the first `count` places, of which none is repeated."""
    now = learner.clock[0]
    for at in range(count):
        place, g = places[at], gradient[at]
        if g == 0.0:
            continue
        _shrink(learner, place, now)
        learner.squares[place] += g * g
        learner.weights[place] -= learner.rate * g / np.sqrt(learner.squares[place])
        learner.seen[place] = now
        _shrink(learner, place, now + 1)
    learner.clock[0] = now + 1


@njit(cache=True, nogil=True)
def catch_up(learner: AdaGrad) -> None:
    """Pays all weights' penalties up to the present step."""
    for place in range(len(learner.weights)):
        if learner.weights[place] != 0.0:
            _shrink(learner, place, learner.clock[0])
        else:
            learner.seen[place] = learner.clock[0]
