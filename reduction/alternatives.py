"""The likely d-trees of a d-parser that labels arcs and says how probable others are: its own, then the best.

The others are the best over its packed arcs (`d2c.packed.k_best`), by the probabilities of arcs alone. An arc
of the d-parser's own d-tree keeps its label; any other arc gets its most probable label.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from d2c.packed.arcs import PackedArcs, packed_arcs
from d2c.packed.k_best import k_best_dtrees
from d2c.packed.scoring import ArcScoring
from d2c.reduction.repair import backbone_of
from d2c.trees.dtree import DTree


def likely_dtrees(dtree: DTree, k: int, continuous: bool) -> list[tuple[float, DTree]]:
    """Return the d-tree as it is, and at most k of the best others, each with the sum of the logarithms of
    its arcs' probabilities; the d-tree alone, with 0, if it has no packed arcs.

    continuous: only projective others; where the d-tree's own heads need repair, its sum is of repaired heads
    """
    own = backbone_of(dtree, continuous, Counter())
    arcs = packed_arcs(own)
    if arcs is None:
        return [(0.0, dtree)]
    arcs = arcs.kept(ArcScoring().least, own.heads)
    log = float(arcs.logs[arcs.of_tree(own.heads)].sum(dtype=np.float64))
    best = [one for one in k_best_dtrees(arcs, k, continuous) if one.heads != own.heads]
    return [(log, dtree), *((one.log, _over(one.heads, own, arcs)) for one in best)]


def _over(heads: tuple[int, ...], own: DTree, arcs: PackedArcs) -> DTree:
    """Return the d-tree with other heads, and new labels for new arcs, if arcs have any labels."""
    labels = own.labels
    if labels is not None and arcs.labels is not None:
        likely = arcs.labels.logs[arcs.of_tree(heads)].argmax(axis=1).tolist()
        columns = zip(labels, map(arcs.labels.names.__getitem__, likely), heads, own.heads, strict=True)
        labels = tuple([label if head == before else name for label, name, head, before in columns])
    return replace(own, heads=heads, labels=labels)
