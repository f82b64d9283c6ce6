"""Arrays in files: `.npz` without pickles, checked against what is expected before anything is allocated.

A table of 2^bits weights, most of which are 0, is kept as the others, in half precision, and a bit for each
slot that says whether it has one of them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats
from d2c.base.model_files import check_file, reading
from d2c.base.numbers import LARGEST

MOST_BITS = 26  # of a table of weights: 256 MiB
MOST_BYTES = 5 << 27  # of all arrays of a file: such a table, each weight with its slot, and others

Arrays = dict[str, NDArray[Any]]


class Like(NamedTuple):
    """What an array must be: its type as numpy names it (`f4`, `i8`, `b1`), and how many dimensions."""

    kind: str
    dimensions: int


SPARSE = {"filled": Like("u1", 1), "values": Like("f2", 1)}
WITH_SLOTS = {"slots": Like("i4", 1), "values": Like("f4", 1)}  # as of 0.2.0


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays of any shape `[...]`, compressed."""
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_arrays(path: Path, expected: Mapping[str, Like], most: int = MOST_BYTES) -> Arrays:
    """Return the arrays of these names, of so many bytes at most in all. Raises ModelError where one is
    missing, too large, or of another kind."""
    check_file(path, most)
    with reading(path), zipfile.ZipFile(path) as archive:
        if sum(archive.getinfo(f"{name}.npy").file_size for name in expected) > most:
            raise ValueError("its arrays are too large")
        for name, like in expected.items():
            _check(archive, name, like)
        with np.load(path, allow_pickle=False) as file:  # by the names that were checked, with their ending
            return {name: np.ascontiguousarray(file[f"{name}.npy"]) for name in expected}


def _check(archive: zipfile.ZipFile, name: str, like: Like) -> None:
    """Raise ValueError unless the header of an array says what is expected and fits the size of its file."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"the array {name} is of an unknown version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        if dtype != np.dtype(like.kind) or len(shape) != like.dimensions:
            raise ValueError(f"the array {name} has type {dtype} and {len(shape)} dimensions")
        if min(shape) < 0 or stream.tell() + prod(shape) * dtype.itemsize != info.file_size:
            raise ValueError(f"the array {name} has not the size that it declares")


def halved(weights: Floats) -> Floats:
    """Return weights [2^bits] that `sparse` keeps as they are: those of half precision."""
    largest = np.finfo(np.float16).max
    return np.clip(weights, -largest, largest).astype(np.float16).astype(np.float32)


def sparse(weights: Floats) -> Arrays:
    """Return the values of weights [2^bits] that are not 0, and where they are, in bits; see `halved`."""
    values = weights.astype(np.float16)
    return {"filled": np.packbits(values != 0), "values": values[values != 0]}


def sparse_in(path: Path) -> Mapping[str, Like]:
    """Return the arrays that a file keeps a table as. Raises ModelError for no such file."""
    check_file(path, MOST_BYTES)
    with reading(path), zipfile.ZipFile(path) as archive:
        return WITH_SLOTS if "slots.npy" in archive.namelist() else SPARSE


def dense(arrays: Mapping[str, NDArray[Any]], bits: int) -> Floats:
    """Return the weights [2^bits] of which a file kept some. Raises ValueError for what does not fit."""
    if not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
        raise ValueError(f"a table of 2^{bits} weights")
    values, size = arrays["values"], 1 << bits
    slots = _filled(arrays["filled"], size) if "filled" in arrays else arrays["slots"]
    if len(slots) != len(values) or (len(slots) and not 0 <= slots.min() <= slots.max() < size):
        raise ValueError("the slots of the weights are out of range")
    check_numbers(values)
    weights = np.zeros(size, np.float32)
    weights[slots] = values
    return weights


def _filled(bits: NDArray[np.uint8], size: int) -> NDArray[Any]:
    if len(bits) != -(-size // 8):  # before eight times as much is allocated
        raise ValueError("not a bit for each slot of the weights")
    return np.flatnonzero(np.unpackbits(bits))


def check_numbers(values: NDArray[Any]) -> None:
    """Raise ValueError unless all values `[...]` are numbers, and such that sums of them are numbers, too."""
    if not np.all(np.abs(values.astype(np.float32)) < LARGEST):  # nor is NaN less
        raise ValueError("some weights are no numbers")
