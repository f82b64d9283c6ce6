"""Routes fitted to what a d-parser makes of a treebank.

A d-parser that is trained elsewhere has a convention of its own, UD or ClearNLP, say. Head children are then
those that its d-trees induce (`d2c.trees.heads`). Where a c-tree is not among those that its d-tree
allows, the route learns the nearest one among them. How near these come is the ceiling of what it can reach
with this d-parser.

What packed arcs count for is learned on the last tenth of the treebank, by a route that is fitted once more,
to the other nine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from d2c.base.progress import counted
from d2c.dparsers.protocol import DependencyParser
from d2c.training.encoding import described
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.heads import induce_heads
from d2c.trees.repair import repair_heads
from d2c.trees.route import Progress, Route
from d2c.trees.scores.brackets import bracket_scores


def fit_to_convention(
    route: Route, dparser: DependencyParser, spec: TrainingSpec, progress: Progress | None
) -> None:
    """Fit a route on what a d-parser makes of treebank files; first say the oracle F1 on dev.

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
    """Return c-trees with the head children that d-trees over the same tokens induce, made trees first."""
    pairs = counted(zip(ctrees, dtrees, strict=True), "inducing heads")
    return [induce_heads(ctree, repair_heads(dtree.heads)[0]) for ctree, dtree in pairs]


def fit_arcs(
    name: str,
    route: Route,
    spec: TrainingSpec,
    dtrees: Sequence[DTree] | None,
    held_out: Sequence[DTree],
    progress: Progress | None,
) -> None:
    """Teach a fitted route what packed arcs count for.

    dtrees: jackknifed ones of the whole treebank, or None; held_out: of its last tenth, with arcs, by a
            d-parser that has not learned from it
    """
    if progress is not None:
        progress(f"packed arcs: route {name} on nine tenths")
    gold = list(spec.reading(spec.train))
    begin = len(gold) - len(held_out)
    probe = replace(spec, checkpoints=None).new_routes()[name]
    probe.fit(gold[:begin], dtrees=None if dtrees is None else dtrees[:begin], progress=progress)
    route.arcs_ = probe.fit_arcs(gold[begin:], held_out).arcs_
    if progress is not None:
        progress(f"packed arcs: {route.arcs_}")
