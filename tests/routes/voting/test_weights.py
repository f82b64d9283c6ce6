"""What a vote counts for."""

from __future__ import annotations

import random
from itertools import chain, product
from math import exp, log

import pytest

from d2c.routes.voting.weights import Example, evidence, learn_votes

CONFIDENCES = (0.01, 0.1, 0.5, 0.9, 0.99)


def odds(confidence: float) -> float:
    return confidence / (1 - confidence)


def test_evidence_is_the_logarithm_of_odds() -> None:
    assert [evidence(vote) for vote in (0.0, 0.001, 0.5, 0.999, 1.0)] == pytest.approx([0, 0, 0.5, 1, 1])
    step = evidence(0.9) - evidence(0.5)
    assert evidence(0.5) - evidence(0.1) == pytest.approx(step)
    assert evidence(0.99) - evidence(0.9) == pytest.approx(step * log(11) / log(9))


def test_confidences_of_independent_parsers_are_put_together() -> None:
    """The odds of what two say for themselves are multiplied; votes are as many as these odds say."""
    examples = list[Example]()
    for votes in product(CONFIDENCES, repeat=2):
        share = 1 / (1 + exp(-sum(log(odds(vote)) for vote in votes)))
        right = round(1000 * share)
        examples += [Example("X", votes, True)] * right + [Example("X", votes, False)] * (1000 - right)
    random.Random(1).shuffle(examples)
    share = learn_votes("constituents", examples)
    found = {votes: share("X", votes) for votes in ((0.9, 0.5), (0.99, 0.5), (0.9, 0.9), (0.99, 0.01))}
    assert list(found.values()) == pytest.approx([0.9, 0.99, 81 / 82, 0.5], abs=0.01)


def test_parsers_that_say_nothing_are_held_back() -> None:
    """Ten that guess: left-out examples show that a hundred others taught nothing."""
    draw = random.Random(1)
    examples = [
        Example(draw.choice("XYZ"), [draw.choice((0.0, 1.0)) for _ in range(10)], draw.random() < 0.5)
        for _ in range(100)
    ]
    weights = learn_votes("constituents", examples)
    assert max(map(abs, chain(weights.general, *weights.labels.values()))) < 0.15
