"""Labels `Z#j`: a phrase symbol and a number.

Symbols are quoted so that a label holds no `:`, `||`, blank, or stray `#` and `|` (other tools cut there).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import unquote

from d2c.trees.dtree import DTree

ROOT = "root"
LABEL = re.compile(r"([^#]*)#([0-9]{1,6})")
LABELS_REMEMBERED = 1 << 16

_SPECIAL = re.compile(r"[%#|:\s]")


@lru_cache(maxsize=LABELS_REMEMBERED)
def quote(symbol: str) -> str:
    """Return a phrase symbol as a label can hold it; the empty symbol is a lone `%`."""
    return _SPECIAL.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), symbol) or "%"


def unquote_symbol(text: str) -> str:
    """Return the symbol that `quote` wrote."""
    return "" if text == "%" else unquote(text)


@lru_cache(maxsize=LABELS_REMEMBERED)
def write_label(symbol: str, number: int) -> str:
    """Return the label `Z#j`."""
    return f"{quote(symbol)}#{number}"


@lru_cache(maxsize=LABELS_REMEMBERED)
def read_label(label: str) -> tuple[str | None, int]:
    """Return the symbol and number of a label; None and -1 for what cannot be read."""
    if match := LABEL.fullmatch(label):
        return (unquote_symbol(match[1]) if match[1] else None), int(match[2])
    symbol, mark, _ = label.partition("#")
    return (unquote_symbol(symbol) if mark and symbol else None), -1


def unlabelled(dtree: DTree) -> DTree:
    """Return a d-tree with labels that say nothing, for a d-parser that is to learn heads alone."""
    return replace(dtree, labels=tuple(["dep" if head else ROOT for head in dtree.heads]))


def write_labels(heads: Sequence[int], symbols: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the labels `Z#j` of all arcs; the root's is `root`."""
    return tuple(
        [
            write_label(symbol, number) if head else ROOT
            for head, symbol, number in zip(heads, symbols, numbers, strict=True)
        ]
    )


@lru_cache
def phrase_symbols(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the phrase symbol of each label; a label that holds none is returned itself."""
    return tuple([read_label(label)[0] or label for label in labels])
