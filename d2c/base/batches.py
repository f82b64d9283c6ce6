"""Streams cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

WORDS = 32  # of a sentence for which a batch has room: few treebanks have as many


def batches(
    stream: Iterable[Item], size: int, words: Callable[[Item], int] | None = None
) -> Iterator[list[Item]]:
    """Yield lists of so many elements, the last one perhaps of fewer; one list is held at a time.

    words: of an element. Lists then end, too, before they have more than `size * WORDS` words, so that memory
           follows these; an element that has more is alone
    """
    batch, left = list[Item](), size * WORDS
    for item in stream:
        more = words(item) if words else 0
        if batch and more > left:
            yield batch
            batch, left = [], size * WORDS
        batch.append(item)
        left -= more
        if len(batch) == size or left <= 0:  # at once: the next element may have to be waited for
            yield batch
            batch, left = [], size * WORDS
    if batch:
        yield batch
