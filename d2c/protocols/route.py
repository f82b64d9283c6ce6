"""What every route is: a way back from d-trees to c-trees, learned from a treebank.

A route is an estimator. A subclass defines `encode`, `_fit`, `_decode_all`, `save` and `load`; `Route` checks
what these are given, once for all routes. What only some routes can do, `abilities` says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from d2c.base.counting import many
from d2c.base.errors import ModelError
from d2c.base.settings import Settings, seed_setting, setting
from d2c.packed.scoring import ArcScoring
from d2c.protocols.abilities import RouteAbilities
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.lone import LoneNodes, Noted
from d2c.trees.repair import Repairs
from d2c.trees.unaries import without_copies

Progress = Callable[[Any], None]  # is told what to show
Confidences = tuple[float, ...] | None  # [K] of nodes, in [0, 1], not yet calibrated; None: not known
Ranked = tuple[float | None, CTree]  # a c-tree behind the logarithm of its probability; None: not known


@dataclass(frozen=True, kw_only=True)
class CommonSettings(Settings):
    """What every route is made with; see `d2c.trees.heads.load_head_rules` for head rules."""

    head_rules: str = setting(
        "collins",
        "What finds heads: a head table (collins, pad or universal for English; chinese, dutch, french, "
        "german, icelandic, indonesian, japanese, portuguese, sinica; or a file), leftmost, rightmost, or "
        "marked (as the treebank marks them).",
    )
    seed: int = seed_setting("The seed of all random choices.")


class TrainingTrees(NamedTuple):
    """What a route learns from, see `Route.fit`: the d-trees are those of the c-trees' sentences."""

    ctrees: Iterable[CTree]
    dev: Iterable[CTree] = ()
    dtrees: Iterable[DTree] | None = None
    dev_dtrees: Iterable[DTree] | None = None
    progress: Progress | None = None


class Route(ABC):
    """The base of all routes.

    gaps_: whether training trees had gaps
    arcs_: what packed arcs count for, in a route that searches them
    lone_: the nodes over punctuation alone, and the copies, of training trees: it makes no others. None: any
    abilities: what the route provides and requires
    """

    gaps_: bool = False
    arcs_: ArcScoring
    lone_: LoneNodes | None = None

    abilities: ClassVar[RouteAbilities] = RouteAbilities()

    @property
    def is_fitted(self) -> bool:
        """Return whether the route can decode; True for routes that need to learn nothing for that."""
        return True

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        dev_dtrees: Iterable[DTree] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from gold c-trees; `dev` selects among what was learned.

        dtrees:     the d-parser's d-tree for each c-tree, from which it has not learned (jackknifing)
        dev_dtrees: the same for `dev`, for routes that are scored on it

        Raises ValueError, which names the sentence, for d-trees that are not those of the c-trees.
        """
        if dtrees is not None:
            ctrees, dtrees = paired(ctrees, dtrees)
        if dev_dtrees is not None:
            dev, dev_dtrees = paired(dev, dev_dtrees)
        noted = Noted(ctrees, partial(setattr, self, "lone_"))
        self._fit(TrainingTrees(noted, dev, dtrees, dev_dtrees, progress))
        return self

    @abstractmethod
    def encode(self, ctree: CTree) -> DTree:
        """Return the d-tree that the d-parser is trained on. Raises ValueError for trees it cannot encode."""

    def decode(self, dtree: DTree, repairs: Repairs | None = None) -> CTree:
        """Return a valid c-tree over exactly the d-tree's tokens, whatever heads and labels it has.

        What had to be repaired is added to `repairs`. Raises ModelError where the route is not trained yet,
        ValueError for a sentence without words.
        """
        return next(self.decode_all([dtree], repairs))

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """Yield what `decode` returns for a stream of d-trees, in order."""
        self.check_fitted()
        ctrees = self._decode_all(_with_words(dtrees), Repairs() if repairs is None else repairs)
        return (self._mended(ctree)[0] for ctree in ctrees)

    def confidences(self, dtree: DTree, repairs: Repairs | None = None) -> tuple[CTree, Confidences]:
        """Return what `decode` returns, and how sure the route is of each of its nodes."""
        return next(self.confidences_all([dtree], repairs))

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, Confidences]]:
        """Yield what `confidences` returns for a stream of d-trees, in order."""
        self.check_fitted()
        found = self._confidences_all(_with_words(dtrees), Repairs() if repairs is None else repairs)
        return (self._mended(*one) for one in found)

    def within(
        self, dtree: DTree, constraints: SpanConstraints, repairs: Repairs | None = None
    ) -> tuple[CTree, Confidences]:
        """Return a c-tree that obeys constraints, and its confidences; what no search reaches is put in
        afterwards."""
        self.check_fitted()
        (dtree,) = _with_words([dtree])
        found = self._within(dtree, constraints, Repairs() if repairs is None else repairs)
        ctree, shares = self._mended(*found)
        return obeying(ctree, constraints, shares)

    def decode_k_best(
        self, dtree: DTree, k: int, constraints: SpanConstraints | None = None
    ) -> Sequence[Ranked]:
        """Return the best c-trees of a d-tree that obey constraints, at most k, best first; each with the
        logarithm of its probability. The first is the one of `decode`, or `within`; where that has minimum
        Bayes risk, others may be more probable. Raises as `decode`."""
        self.check_fitted()
        (dtree,) = _with_words([dtree])
        found = self._decode_k_best(dtree, k, constraints)
        if self.lone_ is not None:
            found = merged_ctrees((log, self._mended(ctree)[0]) for log, ctree in found)
        if constraints is None:
            return found
        return merged_ctrees((log, obeying(ctree, constraints)[0]) for log, ctree in found)

    def relabel(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """Return the d-trees with the labels that decoding reads; repairs of heads are added to `counts`."""
        return list(dtrees)

    def knows(self, tags: Iterable[str]) -> bool:
        """Return whether the route has seen any of these tags; True for routes that do not keep tags."""
        return True

    def check_jackknifing(self) -> None:  # noqa: B027 - most routes can
        """Raise ValueError where `fit` cannot learn from d-trees that a d-parser predicts."""

    def oracle(self, ctree: CTree, dtree: DTree) -> CTree:
        """Return the c-tree nearest to a gold one among those that the route can make of a d-tree."""
        self._refuse("has no oracle")

    def fit_grammar(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree] | None = None) -> Sequence[object]:
        """Learn what `oracle` needs; arguments as in `fit`."""
        self._refuse("has no grammar")

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn `arcs_`, after all else, from d-trees with packed arcs, and gold c-trees for these.

        Neither d-parser nor route has learned from these sentences. Raises ValueError without packed arcs.
        """
        self._refuse("takes one d-tree, not packed arcs")

    @classmethod  # noqa: B027 - not all have kernels
    def warm_up(cls, train: bool = False) -> None:
        """Compile the kernels of decoding, where there are any, into numba's cache; if `train`, those of
        `fit`, too."""

    @classmethod  # noqa: B027
    def warm_up_packed(cls) -> None:
        """Compile the kernels of decoding over packed arcs, where there are others."""

    @abstractmethod
    def save(self, directory: Path) -> None:
        """Write plain files into a directory, made if absent."""

    @classmethod
    @abstractmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""

    def check_fitted(self) -> None:
        """Raise ModelError where the route is not trained yet."""
        if not self.is_fitted:
            self._refuse("is not trained yet")

    @abstractmethod
    def _fit(self, trees: TrainingTrees) -> None:
        """Learn from trees, as `fit` says."""

    @abstractmethod
    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        """Yield the c-tree of each d-tree; none of them is empty."""

    def _confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, Confidences]]:
        return ((ctree, None) for ctree in self._decode_all(dtrees, repairs))

    def _within(
        self, dtree: DTree, constraints: SpanConstraints, repairs: Repairs
    ) -> tuple[CTree, Confidences]:
        return next(self._confidences_all(iter([dtree]), repairs))

    def _decode_k_best(self, dtree: DTree, k: int, constraints: SpanConstraints | None) -> Sequence[Ranked]:
        return [(None, self.decode(dtree))][:k]

    def _mended(self, ctree: CTree, shares: Confidences = None) -> tuple[CTree, Confidences]:
        return (ctree, shares) if self.lone_ is None else self.lone_.mended(ctree, shares)

    def _refuse(self, what: str) -> NoReturn:
        raise ModelError(f"this route ({type(self).__name__}) {what}")


def merged_ctrees(found: Iterable[Ranked]) -> list[Ranked]:
    """Return each c-tree once, at its first place, with the sum of its probabilities; trees that differ only
    in head children, or in copies of nodes right above these (NP over NP), are one."""
    best: dict[CTree, Ranked] = {}
    for log, ctree in found:
        bare = without_copies(replace(ctree, head_children=None))
        known, first = best.get(bare, (None, ctree))
        if known is not None and log is not None:
            log = float(np.logaddexp(known, log))
        best[bare] = log, first
    return [*best.values()]


def paired(ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> tuple[list[CTree], list[DTree]]:
    """Return c-trees and the d-trees of the same sentences.

    Raises ValueError, which names the sentence, where one of them is missing or has other tokens.
    """
    gold, parsed = list(ctrees), list(dtrees)
    for number, (ctree, dtree) in enumerate(zip(gold, parsed, strict=False), 1):
        if len(ctree.tokens) != len(dtree.heads):
            sizes = f"a c-tree of {many(len(ctree.tokens), 'token')}, but a d-tree of {len(dtree.heads)}"
            raise ValueError(f"sentence {number} has {sizes}")
    if len(gold) != len(parsed):
        first = min(len(gold), len(parsed)) + 1
        sizes = f"{many(len(gold), 'c-tree')}, but {many(len(parsed), 'd-tree')}"
        raise ValueError(f"{sizes}: sentence {first} lacks one")
    return gold, parsed


def _with_words(dtrees: Iterable[DTree]) -> Iterator[DTree]:
    for dtree in dtrees:
        if not dtree.heads:
            raise ValueError("a sentence without words has no c-tree")
        yield dtree
