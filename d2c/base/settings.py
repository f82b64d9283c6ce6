"""Settings defined once: a frozen dataclass whose fields have a range and a help text, from which checks,
files and the options of the command line follow.

    @dataclass(frozen=True, kw_only=True)
    class ChartSettings(Settings):
        gamma: float = setting(0.95, "Pruning 2 fixes the sides that are more probable.", least=0, most=1)

Settings nest as the parts do to which they belong. Each field is set under one name, that of its option,
however deep it lies: `changed(gamma=0.9)`. A field that several parts share, such as a seed, has one name,
too, and is set in all of them.

A value out of range is a ParameterError with the field's name, wherever it comes from: Python, a model's file
or the command line.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, Self, cast, get_args, get_origin, get_type_hints

from d2c.base.errors import ParameterError, shortened

MOST_PASSES = 10_000  # over a treebank

_KEY = "d2c"


class Told(NamedTuple):
    """What is known of a field beside its default.

    help, metavar: of its option; metavar: what stands for a value
    option:  the name that it is set by; "": its own; None: it has no option, its owner sets it
    least, most: the range of a number, ends included; above: a number must be greater than this
    choices: the values that a name may have; none: any
    """

    help: str = ""
    metavar: str | None = None
    option: str | None = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterError where a value is out of range, not finite, or none of the choices."""
        if self.choices and value not in self.choices:
            raise ParameterError("unknown ", name, f" {_shown(value)}; known are {', '.join(self.choices)}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = self.least is not None and value < self.least
            low = low or (self.above is not None and value <= self.above)
            if (
                low
                or (isinstance(value, float) and not isfinite(value))
                or (self.most is not None and value > self.most)
            ):
                raise ParameterError("", name, f" is {_shown(value)}, not {self.range}")

    @property
    def range(self) -> str:
        """Return the range of a number in words."""
        words = [f"at least {self.least:.10g}"] if self.least is not None else []
        words += [f"more than {self.above:.10g}"] if self.above is not None else []
        words += [f"at most {self.most:.10g}"] if self.most is not None else []
        return " and ".join(words) or "a finite number"


def _shown(value: Any) -> str:
    """Return a wrong value as messages have it."""
    return shortened(repr(value), 60)


def setting(default: Any, help: str = "", *, choices: Collection[str] = (), **told: Any) -> Any:
    """Return a field of a dataclass of settings; told: further fields of its `Told`."""
    return field(default=default, metadata={_KEY: Told(help, choices=tuple(choices), **told)})


def set_by(option: str | None, one: Any) -> Any:
    """Return a field that is set under another name than its own; None: by its owner alone, under no name."""
    return field(default=one.default, metadata={_KEY: _told(one)._replace(option=option)})


def seed_setting(help: str = "") -> Any:
    """Return a field with a seed that all libraries take: numpy and scikit-learn have no larger ones."""
    return setting(1, help, least=0, most=(1 << 32) - 1)


def redefault(cls: type[Settings], name: str, default: Any) -> Any:
    """Return a field of settings again, with another default, for a class that derives from `cls`."""
    return field(default=default, metadata={_KEY: told_of(cls, name)})


def told_of(cls: type[Settings], name: str) -> Told:
    """Return the `Told` of a field."""
    (told,) = (_told(one) for one in fields(cls) if one.name == name)
    return told


def _told(one: Field[Any]) -> Told:
    return cast(Told, one.metadata.get(_KEY, Told()))


def named_fields(cls: type[Settings]) -> dict[str, tuple[type[Settings], str]]:
    """Return the fields of settings, and of those nested in them, by the names under which they are set.

    Each is a class and the name of a field of it. Of several fields under one name, the class's own one comes
    before nested ones, and of these the first.
    """
    found: dict[str, tuple[type[Settings], str]] = {}
    for one in fields(cls):
        kind, option = types_of(cls)[one.name][0], _told(one).option
        if issubclass(kind, Settings):
            for name, place in named_fields(kind).items():
                found.setdefault(name, place)
        elif option is not None:
            found[option or one.name] = cls, one.name
    return found


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

    def changed(self, **values: Any) -> Self:
        """Return the settings with other values, each under the name that `named_fields` has for it.

        Raises TypeError for names that no field has.
        """
        changes = dict[str, Any]()
        for one in fields(self):
            part, name = getattr(self, one.name), _told(one).option or one.name
            if isinstance(part, Settings):
                own = named_fields(type(part)).keys() & values
                changes[one.name] = part.changed(**{name: values[name] for name in own})
            elif name in values and _told(one).option is not None:
                changes[one.name] = values[name]
        if unknown := values.keys() - named_fields(type(self)):
            raise TypeError(f"{type(self).__name__} has no {' and no '.join(sorted(unknown))}")
        return replace(self, **changes)

    def value_of(self, name: str) -> Any:
        """Return the value under a name that `named_fields` has. Raises KeyError."""
        owner, own = named_fields(type(self))[name]
        parts: list[Settings] = [self]
        for part in parts:
            if type(part) is owner:
                return getattr(part, own)
            nested = (getattr(part, one.name) for one in fields(part))
            parts += [one for one in nested if isinstance(one, Settings)]
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """Return all fields, for a file."""
        return asdict(self)


def check(cls: type[Settings], name: str, value: Any) -> None:
    """Raise ParameterError for a value that a field cannot have."""
    types = types_of(cls)[name]
    if value is None and NoneType in types:
        return
    if object not in types and (not isinstance(value, types) or (type(value) is bool and bool not in types)):
        wanted = " or ".join(one.__name__ for one in types if one is not NoneType)
        raise ParameterError("", name, f" is {_shown(value)}, not {wanted}")
    told_of(cls, name).check(name, value)
