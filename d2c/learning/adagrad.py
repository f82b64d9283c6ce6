"""AdaGrad for a table of weights under an L1 penalty (Duchi, Hazan and Singer, 2011).

The composite mirror descent of their section 5: after a step with gradient g on one weight,
w ← soft(w − η g / √G, λ η / √G), where G is the sum of the squares of its gradients and soft(w, c) moves w
towards 0 by c. A weight whose gradient is 0 moves towards 0 in every step, too; such steps are made up for
when its next gradient comes, and for all weights in `catch_up`.

So each step pays the whole penalty: over D sentences Σℓ + D λ‖θ‖₁ is minimized, and λ is a D-th of PAD's,
which stands beside the sum of all losses.

A structured SVM takes one such step for each sentence, with the gradient f(y') - f(y): the features of the
best loss-augmented derivation less those of the gold one, which the route adds up in a `Gradient`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Doubles, Floats, Ints, Longs
from d2c.learning.kernels import inner, kernel


class AdaGrad(NamedTuple):
    """State of the learner; an array has the table's size where no other is given.

    weights: the weights w
    squares: sums G of squared gradients
    sums:    sums of each weight over the steps so far, for the average
    seen:    the step up to which the penalty of each weight is paid and its sum is complete
    slots:   of the weights that had a gradient so far; most weights of a table never have one
    touched: [1] how many slots these are
    clock:   [1] number of steps so far
    rate:    η
    penalty: λ
    """

    weights: Floats
    squares: Floats
    sums: Doubles
    seen: Ints
    slots: Ints
    touched: Longs
    clock: Longs
    rate: float
    penalty: float

    @classmethod
    def new(cls, size: int, rate: float, penalty: float) -> AdaGrad:
        """Return a learner whose weights [size] are 0; size must be a power of two."""
        weights, squares = np.zeros(size, np.float32), np.zeros(size, np.float32)
        sums, seen, slots = np.zeros(size, np.float64), np.zeros(size, np.int32), np.empty(size, np.int32)
        touched, clock = np.zeros(1, np.int64), np.zeros(1, np.int64)
        return cls(weights, squares, sums, seen, slots, touched, clock, rate, penalty)

    @classmethod
    def after(cls, weights: Floats, squares: float, rate: float, penalty: float) -> AdaGrad:
        """Return a learner that begins with weights [size] learned before, whose gradients are not known.

        squares: what stands for the sum of squared gradients of each weight that is not 0; the greater it
                 is, the slower these weights change
        """
        learner = cls.new(len(weights), rate, penalty)
        learner.weights[:] = weights
        learner.touch(np.flatnonzero(weights))
        learner.squares[learner.of_gradients] = squares
        return learner

    def touch(self, slots: NDArray[Any]) -> None:
        """Set the slots [S] of the weights that had gradients; the squares of these must not be 0."""
        self.slots[: len(slots)], self.touched[0] = slots, len(slots)

    @property
    def of_gradients(self) -> Ints:
        """Return the slots [touched] of the weights that had a gradient."""
        return self.slots[: self.touched[0]]

    def average(self) -> Floats:
        """Return the means of the weights over all steps [size]; the last weights follow the last sentences
        too closely."""
        catch_up(self)
        return self._means(self.of_gradients)

    def truncated_average(self) -> Floats:
        """Return `average` [size], or 0 where the last weight is 0: greater penalties make smaller models."""
        catch_up(self)
        slots = self.of_gradients
        return self._means(slots[self.weights[slots] != 0])

    def _means(self, slots: Ints) -> Floats:
        """Return the means of the weights in some slots [S], and 0 for all others [size]."""
        result = np.zeros(len(self.weights), np.float32)
        result[slots] = self.sums[slots] / max(1, self.clock[0])
        return result

    def average_anew(self) -> None:
        """Leave out all steps so far from the average."""
        catch_up(self)
        self.sums.fill(0)
        self.seen.fill(0)
        self.clock.fill(0)


class Gradient(NamedTuple):
    """A sparse gradient being added up for a learner.

    slots:   of the weights touched so far
    values:  the gradient in each of these slots
    paid:    what the learner's `seen` had for these weights before
    entry:   the learner's `seen`; for a touched weight, -1 minus its index in `slots`
    touched: [1] how many weights are touched
    """

    slots: Longs
    values: Floats
    paid: Ints
    entry: Ints
    touched: Longs

    @classmethod
    def of(cls, learner: AdaGrad) -> Gradient:
        """Return an empty gradient. After `add`, a step must come before any other use of the learner."""
        size = len(learner.weights)  # room that takes no memory before it is used
        slots, values, paid = np.empty(size, np.int64), np.empty(size, np.float32), np.empty(size, np.int32)
        return cls(slots, values, paid, learner.seen, np.zeros(1, np.int64))


@inner
def add(gradient: Gradient, slot: int, amount: float) -> None:
    """Add an amount to the gradient of one weight."""
    if gradient.entry[slot] >= 0:
        touched = gradient.touched[0]
        gradient.slots[touched], gradient.values[touched] = slot, 0.0
        gradient.paid[touched] = gradient.entry[slot]
        gradient.entry[slot] = -1 - touched
        gradient.touched[0] = touched + 1
    gradient.values[-1 - gradient.entry[slot]] += amount


@inner
def _shrink(learner: AdaGrad, slot: int, until: int) -> None:
    """Pay the penalty of a weight for all steps up to number `until`, and add to its sum for each step."""
    w, steps = learner.weights[slot], until - learner.seen[slot]
    learner.seen[slot] = until
    if w != 0.0 and steps > 0:
        each, size = learner.penalty * learner.rate / np.sqrt(learner.squares[slot]), abs(w)
        paid = steps if steps * each < size else int(size / each)  # steps before the weight would pass 0
        left = size - steps * each if paid == steps else 0.0
        learner.sums[slot] += np.sign(w) * paid * (size - 0.5 * (paid + 1) * each)
        learner.weights[slot] = np.sign(w) * left


@kernel
def step(learner: AdaGrad, gradient: Gradient) -> None:
    """Take a step of descent with a gradient, which is empty again afterwards."""
    now = learner.clock[0]
    for i in range(gradient.touched[0]):
        slot, g = gradient.slots[i], gradient.values[i]
        learner.seen[slot] = gradient.paid[i]
        if g * g == 0.0:
            continue
        if learner.squares[slot] == 0.0:
            learner.slots[learner.touched[0]] = slot
            learner.touched[0] += 1
        _shrink(learner, slot, now)
        learner.squares[slot] += g * g
        learner.weights[slot] -= learner.rate * g / np.sqrt(learner.squares[slot])
        learner.seen[slot] = now
        _shrink(learner, slot, now + 1)
    gradient.touched[0] = 0
    learner.clock[0] = now + 1


@kernel
def catch_up(learner: AdaGrad) -> None:
    """Pay the penalties of all weights up to the present step."""
    for i in range(learner.touched[0]):
        _shrink(learner, np.int64(learner.slots[i]), learner.clock[0])
