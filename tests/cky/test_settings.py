"""The settings of the chart: their ranges, their defaults, and what files say of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from d2c.base.settings import told_of
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.settings import ChartSettings

REFUSED: list[dict[str, Any]] = [
    *(
        {"table_bits": 0},
        {"table_bits": 27},
        {"table_bits": 1.5},
        {"max_unaries": -1},
        {"max_unaries": 1 << 30},
    ),
    *({"rate": float("nan")}, {"rate": 0.0}, {"rate": -0.1}, {"penalty": -1e-6}, {"penalty": float("inf")}),
    *({"epochs": -3}, {"epochs": 0}, {"epochs": True}, {"seed": -1}, {"seed": 0.5}, {"gamma": 1.01}),
    *({"gamma": float("nan")}, {"pruning": "3"}, {"binarization": "left"}, {"grammar": ""}, {"symbols": "x"}),
    *(
        {"max_unaries": 1 << 30},
        {"labels": 1},
        {"context": None},
        {"continuous": "yes"},
        {"head_rules": None},
    ),
]


@pytest.mark.parametrize("changes", REFUSED, ids=str)
def test_what_is_out_of_range_is_refused_by_its_name(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=name):
        ConstrainedCKY(**changes)
    with pytest.raises(ValueError, match=name):
        ChartSettings(**ChartSettings().to_json() | changes)


def test_every_setting_has_a_help_text() -> None:
    assert all(told_of(ChartSettings, field.name).help for field in fields(ChartSettings))


def test_a_file_may_leave_out_what_is_as_by_default() -> None:
    assert ChartSettings(**{"gamma": 1, "seed": 0}) == ChartSettings(gamma=1, seed=0)
