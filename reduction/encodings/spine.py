"""The H&N-encoding of section 4.1, after Hall and Nivre (2008), called `spine` by users: spines in labels.

A label is the modifier's whole spine, and the number of the node in the head's spine where the modifier
attaches, unary nodes counted. There are many such labels; they hold the unary nodes, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from d2c.reduction.encodings.encoding import Constraint, Encoding, Order, Spine
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, modifiers_of
from d2c.trees.labels import LABEL, LABELS_REMEMBERED, ROOT, quote, unquote_symbol
from d2c.trees.unaries import Chain


class HallNivre(Encoding):
    """Labels `X1|X2|X3#p`: a spine from the tag upwards, and p in the head's spine, counted from 1.

    The root's label is `root|X1|X2`. Positions are read as events: they order a head's modifiers, too.
    """

    name = "spine"
    carries_unaries = True
    constraint = Constraint(rising=True)

    def encode(self, ctree: CTree) -> DTree:
        """Return the d-tree with labels. Raises ValueError where the c-tree has no head children."""
        dtree, lexical_head, n = to_dependencies(ctree), ctree.lexical_heads(), len(ctree.tokens)
        spines: list[list[str]] = [[] for _ in range(n)]
        positions: list[list[int]] = [[] for _ in range(n)]  # of the node that each event makes
        for h, symbol, kids in zip(lexical_head[n:], ctree.labels, ctree.children, strict=True):
            spines[h].append(symbol)
            if len(kids) > 1:
                positions[h].append(len(spines[h]))
        quoted = ["|".join(map(quote, spine)) for spine in spines]
        labels = [
            f"{spine}#{positions[h - 1][event - 1]}" if h else (f"{ROOT}|{spine}" if spine else ROOT)
            for spine, h, event in zip(quoted, dtree.heads, dtree.events or (), strict=True)
        ]
        return replace(dtree, labels=tuple(labels))

    def label(self, dtree: DTree) -> DTree:
        """Raise ValueError: a head-ordered d-tree has no unary nodes, and other heads have other spines."""
        raise ValueError("spines do not fit predicted heads; take the direct or delta encoding")

    def decode(self, dtree: DTree) -> Order:
        """Read symbols, events and spines; no symbol for a number that is beyond the head's spine."""
        read = [read_spine_label(label) for label in dtree.labels or ()]
        spines = [spine for spine, _ in read]
        symbols: list[str | None] = []
        for h, (_, number) in zip(dtree.heads, read, strict=True):
            spine = (spines[h - 1] if h else None) or ()
            symbols.append(spine[number - 1] if 0 < number <= len(spine) else None)
        return Order(symbols, [number if number > 0 else 0 for _, number in read], spines)

    def chains(self, dtree: DTree, ctree: CTree, spines: Sequence[Spine | None]) -> list[Chain]:
        """Return for each node of the unaryless c-tree the unary part of its head's spine above it."""
        assert dtree.events is not None
        branching = [sorted({dtree.events[m] for m in modifiers}) for modifiers in modifiers_of(dtree.heads)]
        below = [0] * len(spines)  # branching nodes of each spine that are passed already
        chains = []
        for h in ctree.lexical_heads():
            spine, used, k = spines[h] or (), branching[h], below[h]
            start = used[k - 1] if k else 0
            end = used[k] - 1 if k < len(used) else len(spine)
            chains.append(spine[start:end][::-1])
            below[h] += 1
        return chains

    def read(self, label: str) -> tuple[object, int]:
        """Return the spine and the number of a label."""
        return read_spine_label(label)


@lru_cache(maxsize=LABELS_REMEMBERED)
def read_spine_label(label: str) -> tuple[Spine | None, int]:
    """Return spine and number of a label of the H&N-encoding; None and -1 for what cannot be read."""
    if match := LABEL.fullmatch(label):
        return (tuple(map(unquote_symbol, match[1].split("|"))) if match[1] else ()), int(match[2])
    if label == ROOT or label.startswith(ROOT + "|"):
        return tuple(map(unquote_symbol, label.split("|")[1:])), -1
    return None, -1
