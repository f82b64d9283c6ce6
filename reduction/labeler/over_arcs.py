"""Labels and heads of the best d-trees over packed arcs, learned together: a structured SVM.

The d-trees of a sentence are the d-parser's own and the likeliest of all others that its arcs hold. Each step
compares two of them: the *best* with its labels, by score and loss; and the *nearest*, with the labels that
the gold c-tree has over it: the d-tree with the most right heads, of equal ones the best by score. The loss
is the number of wrong heads and labels. The weights of labels and those of arcs (`d2c.packed.arc_features`)
are learned in one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Doubles, Floats, Longs
from d2c.learning.adagrad import Gradient
from d2c.packed.arc_features import ArcFeatures, ObservedTokens, add_arcs
from d2c.packed.arcs import PackedArcs, packed_arcs, single
from d2c.packed.k_best import Scored, k_best_dtrees
from d2c.packed.scoring import ArcScoring
from d2c.reduction.labeler.backbones import Backbones, Repeated
from d2c.reduction.labeler.joint import JointStates
from d2c.reduction.labeler.learning import add_all, label_heads, labels_scores
from d2c.reduction.labeler.scores import LabelScorer
from d2c.trees.dtree import DTree

EPOCHS_OVER_ARCS = 3
# How arcs are scored, before weights are added; the d-parser's labels count for nothing
FIRST_SCORING = ArcScoring(learned=1.0)
SQUARES_BEFORE = 30.0  # of gradients: assumed for weights that were learned before, whose own are not known
PACE = 5.0  # how much faster weights of arcs are learned than those of labels: the value of their features


class Candidates(NamedTuple):
    """The d-trees of a sentence among which one is chosen, and the arcs that hold them.

    dtrees: [K] their heads
    logs:   [K] logarithms of the products of their arcs' probabilities
    arcs:   those that are kept
    """

    dtrees: Sequence[tuple[int, ...]]
    logs: Sequence[float]
    arcs: PackedArcs

    @classmethod
    def of(cls, backbone: DTree, scoring: ArcScoring, k: int, continuous: bool) -> Candidates:
        """Return the k likeliest d-trees; none where there are too many arcs.

        Where weights of arcs are learned, the backbone is always among them, as the first.
        """
        own, arcs = tuple(backbone.heads), packed_arcs(backbone)
        kept = single(own) if arcs is None else arcs.kept(scoring.least, own)
        if kept.is_single:
            return cls([own], [0.0], kept)
        best = k_best_dtrees(kept, k, continuous)
        if best and scoring.learned:
            log = float(kept.logs[kept.of_tree(own)].sum())
            best = [Scored(own, log), *(one for one in best if one.heads != own)][:k]
        return cls([one.heads for one in best], [one.log for one in best], kept)


def dtree_places(arcs: PackedArcs, dtrees: Sequence[Sequence[int]]) -> Longs:
    """Return where the arcs of each d-tree are in `arcs` [K, n], by its heads."""
    return np.array([arcs.of_tree(heads) for heads in dtrees])


class ArcExample(NamedTuple):
    """A sentence to learn from.

    dtrees:   [K] the candidates
    observed: what features of arcs see
    arcs:     the packed arcs that are kept
    places:   [K, n] where the arcs of each d-tree are among these
    labels:   [K, n] numbers of the labels that the gold c-tree has over each d-tree
    wrong:    [K] how many heads of each d-tree are not the gold ones
    """

    dtrees: Sequence[DTree]
    observed: ObservedTokens
    arcs: PackedArcs
    places: Longs
    labels: Longs
    wrong: Longs


def arc_scores(
    observed: ObservedTokens, arcs: PackedArcs, weight: float, weights: Floats
) -> tuple[Floats, ArcFeatures]:
    """Return what each arc adds to the score of a d-tree [A], its weighted logarithm included; and features.

    observed: [n + 2] tokens; weights: [2^bits]
    """
    features = ArcFeatures.of(observed, arcs, np.zeros((0, 0), np.float32), len(weights))
    scores = weight * arcs.logs + PACE * features.scores(weights)[0]
    return scores.astype(np.float32, copy=False), features


def dtree_scores(scorer: LabelScorer, backbones: Backbones, repeated: Repeated, labels: Longs) -> Doubles:
    """Return the score of the labels of each d-tree [K]; labels: [positions]."""
    scores = labels_scores(scorer, backbones, repeated.heads, labels)
    return np.bincount(repeated.trees, scores[repeated.first]).astype(np.float64)


def add_step(
    scorer: LabelScorer, backbones: Backbones, states: JointStates, example: ArcExample, gradient: Gradient
) -> tuple[int, int]:
    """Add to a gradient the features of the best d-tree less those of the nearest; return by how much the
    loss of the best exceeds that of the nearest, and how many labels a d-tree has.

    backbones: of the candidates
    """
    of_arcs, features = arc_scores(example.observed, example.arcs, FIRST_SCORING.weight, scorer.weights)
    wrong, size = example.wrong, example.labels.shape
    gold, guess = np.zeros((2, len(backbones.tags)), np.int64)
    gold[backbones.tokens] = example.labels.ravel()
    repeated = Repeated.of(backbones, np.zeros(size[0], np.int64), gold)
    label_heads(scorer, backbones, repeated.heads, gold, states, guess)
    guess[backbones.modifiers] = guess[repeated.source]
    trees = of_arcs[example.places].sum(axis=1)
    losses = wrong + (guess != gold)[backbones.tokens].reshape(size).sum(axis=1)
    best = int((trees + dtree_scores(scorer, backbones, repeated, guess) + losses).argmax())
    right = trees + dtree_scores(scorer, backbones, repeated, gold)
    nearest = int(np.where(wrong == wrong.min(), right, -np.inf).argmax())
    if best != nearest or losses[best] > wrong[best]:
        heads, none = backbones.with_modifiers(), np.full(size[1], -1)
        for number, labels, sign in ((nearest, gold, -1.0), (best, guess, 1.0)):
            add_all(scorer, backbones, heads[repeated.trees == number], labels, sign, gradient)
            add_arcs(gradient, features, example.places[number], none, sign * PACE)
    return int(losses[best] - wrong[nearest]), size[1]
