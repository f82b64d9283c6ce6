"""From the scores of a graph parser to trees, labels and packed arcs, whatever computes the scores."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats
from d2c.base.batches import batches
from d2c.packed.arcs import (
    LEAST,
    LEAST_LABEL,
    ArcLabels,
    PackedArcs,
    arcs_of,
    single,
    with_packed_arcs,
)
from d2c.packed.spanning import spanning_tree
from d2c.protocols.dparser import Arcs, DependencyParser, with_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

Found = tuple[Arcs, Sequence[str], PackedArcs | None]  # of a sentence: arcs, tags, packed arcs
_WINDOW = 1024  # sentences that are held, and sorted by length, at a time
_LEAST_LOG = math.log(LEAST_LABEL)


class GraphScores(NamedTuple):
    """A network's scores for a batch of sentences, each of n words.

    heads:  for each sentence [n + 1, n + 1] the logarithms of probabilities: in the row of each word those of
            its heads, -inf for itself; the probabilities need not sum to 1
    labels: returns [A, L] logarithms of probabilities of labels, given the A arcs of all sentences
    names:  [L] the labels
    yields: for each sentence [2, n, n] logarithms of probabilities: in the row of each word those of words as
            the first, then as the last, of its yield; None: not known
    tags:   the tags of each sentence; empty if the network predicts none
    """

    heads: Sequence[Floats]
    labels: Callable[[Sequence[PackedArcs]], Floats]
    names: tuple[str, ...]
    yields: Sequence[Floats] | None
    tags: Sequence[Sequence[str]]

    def found(self, least: float | None) -> list[Found]:
        """Return for each sentence its best tree with one root, its tags, and its packed arcs, those of
        probability `least` or more; None: no packed arcs."""
        trees = [best_heads(table) for table in self.heads]
        if least is None:
            arcs = [single(tree) for tree in trees]
        else:
            arcs = [likely_arcs(*pair, least) for pair in zip(self.heads, trees, strict=True)]
        logs, begin, found = self.labels(arcs).clip(min=_LEAST_LOG), 0, list[Found]()
        for i, (tree, own) in enumerate(zip(trees, arcs, strict=True)):
            of_labels = logs[begin : begin + len(own.heads)]
            begin += len(own.heads)
            best = of_labels[own.of_tree(tree)].argmax(axis=1).tolist()
            packed = None
            if least is not None:
                ends = None if self.yields is None else _ends(self.yields[i])
                packed = own._replace(labels=ArcLabels(self.names, of_labels), yields=ends)
            tags = self.tags[i] if self.tags else ()
            found.append(((tree, [self.names[label] for label in best]), tags, packed))
        return found


class GraphParser(DependencyParser):
    """A parser whose network, whatever computes it, scores all arcs of a sentence."""

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; about a thousand sentences are held at a time."""
        return self._parse(sentences, None)

    def parse_packed(self, sentences: Iterable[Tokens], least: float = LEAST) -> Iterator[DTree]:
        """Yield the d-trees of `parse` with their packed arcs, those of this probability or more."""
        return self._parse(sentences, least)

    def _parse(self, sentences: Iterable[Tokens], least: float | None) -> Iterator[DTree]:
        for window in batches(sentences, _WINDOW, len):
            found = self._found([one for one in window if len(one)], least)
            if self.abilities.tags:
                tags = iter([tuple(own) for _, own, _ in found])
                window = [Tokens(one.forms, next(tags) if len(one) else ()) for one in window]
            packed = iter([own for *_, own in found])
            for dtree in with_arcs(window, [arcs for arcs, *_ in found], "stanza"):
                if least is not None:
                    dtree = with_packed_arcs(dtree, next(packed) if dtree.heads else single(()))
                yield dtree

    @abstractmethod
    def _found(self, sentences: Sequence[Tokens], least: float | None) -> list[Found]:
        """Return the results for sentences of at least one word each; least: as in `GraphScores.found`."""


def best_heads(scores: Floats) -> tuple[int, ...]:
    """Return [n] the heads of the best tree with one root. scores: [n + 1, n + 1] as in `GraphScores`"""
    return spanning_tree(scores[1:].T.astype(np.float64))


def likely_arcs(table: Floats, tree: Sequence[int], least: float) -> PackedArcs:
    """Return the arcs of a sentence that have this probability or more, and those of the tree.

    table: [n + 1, n + 1] as in `GraphScores`
    """
    shares = np.exp(table[1:].astype(np.float64))
    likely = arcs_of(shares / shares.sum(axis=1, keepdims=True), tree)
    return likely.kept(least, tree) if least > LEAST else likely


def _ends(tables: Floats) -> NDArray[np.float32]:
    """Return the ends of yields as in `PackedArcs`. tables: [2, n, n] logarithms"""
    return tables.clip(min=_LEAST_LOG).astype(np.float32).ravel()
