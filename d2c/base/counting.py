"""Counts as words, and items by how common they are; ties go by the items' order, so that the same data make
the same model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def ranked(counts: Mapping[Item, int]) -> list[Item]:
    """Return all items, the commonest first, equally common ones in their own order."""
    return sorted(counts, key=lambda item: (-counts[item], item))


def commonest(counts: Mapping[Item, int], default: Item) -> Item:
    """Return the first of `ranked`; the default where nothing was counted."""
    return min(counts, key=lambda item: (-counts[item], item), default=default)


def first_few(items: Sequence[Item], most: int = 5) -> str:
    """Return items as words, the first ones where there are many: `3, 17, 20, 21, 40, ...`."""
    return ", ".join(map(str, items[:most])) + ", ..." * (len(items) > most)


def many(count: int, noun: str) -> str:
    """Return a count with its noun: `1 word`, `2,000 words`."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith(('s', 'ch')) else 's'}"
