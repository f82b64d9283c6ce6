"""Nodes over punctuation alone, or over one node of their own label alone.

    (NP (. !))      (NP (NP (PRP it)))

Treebanks have few of them, and only of some labels: CRAFT has a noun phrase over `*`, none over `!`. Decoders
make others. Linear time.
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

_MARKS = frozenset({"-LRB-", "-RRB-", "HYPH", "NFP"})  # tags of punctuation that are no punctuation


@dataclass(frozen=True)
class LoneNodes:
    """Which of them a treebank has; None: not known, as of models that were trained before it was learned.

    marks:  a label and all words below it, of nodes over punctuation alone; None: any where one of the words
            is not tagged as punctuation
    copies: labels of nodes over one node of their label; None: any
    """

    marks: frozenset[tuple[str, ...]] | None = None
    copies: frozenset[str] | None = None

    def mended(
        self, ctree: CTree, shares: tuple[float, ...] | None = None
    ) -> tuple[CTree, tuple[float, ...] | None]:
        """Return the tree without those that the treebank does not have, and the shares [K] of the others."""
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
    """C-trees of a treebank; whenever all have been read, `learned` is told which such nodes they have."""

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
    """Yield the nodes over punctuation alone that are not known, but for the root, and the words below each;
    one over a node that is known is known, too."""
    below = {i: [i] for i, form in enumerate(ctree.tokens.forms) if punctuates(form)}
    for node, kids in enumerate(ctree.children[:-1], len(ctree.tokens)):
        if all(kid in below for kid in kids):
            words = sorted(chain.from_iterable([below[kid] for kid in kids]))
            if not knows(ctree, node, words):
                below[node] = words
                yield node, words


def _named(ctree: CTree, node: int, words: Sequence[int]) -> tuple[str, ...]:
    return ctree.label(node), *[ctree.tokens.forms[word] for word in words]
