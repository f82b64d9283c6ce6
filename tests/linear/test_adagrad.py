"""AdaGrad with an L1 penalty against the same steps done for every weight in every round."""

from __future__ import annotations

import numpy as np
import pytest

from d2c.linear.adagrad import AdaGrad, catch_up, step


def test_lazy_steps_equal_steps_on_all_weights() -> None:
    size, rate, penalty = 16, 0.5, 0.01
    rng = np.random.default_rng(0)
    learner = AdaGrad.new(size, rate, penalty)
    w, squares, total = np.zeros(size), np.zeros(size), np.zeros(size)
    for _ in range(50):
        places = rng.permutation(size)[:3].astype(np.int64)
        gradient = rng.normal(size=3).astype(np.float32)
        step(learner, places, gradient, 3)
        squares[places] += gradient.astype(np.float64) ** 2
        touched = squares > 0
        w[places] -= rate * gradient / np.sqrt(squares[places])
        shrink = np.zeros(size)
        shrink[touched] = rate * penalty / np.sqrt(squares[touched])
        w = np.sign(w) * np.maximum(np.abs(w) - shrink, 0)
        total += w
    catch_up(learner)
    assert learner.weights == pytest.approx(w, abs=1e-4)
    assert learner.average() == pytest.approx(total / 50, rel=0.1, abs=0.02)
