"""The reduction as an estimator: c-trees → labelled d-trees for a d-parser, and back (section 4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from d2c.base.batches import batches
from d2c.base.counting import commonest
from d2c.base.model_files import read_as, reading, write_settings
from d2c.base.settings import Settings, seed_setting, setting
from d2c.packed.arcs import packed_arcs
from d2c.packed.scoring import ArcScoring
from d2c.protocols.abilities import RouteAbilities
from d2c.protocols.route import Confidences, Ranked, Route, TrainingTrees, merged_ctrees
from d2c.reduction.encodings import encoding_named
from d2c.reduction.encodings.encoding import Order, Spine
from d2c.reduction.repair import UNKNOWN_SYMBOL, UNREADABLE, complete_order
from d2c.reduction.unary.classifier import UnaryClassifier
from d2c.trees.cleaning import unwrap
from d2c.trees.constraints import SpanConstraints
from d2c.trees.conversion import to_constituents
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.lone import LoneNodes
from d2c.trees.repair import Repairs, repair_heads
from d2c.trees.unaries import Chain, restore_unaries

REDUCTION_FORMAT = 2  # of the model directory
_FILE, _UNARIES = "reduction.json", "unaries"
_BATCH = 500  # sentences that labeler and unary classifier see at once
_DTREES = 4  # d-trees that are considered for each c-tree asked for


@dataclass(frozen=True, kw_only=True)
class ReductionSettings(Settings):
    """How the reduction encodes, learns and decodes."""

    encoding: str = setting("direct", "Direct, delta (continuous trees only) or spine (the H&N-encoding).")
    head_rules: str = setting("collins", "Name or file of a head table, see `d2c.trees.heads`.")
    continuous: bool | None = setting(
        None,
        "Decode into trees without gaps, whatever heads say; None: if training trees have none.",
    )
    seed: int = seed_setting("Of all that is learned.")


@dataclass(frozen=True, kw_only=True)
class ReductionFile(ReductionSettings):
    """What the JSON file of a route holds: its settings, and what was learned.

    unaries: whether there is a classifier of unary chains
    arcs:    how packed arcs are scored, see `d2c.packed.scoring.ArcScoring`; the files of 0.2.0 lack it
    lone:    see `Route`
    """

    gaps: bool
    symbols: frozenset[str] | None
    default_symbols: dict[str, str]
    top: str | None
    unaries: bool
    arcs: ArcScoring = ArcScoring()
    lone: LoneNodes | None = LoneNodes()


class DecodedBatch(NamedTuple):
    """Decoded sentences.

    ctrees: without unary nodes
    chains: for each c-tree, the chain of unary nodes above each of its nodes; empty where none are known
    shares: for each c-tree, how sure the label of each token is; empty where that was not asked for
    of_chains: for each c-tree, how sure the chain of each node is; empty without a classifier of chains
    """

    ctrees: list[CTree]
    chains: Sequence[Sequence[Chain]]
    shares: Sequence[Sequence[float]]
    of_chains: Sequence[Sequence[float]]


class Reduction(Route):
    """The route `reduction`: constituents in dependency labels.

    Its parameters are the fields of `ReductionSettings`.

    Learned by `fit`: the symbols of the treebank, the commonest symbol for each tag of a head, the commonest
    wrapper, and, unless the labels carry unary nodes, a classifier of unary chains. Unfitted, it decodes with
    any symbol, and with no unary nodes but those in labels. Raises ValueError for parameters out of range.
    """

    abilities = RouteAbilities(confidences=True, k_best=True, k_best_arcs=True)

    def __init__(
        self,
        encoding: str = "direct",
        head_rules: str = "collins",
        continuous: bool | None = None,
        seed: int = 1,
    ) -> None:
        ReductionSettings(encoding=encoding, head_rules=head_rules, continuous=continuous, seed=seed)
        self.encoder = encoding_named(encoding)
        self.encoding, self.head_rules = encoding, head_rules
        self.continuous, self.seed = continuous, seed
        self.symbols_: frozenset[str] | None = None
        self.default_symbols_: dict[str, str] = {}
        self.top_: str | None = "TOP"
        self.unaries_: UnaryClassifier | None = None
        self.arcs_ = ArcScoring()

    def _fit(self, trees: TrainingTrees) -> None:
        """Learn from the c-trees, which are read once; `dev` and d-trees are not used."""
        self.gaps_ = False
        seen: set[str] = set()
        by_tag: defaultdict[str, Counter[str]] = defaultdict(Counter)
        tops: Counter[str | None] = Counter()

        def observed() -> Iterator[CTree]:
            for ctree in trees.ctrees:
                seen.update(ctree.labels)
                tops[ctree.top] += 1
                self.gaps_ = self.gaps_ or (not self.continuous and not ctree.is_continuous())
                headed = self._heads.headed(ctree)
                tags = ctree.tokens.tags
                for h, symbol in zip(headed.lexical_heads()[len(tags) :], ctree.labels, strict=True):
                    by_tag[tags[h]][symbol] += 1
                yield ctree

        if self.encoder.carries_unaries:
            for _ in observed():
                pass
        else:
            self.unaries_ = UnaryClassifier(seed=self.seed).fit(observed())
        self.symbols_ = frozenset(seen)
        self.default_symbols_ = {tag: commonest(counts, "X") for tag, counts in by_tag.items()}
        overall = sum(by_tag.values(), Counter[str]())
        self.default_symbols_[""] = commonest(overall, "X")
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")

    def encode(self, ctree: CTree) -> DTree:
        """Return the labelled d-tree that a d-parser learns from. Head rules find missing heads.

        Raises ValueError for a tree with gaps where the encoding takes none.
        """
        return self.encoder.encode(self._heads.headed(ctree))

    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        """Yield what `decode` returns, for a stream of d-trees, in batches."""
        for batch in self._decoded(dtrees, repairs, False):
            yield from map(_unwrapped, map(restore_unaries, batch.ctrees, batch.chains))

    def _confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, Confidences]]:
        """Yield what `confidences` returns, in batches."""
        for batch in self._decoded(dtrees, repairs, True):
            if self.unaries_ is None:  # chains are as sure as the label of their lexical head
                pairs = zip(batch.ctrees, batch.shares, strict=True)
                sure = [[shares[h] for h in ctree.lexical_heads()] for ctree, shares in pairs]
                batch = batch._replace(of_chains=sure)
            for ctree, chains, shares, of_chains in zip(*batch, strict=True):
                yield _with_unaries(ctree, shares, chains or [()] * (ctree.root + 1), of_chains)

    def _decode_k_best(self, dtree: DTree, k: int, constraints: SpanConstraints | None) -> Sequence[Ranked]:
        """Return the k best c-trees over packed arcs, each with the logarithm of its share among the d-trees
        considered: `_DTREES` for each c-tree, since several d-trees may have the same constituents."""
        if packed_arcs(dtree) is None:
            return super()._decode_k_best(dtree, k, constraints)
        logs, labelled = zip(*self._k_best_dtrees(dtree, _DTREES * k), strict=True)
        total = float(np.logaddexp.reduce(logs))
        batch = self._restored(labelled, (), Repairs())
        ctrees = map(_unwrapped, map(restore_unaries, batch.ctrees, batch.chains))
        return merged_ctrees((log - total, ctree) for log, ctree in zip(logs, ctrees, strict=True))[:k]

    def save(self, directory: Path) -> None:
        """Write JSON and .npz files into a directory, made if absent."""
        file = ReductionFile(
            encoding=self.encoding,
            head_rules=self.head_rules,
            continuous=self.continuous,
            seed=self.seed,
            gaps=self.gaps_,
            symbols=self.symbols_,
            default_symbols=self.default_symbols_,
            top=self.top_,
            unaries=self.unaries_ is not None,
            arcs=self.arcs_,
            lone=self.lone_,
        )
        write_settings(directory / _FILE, REDUCTION_FORMAT, file)
        if self.unaries_ is not None:
            self.unaries_.save(directory / _UNARIES)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        path = directory / _FILE
        file = read_as(path, REDUCTION_FORMAT, ReductionFile)
        with reading(path):
            route = cls(file.encoding, file.head_rules, file.continuous, file.seed)
        route.symbols_, route.default_symbols_, route.top_ = file.symbols, file.default_symbols, file.top
        route.gaps_, route.arcs_, route.lone_ = file.gaps, file.arcs, file.lone
        if file.unaries:
            route.unaries_ = UnaryClassifier.load(directory / _UNARIES)
        return route

    @property
    def is_continuous(self) -> bool:
        """Return whether c-trees are decoded without gaps."""
        return not self.gaps_ if self.continuous is None else self.continuous

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.head_rules)

    def _decoded(self, dtrees: Iterable[DTree], repairs: Repairs, sure: bool) -> Iterator[DecodedBatch]:
        """Yield decoded d-trees in batches, with their unary nodes; if `sure`, with shares of labels."""
        for taken in batches(dtrees, _BATCH):
            shares: Sequence[Sequence[float]] = ()
            if sure:
                pairs = self._relabel_with_shares(taken, repairs.counts)
                labelled, shares = [dtree for dtree, _ in pairs], [one for _, one in pairs]
            else:
                labelled = self.relabel(taken, repairs.counts)
            yield self._restored(labelled, shares, repairs)

    def _relabel_with_shares(
        self, dtrees: Iterable[DTree], counts: Counter[str]
    ) -> list[tuple[DTree, Sequence[float]]]:
        """Return what `relabel` does, and the share of each label [n]: 1, since d-parsers give no shares."""
        return [(dtree, (1.0,) * len(dtree.heads)) for dtree in dtrees]

    def _k_best_dtrees(self, dtree: DTree, k: int) -> list[tuple[float, DTree]]:
        """Return about k of the best d-trees that packed arcs hold, labelled, the one of `relabel` first;
        each with its score: here, the logarithm of the probability of its arcs."""
        from d2c.reduction.alternatives import likely_dtrees  # only here: it needs numba

        return likely_dtrees(dtree, k, self.is_continuous)

    def _restored(
        self, labelled: Iterable[DTree], shares: Sequence[Sequence[float]], repairs: Repairs
    ) -> DecodedBatch:
        """Decode labelled d-trees, and recover unary nodes."""
        decoded = [self._decode(dtree, repairs) for dtree in labelled]
        ctrees = [ctree for ctree, _ in decoded]
        if self.unaries_ is None:
            return DecodedBatch(ctrees, [chains for _, chains in decoded], shares, ())
        chains, of_chains = self.unaries_.predict_with_shares(ctrees)
        return DecodedBatch(ctrees, chains, shares, of_chains)

    def _decode(self, dtree: DTree, repairs: Repairs) -> tuple[CTree, Sequence[Chain]]:
        """Return the unaryless c-tree, and its unary chains where the labels hold them."""
        heads, n = dtree.heads, len(dtree.heads)
        repairs.sentences += 1
        repairs.tokens += n
        ctree = spines = None
        ordered, counts = dtree, Counter[str]()
        if min(heads) >= 0 and max(heads) <= n:
            # Most predictions need no repair: try, and look closer only where a condition fails.
            symbols, events, spines = self._read(dtree, counts)
            root = heads.index(0) if 0 in heads else 0
            symbols[root], events[root] = None, 0
            if symbols.count(None) == 1 and self._knows(set(symbols) - {None}):
                named = tuple([symbol or "" for symbol in symbols])
                ordered = DTree(dtree.tokens, heads, named, tuple(events))
                try:
                    ctree = to_constituents(ordered, self.top_)
                except ValueError:
                    ctree = None
        if ctree is None or (self.is_continuous and not ctree.is_continuous()):
            ordered, spines = self._repair(dtree, repairs.counts)
            ctree = to_constituents(ordered, self.top_)
        else:
            repairs.counts.update(counts)
        return ctree, () if spines is None else self.encoder.chains(ordered, ctree, spines)

    def _repair(self, dtree: DTree, counts: Counter[str]) -> tuple[DTree, list[Spine | None] | None]:
        heads, repaired = repair_heads(dtree.heads)
        counts.update(repaired)
        order = self._read(DTree(dtree.tokens, tuple(heads), labels=dtree.labels), counts)
        symbols, events = order.symbols, order.events
        for m, head in enumerate(heads):
            known = symbols[m] is None or self._knows({symbols[m]})
            if head and (symbols[m] is None or not events[m]):
                counts[UNREADABLE] += 1
            elif head and not known:
                counts[UNKNOWN_SYMBOL] += 1
            if not known:
                symbols[m] = None
        ordered = complete_order(dtree.tokens, heads, order, self._default_symbol, self.is_continuous, counts)
        return ordered, order.spines

    def _read(self, dtree: DTree, counts: Counter[str]) -> Order:
        """Return the order that labels encode, without spines that hold unknown symbols; spines with an empty
        symbol are counted as unreadable."""
        if dtree.labels is None:
            dtree = DTree(dtree.tokens, dtree.heads, labels=("_",) * len(dtree.heads))
        order = self.encoder.decode(dtree)
        if order.spines is None:
            return order
        known = [spine if spine is None or self._knows(set(spine)) else None for spine in order.spines]
        counts[UNREADABLE] += sum("" in spine for spine in order.spines if spine)
        return order._replace(spines=known)

    def _knows(self, symbols: Set[str | None]) -> bool:
        """Return whether all symbols are the treebank's; an empty one, which no file holds, is not."""
        return "" not in symbols and (self.symbols_ is None or symbols <= self.symbols_)

    def _default_symbol(self, tag: str) -> str:
        return self.default_symbols_.get(tag) or self.default_symbols_.get("") or "X"


def _with_unaries(
    ctree: CTree, labels: Sequence[float], chains: Sequence[Chain], of_chains: Sequence[float]
) -> tuple[CTree, Confidences]:
    """Return a unaryless c-tree with its unary nodes put back, and how sure each of its nodes is.

    A node of the unaryless c-tree was made by the labels of the modifiers that attach in it: it is as sure as
    the least sure of these labels according to the labeler. A d-parser's labels have no scores and count as
    1. A unary node is as sure as the choice of its chain. All of these are shares of scores that were trained
    with margins: they rank nodes, but are not calibrated. Linear time.

    labels:            [n] how sure the label of each token is
    chains, of_chains: [n + K] the chain above each node, and how sure this chain is
    """
    assert ctree.head_children is not None
    n, heads = len(ctree.tokens), ctree.lexical_heads()
    shares: list[float] = []
    for node, (chain, share) in enumerate(zip(chains, of_chains, strict=True)):  # as `restore_unaries` goes
        if node >= n:
            head_child = ctree.head_children[node - n]
            shares.append(min(labels[heads[kid]] for kid in ctree.children[node - n] if kid != head_child))
        shares += [share] * len(chain)
    whole = _unwrapped(restore_unaries(ctree, chains))
    return whole, tuple(shares[: len(whole.labels)])  # the root's is the last


def _unwrapped(ctree: CTree) -> CTree:
    """Return the c-tree with a wrapper that labels or chains put at its top moved to `top`, as in files."""
    at_top = ctree.top is None and ctree.children and len(ctree.children[-1]) == 1
    return unwrap(ctree, clean=False) if at_top else ctree
