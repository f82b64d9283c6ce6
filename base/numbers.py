"""Numbers in files: bounded before they are read, so that a few bytes never ask for much time or memory."""

from __future__ import annotations

import re

MOST_DIGITS = 18  # nothing has as many words, nodes or lines

_DIGITS = re.compile("[0-9]+")


def whole_number(text: str) -> int:
    """Return the number that ASCII digits write. Raises ValueError for anything else, and for too many
    digits."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is no whole number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"the number {text[:20]}... is too large")
    return int(text)
