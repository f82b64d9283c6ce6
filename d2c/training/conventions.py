"""Constrained CKY over d-trees of another convention than the head rules', UD or ClearNLP, say.

Head children are those that the predicted d-trees induce (`d2c.trees.induced_heads`). Where a c-tree is not
among those that its d-tree allows, the route learns the nearest one among them. How near these come is the
ceiling of what it can reach with this d-parser.
"""

from __future__ import annotations

from collections.abc import Iterable

from d2c.base.progress import counted
from d2c.dparsers.protocol import DependencyParser
from d2c.training.announcements import described
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.induced_heads import induce_heads
from d2c.trees.repair import repair_heads
from d2c.trees.route import Progress, Route
from d2c.trees.scores.brackets import bracket_scores


def fit_to_convention(
    route: Route, dparser: DependencyParser, spec: TrainingSpec, progress: Progress | None
) -> None:
    """Fits the route on what the d-parser makes of treebank files; first says the oracle F1 on dev.

    route: one that `learns_conventions`
    Raises ValueError for a treebank from which it cannot learn, and what the d-parser raises.
    """
    gold = list(counted(spec.reading(spec.train), f"reading {spec.train}"))
    held_out = list(counted(spec.reading(spec.dev), f"reading {spec.dev}"))
    dtrees = list(described(dparser.parse_training(ctree.tokens for ctree in gold), spec.train))
    dev_dtrees = list(described(dparser.parse(ctree.tokens for ctree in held_out), spec.dev))
    gold, headed = with_induced_heads(gold, dtrees), with_induced_heads(held_out, dev_dtrees)
    route.fit_grammar(gold, dtrees)
    if headed and progress is not None:
        pairs = counted(zip(headed, dev_dtrees, strict=True), "oracle")
        nearest = [route.oracle(*pair) for pair in pairs]
        f1 = bracket_scores(held_out, nearest, gaps=route.gaps_).f1
        progress(f"oracle F1 on dev {f1:.2f}, of the nearest c-trees that the d-trees allow: the ceiling")
    route.fit(gold, held_out, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=progress)


def with_induced_heads(ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> list[CTree]:
    """The c-trees with the head children that d-trees over the same tokens induce, made trees first."""
    pairs = counted(zip(ctrees, dtrees, strict=True), "inducing heads")
    return [induce_heads(ctree, repair_heads(dtree.heads)[0]) for ctree, dtree in pairs]
