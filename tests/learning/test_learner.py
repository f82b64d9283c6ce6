"""The structured learner: what it says of an epoch."""

from __future__ import annotations

import numpy as np

from d2c.learning.adagrad import step
from d2c.learning.learner import Epoch, Training
from d2c.learning.settings import LearnerSettings
from tests.learning.test_adagrad import _add_all


def test_an_epoch_counts_last_weights_and_averages() -> None:
    """A penalty takes away what was learned once, but it stays in the average; the model is without it."""
    settings = LearnerSettings(epochs=1, table_bits=3, rate=0.1, penalty=0.3)
    training, epochs = Training("some", settings), list[Epoch]()

    def learn(numbers: object) -> tuple[float, int]:
        for slot in (0, 5, *[1] * 10):
            _add_all(training.gradient, np.array([slot]), np.array([-1], np.float32))
            step(training.learner, training.gradient)
        return 12.0, 12

    delivered = training.run(1, learn, progress=epochs.append)
    assert [epoch.nonzero for epoch in epochs] == [(1, 3)]
    assert np.flatnonzero(delivered).tolist() == [1]
