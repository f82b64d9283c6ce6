"""Nodes over punctuation alone, or over one node of their own label alone.

    (NP (. !))      (NP (NP (PRP it)))

Treebanks have few of them, and only with some labels: CRAFT has a noun phrase over `*`, none over `!`.
Decoders make others. Linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress

from d2c.trees.cleaning import punctuates
from d2c.trees.ctree import CTree
from d2c.trees.refinement import visible
from d2c.trees.transforms import collapse
from d2c.trees.unaries import copies

_MARKS = frozenset({"-LRB-", "-RRB-", "HYPH", "NFP"})  # tags of punctuation that do not look like punctuation


@dataclass(frozen=True)
class LoneNodes:
    """The lone nodes that a treebank has; None: not known, as in models trained before they were recorded.

    marks:  label and words of each node over punctuation alone; None: any such node is kept if one of its
            words is not tagged as punctuation
    copies: labels of nodes over one node of the same label; None: all such nodes are kept
    """

    marks: frozenset[tuple[str, ...]] | None = None
    copies: frozenset[str] | None = None

    def mended(
        self, ctree: CTree, shares: tuple[float, ...] | None = None
    ) -> tuple[CTree, tuple[float, ...] | None]:
        """Return the tree without lone nodes that the treebank lacks, and the shares [K] of other nodes."""
        gone = {node for node, _ in _over_marks(ctree, self._knows)}
        if self.copies is not None:
            gone.update(node for node in copies(ctree) if ctree.label(node) not in self.copies)
        if not gone:
            return ctree, shares
        kept = [node not in gone for node in range(len(ctree.tokens), ctree.root + 1)]
        return collapse(ctree, kept), shares and tuple(compress(shares, kept))

    def _knows(self, ctree: CTree, node: int, words: Sequence[int]) -> bool:
        if self.marks is None:
            tags = (ctree.tokens.tags[word] for word in words)
            return not all(punctuates(tag) or tag in _MARKS for tag in tags)
        return _named(ctree, node, words) in self.marks


@dataclass(frozen=True)
class Noted(Iterable[CTree]):
    """C-trees of a treebank; whenever all have been read, `learned` is called with their lone nodes."""

    ctrees: Iterable[CTree]
    learned: Callable[[LoneNodes], None]

    def __iter__(self) -> Iterator[CTree]:
        marks, labels = set[tuple[str, ...]](), set[str]()
        for ctree in self.ctrees:
            shown = visible(ctree)
            marks.update(_named(shown, *found) for found in _over_marks(shown, lambda *_: False))
            labels.update(map(shown.label, copies(shown)))
            yield ctree
        self.learned(LoneNodes(frozenset(marks), frozenset(labels)))


def _over_marks(
    ctree: CTree, knows: Callable[[CTree, int, Sequence[int]], bool]
) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield each node over punctuation alone that is not known, except the root, with the words below it. A
    node over a known node is known, too."""
    below = {i: [i] for i, form in enumerate(ctree.tokens.forms) if punctuates(form)}
    for node, kids in enumerate(ctree.children[:-1], len(ctree.tokens)):
        if all(kid in below for kid in kids):
            words = sorted(chain.from_iterable([below[kid] for kid in kids]))
            if not knows(ctree, node, words):
                below[node] = words
                yield node, words


def _named(ctree: CTree, node: int, words: Sequence[int]) -> tuple[str, ...]:
    return ctree.label(node), *[ctree.tokens.forms[word] for word in words]
