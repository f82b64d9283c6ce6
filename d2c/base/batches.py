"""Streams cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

WORDS = 32  # per sentence, for which a batch has room; in few treebanks sentences have as many on average


def batches(
    stream: Iterable[Item], size: int, words: Callable[[Item], int] | None = None
) -> Iterator[list[Item]]:
    """Yield lists of `size` items, the last one perhaps shorter; one list is held at a time.

    words: returns the number of words of an item. A list then also ends before it has more than
           `size * WORDS` words, which bounds memory; an item with more words is alone in its list
    """
    batch, left = list[Item](), size * WORDS
    for item in stream:
        more = words(item) if words else 0
        if batch and more > left:
            yield batch
            batch, left = [], size * WORDS
        batch.append(item)
        left -= more
        if len(batch) == size or left <= 0:  # at once: the next item may be long in coming
            yield batch
            batch, left = [], size * WORDS
    if batch:
        yield batch
