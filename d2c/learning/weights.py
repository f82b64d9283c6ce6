"""Arrays in files: `.npz` without pickles, checked against what is expected before anything is allocated.

Weights are kept as whole numbers of steps, a step being a power of two and a small share of their root mean
square: a uniform quantizer before an entropy coder (Gish and Pierce, "Asymptotically efficient quantizing",
1968).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats
from d2c.base.model_files import check_file, reading
from d2c.base.numbers import LARGEST

MOST_BITS = 26  # of a table of weights: 256 MiB
MOST_BYTES = 5 << 27  # of all arrays of a file: such a table, the slot of each weight, and others

Arrays = dict[str, NDArray[Any]]


class Like(NamedTuple):
    """What an array must be: its type as numpy names it (`f4`, `i8`, `b1`), and how many dimensions."""

    kind: str
    dimensions: int


CODED = {"codes": Like("u1", 2), "steps": Like("f4", 1)}
SPARSE = {"filled": Like("u1", 1), "values": Like("f2", 1)}  # of a table, before there were codes
FINENESS = 32  # steps in the root mean square of weights: two or three of a hundred trees change
_MOST = (1 << 15) - 1  # steps of the largest weight
_AT_ONCE = 1 << 20  # weights decoded at once: the integers of all would take as much memory as the weights


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays of any shape `[...]` as numpy's `savez_compressed` does, but as small as they get: a
    tenth smaller where most numbers are 0."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def read_arrays(path: Path, expected: Mapping[str, Like], most: int = MOST_BYTES) -> Arrays:
    """Return the arrays `[...]` of these names, of at most so many bytes in all. Raises ModelError where an
    array is missing, too large, or of another kind."""
    check_file(path, most)
    with reading(path), zipfile.ZipFile(path) as archive:
        if sum(archive.getinfo(f"{name}.npy").file_size for name in expected) > most:
            raise ValueError("its arrays are too large")
        for name, like in expected.items():
            _check(archive, name, like)
        with np.load(path, allow_pickle=False) as file:  # by the names that were checked, which end in .npy
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


def rounded(weights: Floats, fineness: float = FINENESS) -> Floats:
    """Return weights `[...]` rounded to multiples of their `_step`, which `coded` keeps as they are."""
    [values] = decoded(coded([weights], fineness), [weights.size])
    return values.reshape(weights.shape)


def coded(tables: Iterable[Floats], fineness: float = FINENESS) -> Arrays:
    """Return weights of any shapes `[...]`, one table after the other, as whole numbers of steps; each table
    has its own `_step`.

    The numbers 0, -1, 1, ... become 0, 1, 2, ..., and their lower bytes are kept apart from their upper ones,
    which are nearly all 0: compressed, most weights take seven bits, a 0 hardly one.
    """
    steps, numbers = list[float](), [np.zeros(0, np.int16)]
    for table in tables:
        steps.append(_step(table, fineness))
        numbers.append(np.rint(table.ravel() / np.float32(steps[-1])).clip(-_MOST, _MOST).astype(np.int16))
    signed = np.concatenate(numbers)
    folded = ((signed << 1) ^ (signed >> 15)).view(np.uint16)
    codes = np.stack([folded.astype(np.uint8), (folded >> 8).astype(np.uint8)])
    return {"codes": codes, "steps": np.array(steps, np.float32)}


def decoded(arrays: Mapping[str, NDArray[Any]], sizes: Sequence[int]) -> list[Floats]:
    """Return the weights [size] of each table, from the arrays that `coded` made. Raises ValueError for
    others."""
    codes, steps = arrays["codes"], arrays["steps"]
    if codes.shape != (2, sum(sizes)) or steps.shape != (len(sizes),):
        raise ValueError("weights of other shapes")
    with np.errstate(over="ignore"):  # an overflow is what the check looks for
        check_numbers(steps * np.float32(_MOST))
    weights = np.empty(sum(sizes), np.float32)
    for begin in range(0, len(weights), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        folded = codes[0, some] | codes[1, some].astype(np.uint16) << 8
        weights[some] = (folded >> 1).view(np.int16) ^ -(folded & 1).view(np.int16)
    parts = np.split(weights, np.cumsum(sizes)[:-1])
    for part, step in zip(parts, steps, strict=True):
        part *= step
    return parts


def _step(weights: Floats, fineness: float) -> float:
    """Return the greatest power of two that goes at least `fineness` times into the root mean square of the
    weights `[...]` that are not 0.

    If all weights are multiples of an eighth of that, as rounded ones are, return the greatest power of two
    that divides them all: rounded once more, by another root mean square, they would change.
    """
    values = weights[weights != 0]
    if not len(values):
        return 1.0
    mean = np.mean(np.square(values, dtype=np.float64))
    exponent = int(np.floor(np.log2(np.sqrt(mean) / fineness)))
    step, parts = 2.0**exponent, np.ldexp(values, 3 - exponent)  # eighths of it may be 0 in float32
    if np.any(parts != np.rint(parts)):
        return step
    whole = parts.clip(-(1 << 30), 1 << 30).astype(np.int32)
    return float((whole & -whole).min()) * step / 8


def kept_in(path: Path) -> Mapping[str, Like]:
    """Return what arrays a file keeps a table in. Raises ModelError for a missing or broken file."""
    check_file(path, MOST_BYTES)
    with reading(path), zipfile.ZipFile(path) as archive:
        return SPARSE if "filled.npy" in archive.namelist() else CODED


def dense(arrays: Mapping[str, NDArray[Any]], bits: int) -> Floats:
    """Return the weights [2^bits] of a file's arrays of either kind. Raises ValueError if they do not fit."""
    size = 1 << bits
    if "codes" in arrays:
        [weights] = decoded(arrays, [size])
        return weights
    slots, values = filled_slots(arrays["filled"], size), arrays["values"]
    if len(slots) != len(values):
        raise ValueError("not a value for each slot of the weights")
    check_numbers(values)
    weights = np.zeros(size, np.float32)
    weights[slots] = values
    return weights


def filled_slots(bits: NDArray[np.uint8], size: int) -> NDArray[Any]:
    """Return the slots whose bits are set, in order, of bits [ceil(size / 8)]. Raises ValueError for another
    number of bytes."""
    if len(bits) != -(-size // 8):  # before eight times as much is allocated
        raise ValueError("not a bit for each slot of the weights")
    return np.flatnonzero(np.unpackbits(bits))


def check_numbers(values: NDArray[Any]) -> None:
    """Raise ValueError unless all values `[...]` are numbers, so small that sums of them are numbers, too."""
    least, most = float(np.min(values, initial=0)), float(np.max(values, initial=0))
    if not (least > -LARGEST and most < LARGEST):  # NaN fails either comparison
        raise ValueError("some weights are no numbers")
