"""Order information in dependency labels: the direct, delta and spine (H&N) encodings of section 4.1.

A label is phrase symbols and a number, `NP#2`. Each encoding is a pair of inverse functions; the decoding
ones take any labels, and leave what a label does not say empty: symbol "" or event 0.
Symbols are quoted so that a label holds no `:`, `||`, blanks, or stray `#` and `|` (other tools cut there).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from trees.conversion import to_dependencies
from trees.ctree import CTree
from trees.dtree import DTree, head_outward, modifiers_of

ROOT = "root"
ENCODINGS = ("direct", "delta", "spine")

_SPECIAL = re.compile(r"[%#|:\s]")
_LABEL = re.compile(r"([^#]*)#([0-9]{1,6})")
_LABELS_REMEMBERED = 1 << 16


@lru_cache(maxsize=_LABELS_REMEMBERED)
def quote(symbol: str) -> str:
    """A phrase symbol as a label can hold it; `urllib.parse.unquote` undoes it, but for the lone % of ""."""
    quoted = _SPECIAL.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), symbol)
    return quoted or "%"


@lru_cache(maxsize=_LABELS_REMEMBERED)
def direct_label(symbol: str, event: int) -> str:
    """`Z#j`."""
    return f"{quote(symbol)}#{event}"


class Label(NamedTuple):
    """What a label says: a symbol (None: nothing readable) and a number (-1: nothing readable)."""

    symbol: str | None
    number: int


@lru_cache(maxsize=_LABELS_REMEMBERED)
def read_label(label: str) -> Label:
    """The parts of a label, however malformed."""
    match = _LABEL.fullmatch(label)
    if match:
        return Label(unquote(match[1]) if match[1] != "%" else "", int(match[2]))
    symbol, mark, _ = label.partition("#")
    return Label(unquote(symbol) if mark and symbol else None, -1)


def encode_direct(dtree: DTree) -> DTree:
    """Labels `Z#j` with the event index j; `root` for the root. The tree must be head-ordered."""
    assert dtree.symbols is not None and dtree.events is not None
    labels = [
        direct_label(symbol, event) if event else ROOT
        for symbol, event in zip(dtree.symbols, dtree.events, strict=True)
    ]
    return replace(dtree, labels=tuple(labels))
