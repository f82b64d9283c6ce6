"""Packed arcs: for each word of a sentence several likely heads, with their probabilities.

A d-parser that is sure of a head gives one head; where it is not sure, it gives several. So the arcs of a
sentence hold many d-trees at once, one of which is the parser's own. The parser may also say how probable the
labels of each arc are, and how far the words below each word probably reach. A d-tree may carry packed arcs:
its own heads, and beside them the other likely ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Doubles, Floats, Ints, Longs
from d2c.learning.weights import Arrays
from d2c.trees.dtree import DTree

LEAST = 0.002  # probability of an arc that a d-parser mentions, at least
LEAST_LABEL = 1e-6  # probability of a label of an arc, at least


class ArcLabels(NamedTuple):
    """How probable labels are, if an arc is there.

    names: [L] the labels that a d-parser knows
    logs:  [A, L] logarithms of their probabilities
    """

    names: tuple[str, ...]
    logs: Floats

    def of(self, rows: NDArray[Any]) -> ArcLabels:
        """Return the labels of some arcs, by their numbers [C]; for -1 all labels are equally probable."""
        logs = self.logs[rows]
        logs[np.asarray(rows) < 0] = -np.log(max(1, len(self.names)))
        return ArcLabels(self.names, logs)

    def summed(self, wanted: tuple[str, ...], names: tuple[str, ...]) -> Floats:
        """Return for each of the names `wanted` the logarithm of the probability of all its labels [A, W].

        names: [L] what each label is called among `wanted`
        """
        shares = np.exp(self.logs) @ _alike(names, wanted)
        return np.log(np.maximum(shares, LEAST_LABEL)).astype(np.float32)


@lru_cache
def _alike(names: tuple[str, ...], others: tuple[str, ...]) -> Floats:
    """Return [L, W] 1 where two names are the same, else 0."""
    same = [[name == other for other in others] for name in names]
    return np.array(same, np.float32).reshape(len(names), len(others))


class PackedArcs(NamedTuple):
    """The A arcs over n words.

    begin: [n + 1] where in the other arrays the arcs of each word begin; every word has at least one
    heads: [A] 1..n, or 0 for the root; for each word in order, without doubles
    logs:  [A] logarithms of probabilities, which sum to 1 for each word
    labels: of the arcs, where the d-parser says how probable labels are
    yields: [2 * n * n] logarithms of the probabilities of the first, then of the last word of each word's
            yield, the words of its subtree, where the d-parser gives these
    """

    begin: Ints
    heads: Ints
    logs: Floats
    labels: ArcLabels | None = None
    yields: Floats | None = None

    @property
    def is_single(self) -> bool:
        """Return whether each word has one head."""
        return len(self.heads) == len(self.begin) - 1

    def dependents(self) -> Ints:
        """Return [A] the word, from 0, that each arc leads to."""
        return np.repeat(np.arange(len(self.begin) - 1, dtype=np.int32), np.diff(self.begin))

    def places(self, dependents: NDArray[Any], heads: NDArray[Any]) -> Longs:
        """Return the numbers of the arcs from heads [C] (0 = root) to words [C] (from 0); -1: no such arc."""
        size = len(self.begin)
        keys = self.dependents().astype(np.int64) * size + self.heads
        wanted = np.asarray(dependents, np.int64) * size + heads
        found = np.searchsorted(keys, wanted)
        return np.where(np.append(keys, -1)[found] == wanted, found, -1)

    def of_tree(self, heads: Sequence[int]) -> Longs:
        """Return the numbers [n] of the arcs of a d-tree, by its heads (1..n, 0 = root); -1: no such arc."""
        return self.places(np.arange(len(heads)), np.array(heads))

    def kept(self, least: float, *trees: Sequence[int]) -> PackedArcs:
        """Return the arcs of this probability or more, and those of some trees, by their heads: 1..n, 0 =
        root. The probabilities of the arcs of a word sum to 1 again.

        An arc that is only in a tree counts as probable as the least probable arc of its word.
        """
        from d2c.packed.keeping import kept_arcs  # only here: it needs numba, which takes half a second

        given = np.array(trees, np.int64).reshape(len(trees), len(self.begin) - 1)
        begin, heads, logs, rows = kept_arcs(self.begin, self.heads, self.logs, given, least)
        same = len(rows) == len(self.heads) and rows.min(initial=0) >= 0
        labels = self.labels if self.labels is None or same else self.labels.of(rows)
        return PackedArcs(begin, heads, logs, labels, self.yields)


def arcs_of(probabilities: Doubles, heads: Sequence[int], least: float = LEAST) -> PackedArcs:
    """Return the likely arcs of a sentence, and those of a d-tree; probabilities are made to sum to 1 for
    each word.

    probabilities: [n, n + 1] of each word's heads, those of the root first; heads: 1..n, 0 = root
    """
    likely = probabilities >= least
    likely[np.arange(len(heads)), np.asarray(heads, np.int64)] = True
    words, found = np.nonzero(likely)
    if not len(words):
        return single(())
    begin = np.searchsorted(words, np.arange(words[-1] + 2)).astype(np.int32)
    logs = np.log(np.maximum(probabilities[likely], 1e-9)).astype(np.float32)
    exact = logs.astype(np.float64)
    exact -= np.logaddexp.reduceat(exact, begin[:-1])[words]
    return PackedArcs(begin, found.astype(np.int32), exact.astype(np.float32))


def arc_labels_of(names: tuple[str, ...], shares: NDArray[Any]) -> ArcLabels:
    """Return the labels of arcs, with probabilities in proportion to their shares [A, L]; for an arc without
    shares all labels are equally probable."""
    shares = np.where(shares.any(axis=1, keepdims=True), shares, 1.0)
    shares = np.maximum(shares / shares.sum(axis=1, keepdims=True), LEAST_LABEL)
    return ArcLabels(names, np.log(shares).astype(np.float32))


def single(heads: Sequence[int]) -> PackedArcs:
    """Return the arcs of one d-tree, each of them certain."""
    n = len(heads)
    return PackedArcs(np.arange(n + 1, dtype=np.int32), np.array(heads, np.int32), np.zeros(n, np.float32))


def to_arrays(arcs: PackedArcs) -> Arrays:
    """Return packed arcs as arrays [...]; the names of labels are UTF-8, one on a line."""
    names, logs = arcs.labels or ArcLabels((), np.zeros((0, 0), np.float32))
    said = np.frombuffer("\n".join(names).encode(), np.uint8)
    yields = np.zeros(0, np.float32) if arcs.yields is None else arcs.yields
    own = {"begin": arcs.begin, "heads": arcs.heads, "logs": arcs.logs}
    return own | {"names": said, "labels": logs, "yields": yields}


@dataclass(frozen=True, slots=True, eq=False)
class PackedDTree(DTree):
    """A d-tree with packed arcs. Comparisons leave these out: it equals the same d-tree without them."""

    arcs: PackedArcs = field(kw_only=True, repr=False)

    def __eq__(self, other: object) -> bool:
        """Return whether everything but the arcs is equal."""
        if not isinstance(other, DTree):
            return NotImplemented
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(DTree))

    __hash__ = DTree.__hash__


def packed_arcs(dtree: DTree) -> PackedArcs | None:
    """Return the packed arcs of a d-tree; None if it has none."""
    return dtree.arcs if isinstance(dtree, PackedDTree) else None


def with_packed_arcs(dtree: DTree, arcs: PackedArcs | None) -> DTree:
    """Return the same d-tree with these packed arcs in place of its own, or, for None, without any."""
    columns = {one.name: getattr(dtree, one.name) for one in fields(DTree)}
    return DTree(**columns) if arcs is None else PackedDTree(**columns, arcs=arcs)
