"""Words that other programs write otherwise: with -LRB- for a bracket, without the no-break spaces around."""

from __future__ import annotations

from collections.abc import Sequence

from d2c.trees.cleaning import unescape


def plain(form: str) -> str:
    """Return what all spellings of a word share."""
    return unescape(form).strip("\N{NO-BREAK SPACE}")


class Spelling:
    """Tells words that are only written otherwise from other words, and counts them."""

    def __init__(self) -> None:
        self.words = 0

    def same(self, forms: Sequence[str], expected: Sequence[str]) -> bool:
        """Return whether the words of two sentences are the same."""
        if forms == expected:
            return True
        if list(map(plain, forms)) != list(map(plain, expected)):
            return False
        self.words += sum(a != b for a, b in zip(forms, expected, strict=True))
        return True

    def __str__(self) -> str:
        return f"{self.words:,} words are written otherwise, as -LRB- for ( or without a no-break space"
