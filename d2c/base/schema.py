"""Checks of what a model's file says: its shape is written as a type, and a value of JSON becomes that type.

    @dataclass(frozen=True)
    class RouteFile:
        labels: tuple[str, ...]
        top: str | None
        rules: tuple[Rule, ...]                             # Rule is a NamedTuple: a list in the file
        levels: Annotated[int, Limits(least=0)] = 0         # may be absent

A shape is `str`, `int`, `float` (an int will do), `bool`, `None` or `Any`; a union of shapes; `list[X]`,
`tuple[X, ...]`, `tuple[X, Y]` or `frozenset[X]` for a list; `dict[str, X]` or `Mapping[str, X]` for objects;
a NamedTuple for a list of all its fields in order; a dataclass for an object, where fields with defaults may
be absent, and other names are passed over; a class of `Settings`; or `Annotated[X, check]` with `Limits`, or
with a function that raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from d2c.base.settings import Limits, Settings

Shape = TypeVar("Shape")
Convert = Callable[[Any], Any]


class _OtherTypeError(TypeError):
    """A value of another type, in a field that is not known yet."""

    def __init__(self) -> None:
        super().__init__("a value is of another type")


def checked(value: object, shape: type[Shape]) -> Shape:
    """Return a value of JSON as the type that `shape` says; linear in the size of the value.

    Raises TypeError for a value of another type, KeyError for a missing name, ValueError for what a check
    refuses.
    """
    return cast(Shape, _converter(cast(Hashable, shape))(value))


@cache
def _converter(shape: Any) -> Convert:
    origin, parts = get_origin(shape), get_args(shape)
    if shape is Any:
        return _plain(object)
    if origin is Annotated:
        return _constrained(_converter(parts[0]), shape.__metadata__)
    if origin in (Union, UnionType):
        return _union(parts)
    if origin in (list, frozenset) or (origin is tuple and parts[1:] == (...,)):
        return _sequence(origin, parts[0])
    if origin is tuple:
        return _row(lambda *values: values, parts)
    if origin in (dict, Mapping):
        return _object(parts[1])
    if issubclass(shape, Settings):
        return cast(Convert, shape.from_json)
    if is_dataclass(shape):
        return _record(shape)
    if hasattr(shape, "_fields"):
        return _row(shape, get_type_hints(shape, include_extras=True).values())
    return _plain(shape)


def _plain(kind: type) -> Convert:
    def convert(value: Any) -> Any:
        accepted = type(value) is kind or kind is object or (kind is float and type(value) is int)
        if not accepted or (type(value) is float and not isfinite(value)):
            raise _OtherTypeError
        return value

    return convert


def _constrained(convert: Convert, checks: tuple[Any, ...]) -> Convert:
    def constrained(value: Any) -> Any:
        converted = convert(value)
        for check in checks:
            if isinstance(check, Limits):
                check.check("a value", converted)
            else:
                check(converted)
        return converted

    return constrained


def _union(shapes: tuple[Any, ...]) -> Convert:
    converters = [_converter(shape) for shape in shapes]

    def convert(value: Any) -> Any:
        for one in converters:
            try:
                return one(value)
            except _OtherTypeError:
                pass
        raise _OtherTypeError

    return convert


def _sequence(kind: Callable[[list[Any]], Any], shape: Any) -> Convert:
    one = _converter(shape)

    def convert(value: Any) -> Any:
        if type(value) is not list:
            raise _OtherTypeError
        return kind([one(part) for part in value])

    return convert


def _row(make: Callable[..., Any], shapes: Iterable[Any]) -> Convert:
    converters = [_converter(shape) for shape in shapes]

    def convert(value: Any) -> Any:
        if type(value) is not list or len(value) != len(converters):
            raise _OtherTypeError
        return make(*[one(part) for one, part in zip(converters, value, strict=True)])

    return convert


def _object(shape: Any) -> Convert:
    one = _converter(shape)

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise _OtherTypeError
        return {name: one(part) for name, part in value.items()}

    return convert


def _record(shape: Any) -> Convert:
    hints = get_type_hints(shape, include_extras=True)
    converters = {one.name: _converter(hints[one.name]) for one in fields(shape)}
    optional = {one.name for one in fields(shape) if (one.default, one.default_factory) != (MISSING, MISSING)}

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise _OtherTypeError
        columns = {}
        for name, one in converters.items():
            if name in value or name not in optional:
                try:
                    columns[name] = one(value[name])
                except _OtherTypeError:
                    raise TypeError(f"the setting {name} is of another type") from None
        return shape(**columns)

    return convert
