"""Words as they stand in the text of their sentence: what CoNLL-U wants in FORM, with `SpaceAfter=No`.

Treebanks write some words otherwise than texts do: quotation marks as `` and '', plain marks for typographic
and full-width ones. Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

_SINGLE, _DOUBLE = "`´‘’‚‛′‹›", "“”„‟″«»「」『』"
_PLAIN = str.maketrans(_SINGLE + _DOUBLE + "。、", "'" * len(_SINGLE) + '"' * len(_DOUBLE) + ".,")
_OTHER_LENGTHS = 0, 1, -1, -2  # how many more characters the text may have: '' for ", " for '', … for ...


class InText(NamedTuple):
    """A word as it stands in a text, and whether a blank, or nothing at all, follows."""

    form: str
    spaced: bool


def in_text(forms: Sequence[str], text: str) -> list[InText] | None:
    """Return [n] the words in a text, which may have blanks of any kind; None where it has other words."""
    line, at, found = " ".join(text.split()), 0, list[InText]()
    for form in forms:
        at += line.startswith(" ", at)
        shown = _shown(" ".join(form.split()), line, at)
        at += len(shown)
        if not shown:
            return None
        found.append(InText(shown, at == len(line) or line[at] == " "))
    return found if at == len(line) else None


def _shown(word: str, line: str, at: int) -> str:
    """Return how a word is written at a place; "" where it is not there."""
    if line.startswith(word, at):
        return word
    ends = [at + len(word) + more for more in _OTHER_LENGTHS if len(word) + more > 0]
    return next((line[at:end] for end in ends if _plain(line[at:end]) == _plain(word)), "")


@lru_cache(maxsize=1 << 12)
def _plain(word: str) -> str:
    """Return a word in the one form that all ways to write it share."""
    return normalize("NFKC", word).translate(_PLAIN).replace("''", '"')
