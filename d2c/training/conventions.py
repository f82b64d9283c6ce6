"""Routes that learn from the d-trees of a d-parser trained elsewhere, in a convention of its own: UD or
ClearNLP, say.

Head children are those that the d-trees induce (`d2c.trees.heads`). Where a c-tree is not among those that
its d-tree allows, the route learns the nearest of these. How near they come is the ceiling of what the route
can reach with this d-parser.
"""

from __future__ import annotations

from collections.abc import Iterable

from d2c.base.inputs import Paths, names_of
from d2c.base.progress import counted
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Progress, Route
from d2c.training.spec import Data, TreebankSize
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.heads import induce_heads
from d2c.trees.refinement import with_subtrees
from d2c.trees.repair import projectivize, repair_heads
from d2c.trees.scores.brackets import bracket_scores


def fit_to_convention(route: Route, dparser: DependencyParser, data: Data, progress: Progress | None) -> None:
    """Fit a route on what a d-parser makes of treebank files; first report the oracle F1 on dev.

    route: one that learns from any convention
    Raises ValueError for a treebank from which the route cannot learn, and what the d-parser raises.
    """
    gold, dev = (
        list(counted(data.reading(one), f"reading {names_of(one)}")) for one in (data.train, data.dev)
    )
    dtrees, dev_dtrees = (
        _parsed(parse(ctree.tokens for ctree in ctrees), one)
        for parse, ctrees, one in (
            (dparser.parse_training, gold, data.train),
            (dparser.parse, dev, data.dev),
        )
    )
    gold, headed = with_induced_heads(gold, dtrees), with_induced_heads(dev, dev_dtrees)
    if headed and progress is not None:
        route.fit_grammar(gold, dtrees)
        pairs = counted(zip(headed, dev_dtrees, strict=True), "oracle")
        nearest = [route.oracle(*pair) for pair in pairs]
        f1 = bracket_scores(dev, nearest, gaps=route.gaps_).f1
        progress(f"oracle F1 on dev {f1:.2f}, of the nearest c-trees that the d-trees allow: the ceiling")
    route.fit(gold, dev, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=progress)


def _parsed(dtrees: Iterable[DTree], treebank: Paths) -> list[DTree]:
    """Return the d-trees that a d-parser makes of a treebank, and log how large the treebank is."""
    size = TreebankSize()
    parsed = list(map(size.add, counted(dtrees, f"parsing {names_of(treebank)}")))
    size.tell(treebank)
    return parsed


def with_induced_heads(ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> list[CTree]:
    """Return c-trees with the head children that d-trees over the same tokens induce, and with hidden nodes
    over subtrees of these d-trees, whose heads are repaired before."""
    pairs = counted(zip(ctrees, dtrees, strict=True), "inducing heads")
    repaired = ((ctree, repair_heads(dtree.heads)[0]) for ctree, dtree in pairs)
    return [induce_heads(with_subtrees(ctree, projectivize(heads)), heads) for ctree, heads in repaired]
