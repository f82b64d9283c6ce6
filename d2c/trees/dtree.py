"""Dependency trees (d-trees), plain, labelled, or head-ordered, and the properties asked of them.

Sections 2.2 and 3 of "Parsing as Reduction". Heads are numbered as in CoNLL-U: token i (0-based) has head
heads[i] in 1..n, or 0 where it is the root. All checks take linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Self

from d2c.trees.ctree import Tokens


@dataclass(frozen=True, slots=True)
class DTree:
    """A d-tree over n tokens; every array has length n and describes the arc into token i.

    heads:   head of token i, 1..n, or 0 for the root. What a d-parser predicts may be any integer here.
    symbols: phrase symbol Z of the attachment; None in a tree without order information
    events:  event index j >= 1 of the attachment; None likewise
    labels:  the dependency label (DEPREL) that a d-parser learns and predicts; None where there is none

    The root's symbol is "" and its event 0: nothing attaches it.

    A d-tree with symbols and events is *head-ordered*. The modifiers of one head with the same event are an
    equivalence class: they attach together and have the same symbol; the classes attach in the order of their
    events. This order of modifiers is *weak* (section 3.2); it is *strict* (section 3.1) where no class has
    two modifiers, as in d-trees of binary c-trees, in which every proper node has two children.
    """

    tokens: Tokens
    heads: tuple[int, ...]
    symbols: tuple[str, ...] | None = None
    events: tuple[int, ...] | None = None
    labels: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, words: Iterable[str], tags: Iterable[str], heads: Iterable[int], labels: Iterable[str] = ()
    ) -> Self:
        """Return the d-tree of lists of length n; labels may be left out.

        Raises ValueError where lengths differ.
        """
        tokens, arcs = Tokens(tuple(words), tuple(tags)), tuple(heads)
        names = tuple(labels) or None
        if {len(tokens.tags), len(arcs), len(names or arcs)} != {len(tokens)}:
            raise ValueError("words, tags, heads and labels are equally many")
        return cls(tokens, arcs, labels=names)

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        from d2c.trees.pictures import dtree_svg  # only here: it needs nltk

        return dtree_svg(self)

    def is_tree(self) -> bool:
        """Return whether there is exactly one root, every head is in range, and there is no cycle."""
        return is_tree(self.heads)

    def is_projective(self) -> bool:
        """Return whether every word between a head and its modifier descends from that head.

        Raises ValueError where the heads form no tree.
        """
        return is_projective(self.heads)

    def is_nested(self) -> bool:
        """Return whether, for every head, closer modifiers on the same side attach no later (section 3.3).

        Raises ValueError where the tree has no event indices, and where the heads form no tree.
        """
        if self.events is None:
            raise ValueError("this d-tree has no event indices")
        if not self.is_tree():
            raise ValueError("these heads form no tree")
        sides = (head_outward(head, modifiers) for head, modifiers in enumerate(modifiers_of(self.heads)))
        return all(nested(side, self.events) for side in chain.from_iterable(sides))


def nested(side: Sequence[int], events: Sequence[int]) -> bool:
    """Return whether the modifiers on one side of a head, closest first, are attached in this order."""
    return all(events[inner] <= events[outer] for inner, outer in pairwise(side))


def modifiers_of(heads: Sequence[int]) -> list[list[int]]:
    """Return [n] the modifiers M_h of each token h, left to right."""
    modifiers: list[list[int]] = [[] for _ in heads]
    for m, h in enumerate(heads):
        if h:
            modifiers[h - 1].append(m)
    return modifiers


def head_outward(head: int, modifiers: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the left and the right modifiers of a head, each from the head outward; modifiers are left to
    right."""
    return [m for m in modifiers if m < head][::-1], [m for m in modifiers if m > head]


def top_down(heads: Sequence[int], modifiers: Sequence[Sequence[int]] | None = None) -> list[int]:
    """Return tokens in an order where heads precede their modifiers; shorter than n where the heads form
    no tree.

    Only the tokens below the first root are listed. If the caller has the result of `modifiers_of` for these
    heads, passing it as `modifiers` saves time. Heads are 0 or above; raises IndexError for heads above n.
    """
    if 0 not in heads:
        return []
    modifiers = modifiers_of(heads) if modifiers is None else modifiers
    order = [heads.index(0)]
    for h in order:
        order += modifiers[h]
    return order


def depths(heads: Sequence[int]) -> list[int]:
    """Return [n] how many arcs lead from each token up to a root; every token with a head below 1 is a root.

    Raises ValueError for a cycle, IndexError for heads above n.
    """
    found, modifiers = [0] * len(heads), modifiers_of([max(0, head) for head in heads])
    order = [m for m, head in enumerate(heads) if head <= 0]
    for h in order:
        for m in modifiers[h]:
            found[m] = found[h] + 1
        order += modifiers[h]
    if len(order) < len(heads):
        raise ValueError("the heads form a circle")
    return found


def is_tree(heads: Sequence[int]) -> bool:
    """Return whether heads (1..n, 0 = root) form a single-rooted acyclic tree."""
    n = len(heads)
    return all(0 <= h <= n for h in heads) and len(top_down(heads)) == n


def is_projective(heads: Sequence[int]) -> bool:
    """Return whether every token's descendants, itself included, are contiguous.

    Raises ValueError where the heads form no tree.
    """
    if not is_tree(heads):
        raise ValueError("these heads form no tree")
    first, last, size = subtrees(heads)
    return all(b - a + 1 == count for a, b, count in zip(first, last, size, strict=True))


def subtrees(heads: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Return [n] the first and the last token of each token's subtree, PAD's ⟨h⇐, h⇒⟩, and how many tokens
    the subtree has."""
    first, last, size = list(range(len(heads))), list(range(len(heads))), [1] * len(heads)
    for m in reversed(top_down(heads)):
        h = heads[m] - 1
        if h >= 0:
            first[h] = min(first[h], first[m])
            last[h] = max(last[h], last[m])
            size[h] += size[m]
    return first, last, size
