"""What no file can hold, and what XML cannot, told before it is written; numbers in files, bounded before
they are read: a few bytes never ask for much time or memory."""

from __future__ import annotations

import re

from d2c.trees.cleaning import WRAPPERS
from d2c.trees.ctree import CTree

MOST_DIGITS = 18  # nothing has as many words, nodes or lines

_DIGITS = re.compile("[0-9]+")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_names(ctree: CTree) -> None:
    """Raise ValueError for an empty word, tag or symbol, and for a wrapper that is not read as one.

    A root without a wrapper may lack its symbol: `( (S ...) (. .))`.
    """
    tokens, named = ctree.tokens, ctree.labels if ctree.top is not None else ctree.labels[:-1]
    if not tokens.forms:
        raise ValueError("a tree without words cannot be written")
    for what, column in (("word", tokens.forms), ("tag", tokens.tags)):
        if "" in column:
            raise ValueError(f"token {column.index('') + 1} has an empty {what}, which no format holds")
    if "" in named:
        raise ValueError("a node has an empty label, which no format holds")
    if ctree.top is not None and ctree.top not in WRAPPERS:
        raise ValueError(f"the wrapper {ctree.top!r} is none of {', '.join(filter(None, WRAPPERS))}")


def check_text(text: str) -> str:
    """Return the text. Raises ValueError where UTF-8 cannot hold it: for lone surrogates."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{text[error.start]!a} is half a character, which no file holds") from None
    return text


def check_xml(text: str) -> str:
    """Return the text. Raises ValueError for a control character and others that XML 1.0 cannot hold."""
    if match := _NOT_XML.search(text):
        raise ValueError(f"XML cannot hold the character {match[0]!a}")
    return text


def whole_number(text: str) -> int:
    """Return the number that ASCII digits write. Raises ValueError for anything else, and for too many
    digits."""
    if not _DIGITS.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is no whole number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"the number {text[:20]}... is too large")
    return int(text)
