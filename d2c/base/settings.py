"""Settings said once: a frozen dataclass whose fields carry range and help, from which checks, files and the
options of the command line follow.

    @dataclass(frozen=True, kw_only=True)
    class ChartSettings(Settings):
        gamma: float = setting(0.95, "Pruning 2 fixes the sides that are more probable.", least=0, most=1)

A value out of range is a ParameterError with the field's name, wherever it comes from: Python, a model's file
or the command line.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, cast, get_args, get_origin, get_type_hints

from d2c.base.errors import ParameterError

_KEY = "d2c"


class Limits(NamedTuple):
    """The range or the choices of a value.

    least, most: the range of a number, ends included; above: a number must be greater than this
    choices: the values of a name; none: any
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterError where a value is out of range, no finite number, or none of the choices."""
        if self.choices and value not in self.choices:
            raise ParameterError("unknown ", name, f" {value!r}; known are {', '.join(self.choices)}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = self.least is not None and value < self.least
            low = low or (self.above is not None and value <= self.above)
            if (
                low
                or (isinstance(value, float) and not isfinite(value))
                or (self.most is not None and value > self.most)
            ):
                raise ParameterError("", name, f" is {value!r}, not {self}")

    def __str__(self) -> str:
        """Return the range of a number in words."""
        words = [f"at least {self.least:.10g}"] if self.least is not None else []
        words += [f"more than {self.above:.10g}"] if self.above is not None else []
        words += [f"at most {self.most:.10g}"] if self.most is not None else []
        return " and ".join(words) or "a finite number"


def setting(
    default: Any,
    help: str = "",
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    choices: Collection[str] = (),
) -> Any:
    """Return a field of a dataclass of settings, with the help text of its option and its `Limits`."""
    return field(default=default, metadata={_KEY: (help, Limits(least, most, above, tuple(choices)))})


def seed_setting(help: str = "") -> Any:
    """Return a field with a seed that all libraries take: numpy and scikit-learn have no larger ones."""
    return setting(1, help, least=0, most=(1 << 32) - 1)


def redefault(cls: type[Settings], name: str, default: Any) -> Any:
    """Return a field of settings again, with another default, for a class that derives from `cls`."""
    return field(default=default, metadata={_KEY: _metadata(cls, name)})


def help_of(cls: type[Settings], name: str) -> str:
    """Return the help text of a field's option."""
    return _metadata(cls, name)[0]


def limits_of(cls: type[Settings], name: str) -> Limits:
    """Return the range or the choices of a field."""
    return _metadata(cls, name)[1]


def _metadata(cls: type[Settings], name: str) -> tuple[str, Limits]:
    (metadata,) = (one.metadata for one in fields(cls) if one.name == name)
    return cast(tuple[str, Limits], metadata.get(_KEY, ("", Limits())))


def types_of(cls: type[Settings]) -> Mapping[str, tuple[type, ...]]:
    """Return the types that each field takes; int stands for float, too."""
    return _types_of(cast(Hashable, cls))


@cache
def _types_of(cls: Any) -> Mapping[str, tuple[type, ...]]:
    hints = get_type_hints(cls)
    return {one.name: _types(hints[one.name]) for one in fields(cls)}


def _types(hint: Any) -> tuple[type, ...]:
    if isinstance(hint, UnionType):
        return tuple(one for part in get_args(hint) for one in _types(part))
    hint = get_origin(hint) or hint
    return (int, float) if hint is float else (hint,)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The base of all settings. Raises ParameterError for a value of another type, or out of range."""

    def __post_init__(self) -> None:
        for one in fields(self):
            check(type(self), one.name, getattr(self, one.name))

    def to_json(self) -> dict[str, Any]:
        """Return all fields, for a file."""
        return asdict(self)


def check(cls: type[Settings], name: str, value: Any) -> None:
    """Raise ParameterError for a value that a field cannot have."""
    types = types_of(cls)[name]
    if value is None and NoneType in types:
        return
    if object not in types and (not isinstance(value, types) or (type(value) is bool and bool not in types)):
        raise ParameterError("", name, f" is {value!r}")
    limits_of(cls, name).check(name, value)
