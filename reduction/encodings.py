"""Order information in dependency labels: the direct, delta and spine (H&N) encodings of section 4.1.

A label is phrase symbols and a number, `NP#2`. Each encoding is a pair of functions, inverse to each other
on the labels that encoding writes; decoding takes any labels and reports what they do not say as None or 0.
Symbols are quoted so that a label holds no `:`, `||`, blank, or stray `#` and `|` (other tools cut there).
All functions take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, head_outward, modifiers_of
from d2c.trees.unaries import Chain

ROOT = "root"
ENCODINGS = ("direct", "delta", "spine")

_SPECIAL = re.compile(r"[%#|:\s]")
_LABEL = re.compile(r"([^#]*)#([0-9]{1,6})")
_LABELS_REMEMBERED = 1 << 16

Spine = tuple[str, ...]  # the proper nodes whose lexical head is a word, from its tag upwards


class Order(NamedTuple):
    """What labels say of each arc: its symbol (None: nothing) and its event index (0: nothing)."""

    symbols: list[str | None]
    events: list[int]


@lru_cache(maxsize=_LABELS_REMEMBERED)
def quote(symbol: str) -> str:
    """A phrase symbol as a label can hold it; the empty symbol is a lone `%`."""
    return _SPECIAL.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), symbol) or "%"


def unquote_symbol(text: str) -> str:
    """The symbol that `quote` wrote."""
    return "" if text == "%" else unquote(text)


@lru_cache(maxsize=_LABELS_REMEMBERED)
def write_label(symbol: str, number: int) -> str:
    """`Z#j`."""
    return f"{quote(symbol)}#{number}"


@lru_cache(maxsize=_LABELS_REMEMBERED)
def read_label(label: str) -> tuple[str | None, int]:
    """Symbol and number of a label; None and -1 for what cannot be read."""
    if match := _LABEL.fullmatch(label):
        return (unquote_symbol(match[1]) if match[1] else None), int(match[2])
    symbol, mark, _ = label.partition("#")
    return (unquote_symbol(symbol) if mark and symbol else None), -1


@lru_cache(maxsize=_LABELS_REMEMBERED)
def read_spine_label(label: str) -> tuple[Spine | None, int]:
    """Spine and number of a label of the spine encoding; None and -1 for what cannot be read."""
    if match := _LABEL.fullmatch(label):
        return (tuple(map(unquote_symbol, match[1].split("|"))) if match[1] else ()), int(match[2])
    if label == ROOT or label.startswith(ROOT + "|"):
        return tuple(map(unquote_symbol, label.split("|")[1:])), -1
    return None, -1


def encode_direct(ctree: CTree) -> DTree:
    """Labels `Z#j` with the event index j; the root's is `root`. Unary nodes are lost."""
    return label_direct(to_dependencies(ctree))


def label_direct(dtree: DTree) -> DTree:
    """A head-ordered d-tree with direct labels."""
    assert dtree.symbols is not None and dtree.events is not None
    return replace(dtree, labels=_labels(dtree.symbols, dtree.events))


def decode_direct(dtree: DTree) -> Order:
    """Symbols and events of labels `Z#j`; of the tree's heads only the root matters."""
    read = [read_label(label) for label in dtree.labels or ()]
    return Order([symbol for symbol, _ in read], [number if number > 0 else 0 for _, number in read])


def encode_delta(ctree: CTree) -> DTree:
    """Labels `Z#d` where d is the difference to the event of the next modifier towards the head.

    Events #1 #3 #4 from the head outward are written #1 #2 #1. Raises ValueError for a tree with gaps: its
    events may fall from a modifier to the next, or its arcs cross.
    """
    if not ctree.is_continuous():
        raise ValueError("the delta encoding takes continuous trees only; use the direct encoding")
    return label_delta(to_dependencies(ctree))


def label_delta(dtree: DTree) -> DTree:
    """A head-ordered d-tree, projective and nested, with delta labels."""
    assert dtree.symbols is not None and dtree.events is not None
    deltas = list(dtree.events)
    for side in _sides(dtree.heads):
        for inner, outer in zip(side, side[1:], strict=False):
            deltas[outer] = dtree.events[outer] - dtree.events[inner]
    return replace(dtree, labels=_labels(dtree.symbols, deltas, dtree.heads))


def decode_delta(dtree: DTree) -> Order:
    """Symbols and events of labels `Z#d`; the heads must form a tree."""
    read = [read_label(label) for label in dtree.labels or ()]
    events = [0] * len(read)
    for side in _sides(dtree.heads):
        event = 0
        for m in side:
            delta = read[m][1]
            if delta >= 0:
                event += delta
                events[m] = event
    return Order([symbol for symbol, _ in read], events)


def encode_spine(ctree: CTree) -> DTree:
    """The H&N encoding: labels `X1|X2|X3#p`, the modifier's whole spine and its place in its head's spine.

    Spines go from the tag upwards and include unary nodes; p counts the head's proper nodes from 1. The
    root's label is `root|X1|X2`. Raises ValueError where the c-tree has no head children.
    """
    if ctree.head_children is None:
        raise ValueError("this c-tree has no head children; apply head rules first")
    n = len(ctree.tokens.forms)
    spines: list[list[str]] = [[] for _ in range(n)]
    lexical_head = list(range(n))
    heads, symbols, places = [0] * n, [""] * n, [0] * n
    for symbol, kids, head_child in zip(ctree.labels, ctree.children, ctree.head_children, strict=True):
        h = lexical_head[head_child]
        lexical_head.append(h)
        spines[h].append(symbol)
        for kid in kids:
            if kid != head_child:
                m = lexical_head[kid]
                heads[m], symbols[m], places[m] = h + 1, symbol, len(spines[h])
    quoted = ["|".join(map(quote, spine)) for spine in spines]
    labels = [
        f"{spine}#{place}" if place else (f"{ROOT}|{spine}" if spine else ROOT)
        for spine, place in zip(quoted, places, strict=True)
    ]
    return DTree(ctree.tokens, tuple(heads), tuple(symbols), tuple(places), tuple(labels))


def decode_spine(dtree: DTree) -> tuple[Order, list[Spine | None]]:
    """Symbols and places of the labels, and each token's spine; heads must be in range.

    Places serve as events: they order a head's modifiers just as well. What the spine of a head has nothing
    for is left empty.
    """
    read = [read_spine_label(label) for label in dtree.labels or ()]
    spines = [spine for spine, _ in read]
    symbols: list[str | None] = []
    for h, (_, place) in zip(dtree.heads, read, strict=True):
        spine = (spines[h - 1] if h else None) or ()
        symbols.append(spine[place - 1] if 0 < place <= len(spine) else None)
    return Order(symbols, [place if place > 0 else 0 for _, place in read]), spines


def chains_of_spines(dtree: DTree, ctree: CTree, spines: Sequence[Spine | None]) -> list[Chain]:
    """For each node of the unaryless c-tree of a d-tree, the unary nodes that the spines place above it."""
    assert dtree.events is not None
    places = [sorted({dtree.events[m] for m in modifiers}) for modifiers in modifiers_of(dtree.heads)]
    below = [0] * len(spines)  # nodes of each spine that are passed already
    chains = []
    for h in ctree.lexical_heads():
        spine, used, k = spines[h] or (), places[h], below[h]
        start = used[k - 1] if k else 0
        end = used[k] - 1 if k < len(used) else len(spine)
        chains.append(spine[start:end][::-1])
        below[h] += 1
    return chains


def _labels(symbols: Sequence[str], numbers: Sequence[int], heads: Sequence[int] | None = None) -> Spine:
    """The labels `Z#number`; the root is where the head is 0, or, without heads, where the number is."""
    return tuple(
        [
            write_label(symbol, number) if head else ROOT
            for symbol, number, head in zip(symbols, numbers, heads or numbers, strict=True)
        ]
    )


def _sides(heads: Sequence[int]) -> Iterator[list[int]]:
    """Every head's left and right modifiers, from the head outward."""
    for h, modifiers in enumerate(modifiers_of(heads)):
        if modifiers:
            yield from head_outward(h, modifiers)
