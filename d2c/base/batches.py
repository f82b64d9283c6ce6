"""Streams cut into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(stream: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of so many elements, the last one perhaps of fewer; one list is held at a time."""
    rest = iter(stream)
    while batch := [*islice(rest, size)]:
        yield batch
