"""AdaGrad with an L1 penalty against the same steps done for every weight in every round."""

from __future__ import annotations

import numpy as np
import pytest

from d2c.linear.adagrad import AdaGrad, Gradient, add, catch_up, step
from d2c.linear.kernels import kernel


@kernel
def _add_all(gradient: Gradient, slots: np.ndarray, amounts: np.ndarray) -> None:
    for i in range(len(slots)):
        add(gradient, slots[i], amounts[i])


def test_lazy_steps_equal_steps_on_all_weights() -> None:
    size, rate, penalty = 16, 0.5, 0.01
    rng = np.random.default_rng(0)
    learner = AdaGrad.new(size, rate, penalty)
    gradient = Gradient.of(learner)
    w, squares, total = np.zeros(size), np.zeros(size), np.zeros(size)
    for _ in range(50):
        slots = rng.permutation(size)[:3].astype(np.int64)
        amounts = rng.normal(size=3).astype(np.float32)
        _add_all(gradient, slots, amounts)
        step(learner, gradient)
        squares[slots] += amounts.astype(np.float64) ** 2
        touched = squares > 0
        w[slots] -= rate * amounts / np.sqrt(squares[slots])
        shrink = np.zeros(size)
        shrink[touched] = rate * penalty / np.sqrt(squares[touched])
        w = np.sign(w) * np.maximum(np.abs(w) - shrink, 0)
        total += w
    catch_up(learner)
    assert learner.weights == pytest.approx(w, abs=1e-4)
    assert learner.average() == pytest.approx(total / 50, rel=0.1, abs=0.02)


def test_amounts_of_one_slot_add_up_to_one_step() -> None:
    """What adds up to nothing is no step; a step along g is -η g / |g| at first; then all is empty again."""
    learner = AdaGrad.new(8, 0.5, 0.0)
    gradient = Gradient.of(learner)
    slots, amounts = np.array([3, 5, 3, 5, 6, 3]), np.array([1, 2, 1, -2, -4, 1], np.float32)
    expected = np.bincount(slots, amounts, 8)
    _add_all(gradient, slots, amounts)
    step(learner, gradient)
    assert learner.squares.tolist() == (expected**2).tolist()
    assert learner.weights.tolist() == (-0.5 * np.sign(expected)).tolist()
    assert gradient.touched[0] == 0 and (gradient.entry >= 0).all()
    step(learner, gradient)
    assert learner.clock[0] == 2 and learner.squares.tolist() == (expected**2).tolist()
