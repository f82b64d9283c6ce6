"""Matches of a pattern as spans: the node that is sought, and the nodes that have names in the pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matching import find
from d2c.trees.patterns.nodes import ROOT, TreeNodes
from d2c.trees.spans import Constituents, Span

Item = TypeVar("Item")
BATCH = 30_000  # tokens of trees that are searched together


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a pattern matches.

    span:     the node that was sought; the label of a word is its form, and ROOT of what is over the tree
    captures: by the names in the pattern those of the other nodes that are there
    sentence: the number of the sentence in its file, 0 where that is not known
    """

    span: Span
    captures: dict[str, Span] = field(hash=False)
    sentence: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence, the span with its text, and the captures, each as the span, by name."""
        captures = {name: _said(span) for name, span in self.captures.items()}
        return {"sentence": self.sentence, **_said(self.span), "captures": captures}


def _said(span: Span) -> dict[str, Any]:
    return span.to_dict() | {"text": span.text}


def matches(
    text: str, items: Iterable[Item], searched: Callable[[Item], Constituents]
) -> Iterator[tuple[Item, list[Match]]]:
    """Yield each item with the matches in it, from left to right, the higher node first.

    text:     a pattern in the language of Tregex; raises ValueError where it cannot be read, or asks for
              heads where a tree has none
    searched: what is searched of an item
    """
    pattern = compiled(text)

    def of_batch() -> Iterator[tuple[Item, list[Match]]]:
        nodes = TreeNodes([one.ctree for _, one in batch])
        found = [list[list[int | None]]() for _ in batch]
        for row in find(pattern, nodes).tolist():
            origins = [int(nodes.origin[node]) if node >= 0 else None for node in row]
            found[nodes.tree[row[0]]].append(origins)
        for (item, one), of_tree in zip(batch, found, strict=True):
            yield item, _matches(one, of_tree, pattern.names) if of_tree else []

    batch, size = list[tuple[Item, Constituents]](), 0
    for item in items:
        batch.append((item, searched(item)))
        size += len(batch[-1][1].ctree.tokens)
        if size >= BATCH:
            yield from of_batch()
            batch, size = [], 0
    if batch:
        yield from of_batch()


def _matches(every: Constituents, rows: list[list[int | None]], names: Sequence[str]) -> list[Match]:
    """Return the matches in a tree, whose nodes are given by `TreeNodes.origin`."""
    ctree = every.ctree

    def span(origin: int) -> Span:
        node = min(max(origin, -1 - origin), ctree.root)  # of a word its tag, of ROOT the node below it
        if 0 <= origin <= ctree.root:
            return every.span(node)
        label = ctree.tokens.forms[node] if origin < 0 else ROOT
        return replace(every.span(node), label=label, confidence=None)

    found = []
    for first, *others in rows:
        assert first is not None
        captures = {name: span(node) for name, node in zip(names, others, strict=True) if node is not None}
        found.append(Match(span(first), captures))
    return found
