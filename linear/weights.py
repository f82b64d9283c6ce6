"""Arrays in files: `.npz` without pickles, checked against what is expected before anything is allocated.

A table of 2^bits weights, most of which are 0, is kept as the slots and values of the others.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.trees.model_files import reading

MOST_BITS = 28  # of a table of weights: 1 GiB
_MOST_BYTES = 1 << 32  # of an array in a file

Arrays = dict[str, NDArray[Any]]


class Like(NamedTuple):
    """What an array must be: the letter of its kind (`i`, `u`, `f`, `b`) and its number of dimensions."""

    kind: str
    dimensions: int


SPARSE = {"slots": Like("i", 1), "values": Like("f", 1)}


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes named arrays, compressed."""
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_arrays(path: Path, expected: Mapping[str, Like]) -> Arrays:
    """The arrays of these names. Raises ModelError where one is missing, too large, or of another kind."""
    with reading(path), zipfile.ZipFile(path) as archive:
        for name, like in expected.items():
            _check(archive, name, like)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in expected}


def _check(archive: zipfile.ZipFile, name: str, like: Like) -> None:
    """Raises ValueError unless the header of an array says what is expected and fits the size of its file."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"the array {name} is of an unknown version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        length = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.kind != like.kind or len(shape) != like.dimensions:
            raise ValueError(f"the array {name} has type {dtype} and {len(shape)} dimensions")
        if length > _MOST_BYTES or stream.tell() + length != info.file_size:
            raise ValueError(f"the array {name} has not the size that it declares")


def sparse(weights: NDArray[np.float32]) -> Arrays:
    """The slots and values of the weights that are not 0."""
    slots = np.flatnonzero(weights).astype(np.int32)
    return {"slots": slots, "values": weights[slots]}


def dense(arrays: Mapping[str, NDArray[Any]], bits: int) -> NDArray[np.float32]:
    """[2^bits] the weights of which `sparse` kept some. Raises ValueError for what does not fit."""
    slots, values = arrays["slots"], arrays["values"]
    if not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
        raise ValueError(f"a table of 2^{bits} weights")
    if len(slots) != len(values) or (len(slots) and not 0 <= slots.min() <= slots.max() < 1 << bits):
        raise ValueError("the slots of the weights are out of range")
    if not np.isfinite(values).all():
        raise ValueError("some weights are no numbers")
    weights = np.zeros(1 << bits, np.float32)
    weights[slots] = values
    return weights
