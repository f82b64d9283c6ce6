"""The constituents of a c-tree as spans of its sentence: what a table or another program shows of each.

Tokens are counted from 0; a span ends before its `end`. Linear time, but for sorting and what `text` and
`tokens` are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from d2c.trees.ctree import Block, CTree


@dataclass(frozen=True, slots=True)
class Source:
    """The words of a sentence, and where they are in the text that they were cut from.

    offsets: [n] of each word its first character and the one after its last; None where there was no text
    text:    from the first word's first character to the last word's last; "" where it is not kept
    """

    forms: tuple[str, ...]
    offsets: Sequence[tuple[int, int]] | None = None
    text: str = ""

    def part(self, start: int, end: int) -> str:
        """Return the text of tokens, or their forms with blanks between them."""
        if not self.offsets or not self.text:
            return " ".join(self.forms[start:end])
        begin = self.offsets[0][0]
        return self.text[self.offsets[start][0] - begin : self.offsets[end - 1][1] - begin]


@dataclass(frozen=True, slots=True)
class Span:
    """A constituent.

    blocks:     its runs of tokens, several where it has gaps
    head:       its head token; None where the tree has no head children
    depth:      how many constituents are above it
    confidence: how sure the parser is of it, from 0 to 1, if it says so
    """

    label: str
    blocks: tuple[Block, ...]
    head: int | None
    depth: int
    confidence: float | None = None
    source: Source = field(repr=False, kw_only=True)

    @property
    def start(self) -> int:
        """Its first token."""
        return self.blocks[0][0]

    @property
    def end(self) -> int:
        """The token after its last one."""
        return self.blocks[-1][1]

    @property
    def tokens(self) -> tuple[int, ...]:
        """All its tokens."""
        return tuple([token for block in self.blocks for token in range(*block)])

    @property
    def words(self) -> tuple[str, ...]:
        """The forms of its tokens."""
        return tuple([self.source.forms[token] for token in self.tokens])

    @property
    def text(self) -> str:
        """As it stands in the text; where there was none, its words with blanks between them."""
        return " ".join([self.source.part(*block) for block in self.blocks])

    @property
    def start_char(self) -> int | None:
        """Its first character in the text that was parsed; None where that was no text."""
        return self.source.offsets[self.start][0] if self.source.offsets else None

    @property
    def end_char(self) -> int | None:
        """The character after its last one."""
        return self.source.offsets[self.end - 1][1] if self.source.offsets else None

    def to_dict(self) -> dict[str, Any]:
        """Return what `d2c parse --to json` writes: `tokens` only with gaps, characters only of text."""
        row: dict[str, Any] = {"label": self.label, "start": self.start, "end": self.end}
        if self.head is not None:
            row["head"] = self.head
        if len(self.blocks) > 1:
            row["tokens"] = [*self.tokens]
        if self.source.offsets:
            row |= {"start_char": self.start_char, "end_char": self.end_char}
        if self.confidence is not None:
            row["confidence"] = round(self.confidence, 6)
        return row


def spans_of(
    ctree: CTree,
    nodes: Iterable[int] | None = None,
    confidences: Sequence[float] | None = None,
    source: Source | None = None,
) -> list[Span]:
    """Return the constituents from left to right, the higher of two that begin at the same token first.

    nodes:       ids of proper nodes; None: all of them
    confidences: [K] one for each proper node
    """
    n, blocks, depths = len(ctree.tokens), ctree.blocks(), ctree.depths()
    heads = None if ctree.head_children is None else ctree.lexical_heads()
    source = source or Source(ctree.tokens.forms)
    ordered = sorted(
        range(n, len(blocks)) if nodes is None else nodes,
        key=lambda node: (blocks[node][0][0], -blocks[node][-1][1], -node),
    )
    return [
        Span(
            ctree.labels[node - n],
            blocks[node],
            heads[node] if heads else None,
            depths[node],
            confidences[node - n] if confidences else None,
            source=source,
        )
        for node in ordered
    ]


def labelled(ctree: CTree, labels: Collection[str], nested: bool = False) -> list[int]:
    """Return the ids of the proper nodes with one of the labels; only if `nested` those inside another one of
    them."""
    n, nodes = len(ctree.tokens), list[int]()
    inside = [False] * (n + len(ctree.labels))
    for node in range(ctree.root, n - 1, -1):
        wanted = ctree.labels[node - n] in labels
        if wanted and (nested or not inside[node]):
            nodes.append(node)
        for kid in ctree.children[node - n]:
            inside[kid] = wanted or inside[node]
    return nodes
