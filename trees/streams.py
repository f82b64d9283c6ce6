"""Streams of anything, taken in lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(stream: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many elements, the last one perhaps of fewer; one list is held at a time."""
    rest = iter(stream)
    while batch := [*islice(rest, size)]:
        yield batch
