"""Arrays of model files: whatever is wrong with them is one ModelError, before memory is taken."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from d2c.base.errors import ModelError
from d2c.learning.weights import (
    CODED,
    FINENESS,
    SPARSE,
    Like,
    coded,
    decoded,
    dense,
    kept_in,
    read_arrays,
    rounded,
    write_arrays,
)

TWO = {"slots": Like("i4", 1), "values": Like("f4", 1)}
WEIGHTS = np.array([0, 0.5, 0, -2], np.float32)
HALVES = {"filled": np.packbits(WEIGHTS != 0), "values": np.array([0.5, -2], np.float16)}


def with_header(header: str, length: int) -> bytes:
    """An array's file that says what it likes, with so many bytes of data."""
    text = header.encode().ljust(118 - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(length)


def npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


HUGE = with_header(f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({1 << 45},), }}", 64)
NEGATIVE = with_header("{'descr': '<i4', 'fortran_order': False, 'shape': (-4,), }", 16)
OBJECTS = with_header("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 16)
DEEP = with_header("[" * 100, 16)


def test_weights_come_back(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x.npz", coded([WEIGHTS]))
    assert kept_in(tmp_path / "x.npz") is CODED
    np.testing.assert_array_equal(dense(read_arrays(tmp_path / "x.npz", CODED), 2), WEIGHTS)


@given(
    arrays(np.float32, st.integers(0, 50), elements=st.floats(-1e9, 1e9, width=32)),
    st.sampled_from([0.5, 1, FINENESS]),
)
@example(np.array([1e-45], np.float32), 0.5)  # the smallest weights that there are
@example(np.array([1e-45, 3e-45], np.float32), FINENESS)
def test_weights_are_rounded_once(weights: NDArray[Any], fineness: float) -> None:
    """To half a step, a power of two and that share of their root mean square; the largest to 2^15 steps."""
    once = rounded(weights, fineness)
    [step] = coded([weights], fineness)["steps"]
    np.testing.assert_array_equal(rounded(once, fineness), once)
    np.testing.assert_array_equal(once % step, 0)
    values = weights[weights != 0].astype(np.float64)
    if len(values):
        assert fineness * step <= np.sqrt(np.mean(values**2)) or (weights == once).all()
        assert np.abs(once - weights).max() <= max(step / 2, np.abs(weights).max() - 32767 * step)


def test_a_weight_takes_less_room_than_a_byte(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).normal(scale=1.2, size=1 << 16).astype(np.float32)
    for name, fineness, most in (("fine", FINENESS, 8), ("coarse", 1, 3.5)):
        write_arrays(tmp_path / f"{name}.npz", coded([weights], fineness))
        assert (tmp_path / f"{name}.npz").stat().st_size * 8 < most * len(weights)


def test_tables_one_after_the_other() -> None:
    tables = [
        np.array([[1, -2], [0, 0.5]], np.float32),
        np.zeros(0, np.float32),
        np.full(3, 1e-3, np.float32),
    ]
    sizes = [4, 0, 3]
    read = decoded(coded(tables), sizes)
    np.testing.assert_array_equal(read[0], [1, -2, 0, 0.5])
    assert [len(one) for one in read] == sizes
    np.testing.assert_allclose(read[2], 1e-3, rtol=1 / FINENESS)
    for others in ([4, 3], [4, 0, 4], [7, 0, 0, 0]):
        with pytest.raises(ValueError, match="weights of other shapes"):
            decoded(coded(tables), others)


def test_weights_of_half_precision_are_read_too(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x.npz", HALVES)
    assert kept_in(tmp_path / "x.npz") is SPARSE
    np.testing.assert_array_equal(dense(read_arrays(tmp_path / "x.npz", SPARSE), 2), WEIGHTS)


@pytest.mark.parametrize("size", [0, 2, 1 << 20])
def test_there_is_a_bit_for_each_slot(size: int) -> None:
    with pytest.raises(ValueError, match="not a bit for each slot"):
        dense({"filled": np.zeros(size, np.uint8), "values": np.zeros(0, np.float16)}, 3)


@pytest.mark.parametrize(
    "slots",
    [HUGE, NEGATIVE, OBJECTS, DEEP, b"", npy(np.zeros((1, 2), np.int32)), npy(np.zeros(2, np.int64))],
)
def test_headers_are_believed_only_where_they_fit(slots: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("slots.npy", slots)
        archive.writestr("values.npy", npy(np.ones(2, np.float32)))
    with pytest.raises(ModelError, match=r"^[^\n]*x.npz: is broken \([^\n]*\); train the model again$"):
        read_arrays(tmp_path / "x.npz", TWO)


def test_little_that_unpacks_to_very_much(tmp_path: Path) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 28},), }}"
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("slots.npy", npy(np.zeros(2, np.int32)))
        archive.writestr("values.npy", with_header(header, 64))
    data = (tmp_path / "x.npz").read_bytes()
    assert data.count((128 + 64).to_bytes(4, "little")) >= 4  # sizes, packed and unpacked
    at = data.rindex((128 + 64).to_bytes(4, "little"))
    (tmp_path / "x.npz").write_bytes(data[:at] + (128 + (1 << 30)).to_bytes(4, "little") + data[at + 4 :])
    with pytest.raises(ModelError, match="its arrays are too large"):
        read_arrays(tmp_path / "x.npz", TWO)


@pytest.mark.parametrize("length", [0, 1, 30, 100, 300])
def test_files_cut_short(length: int, tmp_path: Path) -> None:
    write_arrays(tmp_path / "x.npz", coded([WEIGHTS]))
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:length])
    with pytest.raises(ModelError, match="x.npz: is broken"):
        read_arrays(tmp_path / "x.npz", CODED)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_what_has_no_sum(value: float) -> None:
    with pytest.raises(ValueError, match="no numbers"):
        dense(HALVES | {"values": np.array([1, value], np.float32)}, 2)
    with pytest.raises(ValueError, match="no numbers"):
        dense(coded([WEIGHTS]) | {"steps": np.array([value], np.float32)}, 2)


def test_arrays_are_read_under_the_names_that_were_checked(tmp_path: Path) -> None:
    """numpy takes a member `x` for the array x, before `x.npy`."""
    path = tmp_path / "x.npz"
    write_arrays(path, {"slots": np.zeros(2, np.int32), "values": np.ones(2, np.float32)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("values", npy(np.full((3, 3), 7.0)))
    assert read_arrays(path, TWO)["values"].tolist() == [1.0, 1.0]
