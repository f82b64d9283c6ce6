"""Settings: what a field says is checked wherever its value comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from d2c.base.errors import ParameterError
from d2c.base.settings import Settings, named_fields, seed_setting, set_by, setting, told_of


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
        ({"share": "x"}, "share is 'x', not int or float"),
        ({"share": True}, "share is True, not int or float"),
        ({"rate": 0.0}, "rate is 0.0, not more than 0"),
        ({"rate": float("nan")}, "rate is nan, not more than 0"),
        ({"rate": float("inf")}, "rate is inf, not more than 0"),
        ({"passes": -3}, "passes is -3, not at least 1"),
        ({"passes": 1.5}, "passes is 1.5, not int"),
        ({"name": "c"}, "unknown name 'c'; known are a, b"),
        ({"sure": 1}, "sure is 1, not bool"),
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
    assert told_of(Some, "share").help == "A share." and told_of(Some, "sure").help == ""


def test_seeds_are_those_that_all_libraries_take() -> None:
    import numpy

    @dataclass(frozen=True, kw_only=True)
    class Seeded(Settings):
        seed: int = seed_setting("Of all.")

    numpy.random.RandomState(Seeded(seed=2**32 - 1).seed)
    with pytest.raises(ParameterError) as caught:
        Seeded(seed=2**32)
    assert caught.value.parameter == "seed" and str(2**32 - 1) in str(caught.value)


@dataclass(frozen=True, kw_only=True)
class Part(Settings):
    passes: int = set_by("part_passes", setting(3))
    seed: int = seed_setting()
    own: bool = set_by(None, setting(False))


@dataclass(frozen=True, kw_only=True)
class Whole(Settings):
    passes: int = 5
    seed: int = seed_setting()
    part: Part = Part()


def test_what_is_nested_is_set_by_name() -> None:
    assert named_fields(Whole) == {
        "passes": (Whole, "passes"),
        "seed": (Whole, "seed"),
        "part_passes": (Part, "passes"),
    }
    whole = Whole().changed(part_passes=4, seed=7)
    assert whole == Whole(seed=7, part=Part(passes=4, seed=7))
    assert [whole.value_of(name) for name in named_fields(Whole)] == [5, 7, 4]
    for unknown in ("own", "part", "other"):
        with pytest.raises(TypeError, match=f"^Whole has no {unknown}$"):
            whole.changed(**{unknown: True})
