"""The likely d-trees of a d-parser that labels arcs and says how probable others are, best first.

They are the k best over its packed arcs (`d2c.packed.k_best`), by the probabilities of these alone. An arc of
the d-parser's own tree has the label of that, another one the label that is its most probable.
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
    """Return the d-tree as it is, and the k best others or one less, each with the sum of the logarithms of
    its arcs' probabilities.

    continuous: only projective ones; where the d-tree's own heads have to be repaired, the sum is of these
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
    """Return the d-tree with other heads, and new labels for new arcs, if any are known."""
    labels = own.labels
    if labels is not None and arcs.labels is not None:
        likely = arcs.labels.logs[arcs.of_tree(heads)].argmax(axis=1).tolist()
        columns = zip(labels, map(arcs.labels.names.__getitem__, likely), heads, own.heads, strict=True)
        labels = tuple([label if head == before else name for label, name, head, before in columns])
    return replace(own, heads=heads, labels=labels)
