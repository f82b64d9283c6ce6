"""From any labelled d-tree to a head-ordered one (section 4.3), counting what had to be repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from d2c.reduction.encodings.encoding import Order
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree, head_outward, modifiers_of
from d2c.trees.repair import CROSSING, mended, projectivize

UNREADABLE = "label unreadable"
UNKNOWN_SYMBOL = "symbol unknown"
DISAGREEING = "same event, other symbol"
NOT_NESTED = "order not nested"


def backbone_of(dtree: DTree, continuous: bool, counts: Counter[str]) -> DTree:
    """Return the d-tree with heads that form a tree, projective if c-trees are to have no gaps."""
    return replace(dtree, heads=tuple(mended(dtree.heads, continuous, counts)))


def complete_order(
    tokens: Tokens,
    heads: Sequence[int],
    order: Order,
    default_symbol: Callable[[str], str],
    continuous: bool,
    counts: Counter[str],
) -> DTree:
    """Return the head-ordered d-tree nearest to heads that form a tree and to what their labels say.

    - continuous: crossing arcs are lifted as little as possible. A lifted token joins the event of that
      modifier of its new head below which it hung.
    - An unreadable event becomes that of the next modifier towards the head (1 where there is none).
    - continuous: the event of a closer modifier is lowered as far as nesting demands, no further.
    - Modifiers of one event take the symbol of the modifier closest to the head (of two equally close, the
      left) that has a readable symbol; where none has, default_symbol(tag of the head).

    Section 4.3 makes symbols agree before nesting. But nesting makes events equal, so symbols would have to
    agree once more.
    """
    symbols, events, _ = order
    if continuous:
        heads = _lift(heads, symbols, events, counts)
    for h, modifiers in enumerate(modifiers_of(heads)):
        if not modifiers:
            continue
        for side in head_outward(h, modifiers):
            _complete_events(side, events)
            if continuous:
                counts[NOT_NESTED] += _nest(side, events)
        _agree(h, modifiers, symbols, events, default_symbol(tokens.tags[h]), counts)
    root = heads.index(0)
    symbols[root], events[root] = "", 0
    return DTree(tokens, tuple(heads), tuple([symbol or "" for symbol in symbols]), tuple(events))


def _lift(
    heads: Sequence[int], symbols: list[str | None], events: list[int], counts: Counter[str]
) -> Sequence[int]:
    """Return projective heads; give lifted tokens the symbol and event of the modifier they hung below."""
    lifted = projectivize(heads)
    was = list(zip(symbols, events, strict=True))
    for m, (old, new) in enumerate(zip(heads, lifted, strict=True)):
        if old != new:
            left = old - 1
            while heads[left] != new:
                left = heads[left] - 1
            symbols[m], events[m] = was[left]
            counts[CROSSING] += 1
    return lifted


def _complete_events(side: Sequence[int], events: list[int]) -> None:
    """Give modifiers without a readable event that of the next one towards the head."""
    event = 1
    for m in side:
        event = events[m] = events[m] or event


def _nest(side: Sequence[int], events: list[int]) -> int:
    """Lower events so that they never fall from the head outward (the nesting property, section 3.3); return
    how many were lowered."""
    lowered = 0
    for inner, outer in zip(side[-2::-1], side[::-1], strict=False):
        if events[inner] > events[outer]:
            events[inner] = events[outer]
            lowered += 1
    return lowered


def _agree(
    h: int,
    modifiers: Sequence[int],
    symbols: list[str | None],
    events: Sequence[int],
    default: str,
    counts: Counter[str],
) -> None:
    """Give modifiers of one event the symbol of the closest that has one (section 4.3), or the default."""
    agreed: dict[int, str] = {}
    for m in sorted(modifiers, key=lambda m: abs(m - h)):
        symbol = symbols[m]
        if symbol is not None:
            counts[DISAGREEING] += symbol != agreed.setdefault(events[m], symbol)
    for m in modifiers:
        symbols[m] = agreed.get(events[m], default)
