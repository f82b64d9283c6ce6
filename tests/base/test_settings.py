"""Settings: what a field says is checked wherever its value comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from d2c.base.settings import Settings, help_of, seed_setting, setting


@dataclass(frozen=True, kw_only=True)
class Some(Settings):
    share: float = setting(0.5, "A share.", least=0, most=1)
    rate: float = setting(0.1, above=0)
    passes: int = setting(5, least=1)
    name: str = setting("a", choices=("a", "b"))
    sure: bool | None = None
    file: Path | None = None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"share": 1.5}, "share is 1.5, not at least 0 and at most 1"),
        ({"share": "x"}, "share is 'x'"),
        ({"share": True}, "share is True"),
        ({"rate": 0.0}, "rate is 0.0, not more than 0"),
        ({"rate": float("nan")}, "rate is nan, not more than 0"),
        ({"rate": float("inf")}, "rate is inf, not more than 0"),
        ({"passes": -3}, "passes is -3, not at least 1"),
        ({"passes": 1.5}, "passes is 1.5"),
        ({"name": "c"}, "unknown name 'c'; known are a, b"),
        ({"sure": 1}, "sure is 1"),
    ],
)
def test_what_is_out_of_range_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Some(**row)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TypeError, match="other"):
        Some(**{"other": 1})


def test_settings_are_those_that_were_written() -> None:
    settings = Some(share=1, rate=2, name="b", sure=False)
    assert Some(**settings.to_json()) == settings
    assert help_of(Some, "share") == "A share." and help_of(Some, "sure") == ""


def test_seeds_are_those_that_all_libraries_take() -> None:
    import numpy

    @dataclass(frozen=True, kw_only=True)
    class Seeded(Settings):
        seed: int = seed_setting("Of all.")

    numpy.random.RandomState(Seeded(seed=2**32 - 1).seed)
    with pytest.raises(ValueError, match="seed is 4294967296, not at least 0 and at most 4294967295"):
        Seeded(seed=2**32)
