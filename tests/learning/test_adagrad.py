"""AdaGrad with an L1 penalty against the same steps done for every weight in every round."""

from __future__ import annotations

import numpy as np
import pytest

from d2c.learning.adagrad import AdaGrad, Gradient, add, catch_up, step
from d2c.learning.kernels import kernel


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
    assert learner.average() == pytest.approx(total / 50, abs=1e-4)


def test_two_steps_and_the_penalty_by_hand() -> None:
    """η = 0.5, λ = 0.2: first g = 2, √G = 2, then g = -1.5, √G = 2.5, then 0.04 towards 0 in each step."""
    learner = AdaGrad.new(4, 0.5, 0.2)
    gradient = Gradient.of(learner)
    for amount, weight, square in ((2.0, -0.45, 4.0), (-1.5, -0.45 + 0.3 + 0.04, 6.25)):
        _add_all(gradient, np.array([1]), np.array([amount], np.float32))
        step(learner, gradient)
        assert learner.weights.tolist() == pytest.approx([0.0, weight, 0.0, 0.0])
        assert learner.squares.tolist() == [0.0, square, 0.0, 0.0]
    for left in (-0.07, -0.03, 0.0, 0.0):
        step(learner, gradient)
        catch_up(learner)
        assert learner.weights[1] == pytest.approx(left)
    assert learner.average()[1] == pytest.approx((-0.45 - 0.11 - 0.07 - 0.03) / 6)


def test_a_large_penalty_leaves_no_weight() -> None:
    learner = AdaGrad.new(8, 0.5, 3.0)
    gradient = Gradient.of(learner)
    for amount in (1.0, -2.0, 3.0):  # |g| ≤ λ: what a step adds is taken at once
        _add_all(gradient, np.array([2, 5]), np.array([amount, -amount], np.float32))
        step(learner, gradient)
    assert not learner.weights.any() and not learner.average().any()


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


def test_averages_are_0_where_the_last_weight_is() -> None:
    """So a greater λ makes a smaller model, as PAD says."""
    learner = AdaGrad.new(2, rate=0.1, penalty=0.3)
    gradient = Gradient.of(learner)
    for slot in (0, *[1] * 10):
        _add_all(gradient, np.array([slot]), np.array([-1], np.float32))
        step(learner, gradient)
    assert learner.weights[0] > 0  # the penalty is not paid yet, and will be more than is left
    truncated, average = learner.truncated_average(), learner.average()
    assert learner.weights[0] == 0 and average[0] > 0 and learner.weights[1] > 0
    assert truncated.tolist() == [0, average[1]]


def test_an_average_begins_anew_and_the_rest_goes_on() -> None:
    """Steps before have no part in it; their squares and penalties have."""
    one, other, rng = AdaGrad.new(4, 0.5, 0.01), AdaGrad.new(4, 0.5, 0.01), np.random.default_rng(1)
    rows, of_one, weights = rng.normal(size=(7, 4)).astype(np.float32), Gradient.of(one), []
    of_other = Gradient.of(other)
    for number, row in enumerate(rows):
        for learner, gradient in ((one, of_one), (other, of_other)):
            _add_all(gradient, np.arange(4), row)
            step(learner, gradient)
        if number == 3:
            one.average_anew()
        weights.append(one.weights.copy())
    assert np.array_equal(one.weights, other.weights) and np.array_equal(one.squares, other.squares)
    assert one.average() == pytest.approx(np.mean(weights[4:], axis=0), abs=1e-6)
    assert one.clock[0] == 3 and other.clock[0] == 7


def test_weights_that_were_learned_before_are_slower_than_new_ones() -> None:
    given = np.array([0.5, 0, -2, 0], np.float32)
    learner = AdaGrad.after(given, 3.0, 0.1, 0.0)
    assert learner.weights.tolist() == given.tolist() and learner.squares.tolist() == [3, 0, 3, 0]
    gradient = Gradient.of(learner)
    _add_all(gradient, np.arange(2), np.ones(2, np.float32))
    step(learner, gradient)
    assert learner.weights == pytest.approx([0.45, -0.1, -2, 0]) and given[0] == 0.5
