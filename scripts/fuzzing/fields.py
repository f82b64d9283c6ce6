"""Extreme numbers and sizes for every field of every file of a model, a dozen for each field."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import reduce
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import srsly
import torch

EXTREMES = [0, -1, 2**31, 2**63, 10**400, -(10**400), 1e308, -1e308, 5e-324, 1e31, "", [2**40] * 9]
SIZES = [0, 2, 1_000]  # so many times the entries of a list, mapping or text
NEW = [-1, 0, 1, 2**31 - 1, -(2**31), 1e38, float("nan"), float("inf")]  # in an array; four sizes follow
_MANY = 28  # fields of an object at most; what has more is a mapping
_MOST = 1_000_000  # entries after an edit
_UNREAD = "card.json", "tokenizer_config.json"  # files from which nothing is computed


class Edit(NamedTuple):
    """One of the dozen edits of a field: its file, the keys that lead to it there, and the edit's number."""

    model: Path
    file: str
    way: tuple[Any, ...]
    number: int


class Format(NamedTuple):
    """How files are read, as nested containers, and written; `write` is also given the old bytes."""

    read: Callable[[bytes], Any]
    write: Callable[[Any, bytes], bytes]


def edits_of(models: Iterable[Path], rng: Random) -> Iterator[Edit]:
    """Yield all edits of each field, in the first of the models that has the field in a file of this name.
    Files in formats that only their libraries know are left out."""
    seen = set[Any]()
    for model in models:
        for file in sorted(path for path in model.rglob("*") if path.is_file() and path.name not in _UNREAD):
            if file.suffix not in FORMATS:
                continue
            ways = _ways(rng, FORMATS[file.suffix].read(file.read_bytes()))
            name = str(file.relative_to(model))
            for names, way in ways.items():
                if (file.name, names) not in seen:
                    seen.add((file.name, names))
                    yield from (Edit(model, name, way, number) for number in range(len(EXTREMES)))


def _ways(
    rng: Random, value: Any, way: tuple[Any, ...] = (), names: tuple[Any, ...] = ()
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return, by the names of each field, the keys to one place of it: all values of a list or of a large
    mapping are one field."""
    found, keys = dict[tuple[Any, ...], tuple[Any, ...]](), keys_of(value)
    many = isinstance(value, list | tuple) or len(keys) > _MANY
    for key in rng.sample(keys, min(len(keys), _MANY)):
        named = (*names, None if many else key)
        found |= {named: (*way, key)} | _ways(rng, value[key], (*way, key), named)
    return found


def keys_of(value: Any) -> list[Any]:
    """Return the keys of a container's values; none for anything else."""
    return [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []


def edited(edit: Edit) -> bytes:
    """Return the file after an edit, or, if its format cannot hold the new value, after the next edit."""
    content, kind = (edit.model / edit.file).read_bytes(), FORMATS[Path(edit.file).suffix]
    *above, key = edit.way
    for number in range(edit.number, edit.number + len(EXTREMES)):
        container = reduce(getitem, above, value := kind.read(content))
        container[key] = extreme(container[key], number % len(EXTREMES))
        with suppress(OverflowError, TypeError, ValueError):
            return kind.write(value, content)
    raise AssertionError(f"{edit.file} holds none of them")


def extreme(value: Any, number: int) -> Any:
    """Return what takes the place of a value: an extreme number, or another size of a value with a size."""
    if isinstance(value, torch.Tensor):
        return torch.from_numpy(_array(value.numpy(), number))
    if isinstance(value, np.ndarray):
        return _array(value, number)
    if number >= len(SIZES) or not isinstance(value, dict | list | str):
        return EXTREMES[number]
    times = min(SIZES[number], _MOST // max(1, len(value)))
    if isinstance(value, dict):
        return {f"{key}{time or ''}": one for time in range(times) for key, one in value.items()}
    return value * times


def _array(array: Any, number: int) -> Any:
    """Return an array of another size, or with another number in the middle."""
    if number >= len(NEW):
        sizes = array[:0], array[: len(array) // 2], np.concatenate([array, array]), array[None]
        return sizes[number - len(NEW)]
    array, value = array.copy(), NEW[number]
    if array.dtype.kind in "iu":
        bounds = np.iinfo(array.dtype)
        value = int(min(max(value, bounds.min), bounds.max)) if value == value else bounds.min
    if array.size:
        with np.errstate(over="ignore"):  # half precision has an infinity
            array.reshape(-1)[array.size // 2] = value
    return array


def _read_arrays(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def _write_arrays(value: dict[str, Any], _: bytes) -> bytes:
    np.savez_compressed(stream := io.BytesIO(), allow_pickle=False, **value)
    return stream.getvalue()


def _write_network(value: Any, _: bytes) -> bytes:
    torch.save(value, stream := io.BytesIO(), _use_new_zipfile_serialization=False)
    return stream.getvalue()


def _read_header(content: bytes) -> Any:
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def _write_header(value: Any, content: bytes) -> bytes:
    header = json.dumps(value).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + int.from_bytes(content[:8], "little") :]


FORMATS = {  # by the suffixes of files
    ".json": Format(json.loads, lambda value, _: json.dumps(value).encode()),
    ".npz": Format(_read_arrays, _write_arrays),
    ".pt": Format(lambda content: torch.load(io.BytesIO(content), "cpu", weights_only=True), _write_network),
    ".safetensors": Format(_read_header, _write_header),
    "": Format(srsly.msgpack_loads, lambda value, _: bytes(srsly.msgpack_dumps(value))),  # spaCy's
}
