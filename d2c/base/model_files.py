"""Files of learned things: settings in JSON with a format number, and what to say of broken files.

Whatever learns writes its settings here and its arrays with `d2c.learning.weights`, and checks both as it
reads them, so that a broken or hostile directory leads to a ModelError and to nothing else: never to code
that runs, to more memory than a model of that kind takes, or to a kernel that reads past an array.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from d2c.base.errors import ModelError, ParameterError, shortened
from d2c.base.files import digest_of_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Shape = TypeVar("Shape")

_MOST_TEXT = 1 << 25  # bytes of JSON: Python makes 24 times as many of `{},{},...`
_MOST_BYTES = 1 << 33  # of any file of a model: a larger one is refused unread
_MOST_OF_TEXT = 1 << 14  # bytes of a label, word or other text in JSON; what training writes has fewer
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')  # a string of JSON
_LONGEST = 200  # characters of what a library says
_LONGEST_VALUE = 40  # characters of a wrong value that are shown
_MOST_QUOTED = 1 << 20  # bytes of JSON: larger files are not read again for the value


def write_settings(path: Path, version: int, settings: Mapping[str, object] | DataclassInstance) -> None:
    """Write a mapping, or a dataclass's fields, and the version of their format into a file, its directory
    made if absent; sets are written in order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = settings if isinstance(settings, Mapping) else _plain(settings)
    text = json.dumps({"format": version, **written}, ensure_ascii=False, default=_plain)
    path.write_text(text + "\n", encoding="utf-8")


def read_as(path: Path, version: int | None, shape: type[Shape]) -> Shape:
    """Return what `write_settings` wrote as the dataclass `shape`.

    version: of the format; None: another program wrote the file, which has no format and may have long texts

    Fields with defaults may be absent in the file; names that are no fields are ignored. Nothing is converted
    except lists to tuples and sets, and int to float. `__post_init__` checks what types cannot express.
    msgspec reads, since it stops at the first wrong value: pydantic collects all of them, which takes 5 GB
    for a hostile file of 32 MB. Linear in the size of the file. Raises ModelError.
    """
    import msgspec  # only where a file is read: it takes 10 ms

    data = _json_of(path)
    if version is not None:
        _check_version(path, data, version)
        _check_texts(path, data)
    with reading(path):
        try:
            return msgspec.json.decode(data, type=shape)
        except msgspec.ValidationError as error:
            raise ValueError(_with_value(str(error), data)) from None


def _with_value(said: str, data: bytes) -> str:
    """Return msgspec's message after the place of the value and, unless it is a container, the value."""
    import msgspec

    expected, _, place = said.rstrip("`").rpartition(" - at `$")
    if not expected:
        return said
    keys = re.findall(r"\.(\w+)|\[(\d+)\]", place)
    if "..." in place or len(data) > _MOST_QUOTED:  # it does not say which
        return f"{place.lstrip('.')}: {expected}"
    value = reduce(lambda found, key: found[key[0] or int(key[1])], keys, msgspec.json.decode(data))
    shown = "" if isinstance(value, dict | list) else f" is {shortened(json.dumps(value), _LONGEST_VALUE)}"
    return f"{place.lstrip('.')}{shown}: {expected}"


def _check_version(path: Path, data: bytes, version: int) -> None:
    import msgspec

    with _saying_json(path):
        try:
            written = msgspec.json.decode(data, type=_Format).format
        except msgspec.ValidationError:  # no object, or what no number of JSON can be
            if not data.lstrip().startswith(b"{"):
                raise ModelError(f"{path}: holds no settings") from None
            written = None
    _check_format(path, written, version)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a model directory. Raises ModelError."""
    import msgspec

    data = _json_of(path)
    with _saying_json(path):
        settings = msgspec.json.decode(data)
    _check_texts(path, data)
    if not isinstance(settings, dict):
        raise ModelError(f"{path}: holds no settings")
    return settings


def as_type(value: Any, shape: type[Shape]) -> Shape:
    """Return a value that was read from JSON as one of a type. Raises ValueError where it does not fit."""
    import msgspec

    return msgspec.convert(value, shape)


def read_settings(path: Path, version: int) -> dict[str, Any]:
    """Return what `write_settings` wrote. Raises ModelError for other files, and for other formats."""
    settings = read_json(path)
    _check_format(path, settings.get("format"), version)
    return settings


@dataclass(frozen=True)
class _Format:
    """The number of the format that a file says."""

    format: Any = None


def _json_of(path: Path) -> bytes:
    check_file(path, _MOST_TEXT)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None


def _check_texts(path: Path, data: bytes) -> None:
    """Raise ModelError for a text in valid JSON that is too long: trees with such labels take gigabytes."""
    for found in _TEXT.finditer(data):
        if (size := found.end() - found.start() - 2) > _MOST_OF_TEXT:
            most = f"more than the {_MOST_OF_TEXT:,} that one may have"
            raise ModelError(f"{path}: has a label, word or other text of {size:,} bytes, {most}")


@contextmanager
def _saying_json(path: Path) -> Iterator[None]:
    """Turn errors of decoding JSON (its text, a number, or how deep it is) into a ModelError."""
    import msgspec

    try:
        yield
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ModelError(f"{path}: is not JSON") from None


def _check_format(path: Path, written: object, version: int) -> None:
    if not isinstance(written, int):
        raise ModelError(f"{path}: says no format")
    if written != version:
        raise ModelError(f"{path}: has format {written}; this version of d2c reads {version}")


def check_file(path: Path, most: int) -> None:
    """Raise ModelError unless a path is a file, no pipe or device, of so many bytes at most."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    if not path.is_file():
        raise ModelError(f"{path}: cannot be read: it is no file")
    if size > most:
        raise ModelError(f"{path}: has {size:,} bytes, more than the {most:,} that such a file may have")


@contextmanager
def reading(source: Path | str, what: str = "is broken ({}); train the model again") -> Iterator[None]:
    """Turn whatever error broken data lead to into a ModelError that names their source.

    what: is wrong with the data, with `{}` in the place of the error's message
    """
    try:
        yield
    except Exception as error:  # of any kind: it is what broken data led Python or a library to do
        if isinstance(error, ModelError) and not isinstance(error, ParameterError):
            raise
        raise ModelError(f"{source}: {what.format(first_line(error))}") from error


def first_line(error: BaseException) -> str:
    """Return the message of an error, in one line that is not too long."""
    said = f"has no {error}" if isinstance(error, KeyError) else str(error)
    line = said.strip().partition("\n")[0] or type(error).__name__
    return shortened(line, _LONGEST)


def size_of(directory: Path) -> int:
    """Return the bytes of all files in a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def digests(directory: Path, parts: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file in some folders of a directory, by its path in the directory.

    Raises ModelError for a file that is too large, before it is read.
    """
    return {name: _digest(path) for name, path in _files(directory, parts).items()}


def digest_of_directory(directory: Path) -> str:
    """Return the SHA-256 of all files in a directory and of their paths. Raises ModelError as `digests`."""
    return hashlib.sha256(json.dumps(digests(directory, ["."])).encode()).hexdigest()


def _digest(path: Path) -> str:
    check_file(path, _MOST_BYTES)
    return digest_of_file(path)


def _files(directory: Path, parts: Iterable[str]) -> dict[str, Path]:
    paths = sorted(path for part in parts for path in (directory / part).rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path for path in paths}


def check_digests(directory: Path, parts: Iterable[str], expected: Mapping[str, object]) -> None:
    """Raise ModelError unless the files in these folders are exactly those with the expected digests."""
    parts = [*parts]
    present = _files(directory, parts)
    known = {file: digest for file, digest in expected.items() if file.partition("/")[0] in parts}
    wrong = dict.fromkeys(known.keys() - present.keys(), "is missing")
    wrong |= dict.fromkeys(present.keys() - known.keys(), "is no file of this model")
    if not wrong:
        wrong = {file: "is damaged" for file, path in present.items() if _digest(path) != known[file]}
    if wrong:
        file = min(wrong)
        raise ModelError(f"{directory / file}: {wrong[file]}; copy or train the model again")


def _plain(value: Any) -> Any:
    """Return what JSON can hold in place of a set or a dataclass."""
    if isinstance(value, frozenset):
        return sorted(value)
    return {one.name: getattr(value, one.name) for one in fields(value)}
