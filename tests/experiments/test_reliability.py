"""How far confidences can be trusted, by hand."""

from __future__ import annotations

import pytest

from d2c.experiments.reliability import reliability


def test_by_hand() -> None:
    found = reliability([0.95, 0.95, 1.0, 0.35, 0.0], [True, True, False, False, True])
    assert found.counts == [1, 1, 3]
    assert found.means == pytest.approx([0.0, 0.35, 2.9 / 3]) and found.right == pytest.approx([1, 0, 2 / 3])
    assert found.error == pytest.approx((1 + 0.35 + 0.9) / 5)
    assert found.precisions == pytest.approx([1 / 2, 1 / 2, 1 / 2])


def test_of_the_surest() -> None:
    found = reliability([0.9, 0.8, 0.7, 0.6], [True, True, False, False])
    assert found.precisions == pytest.approx([1.0, 2 / 3, 0.5])
