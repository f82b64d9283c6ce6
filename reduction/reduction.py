"""The reduction as an estimator: c-trees → labelled d-trees for a d-parser, and back (section 4)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import islice
from operator import ne
from pathlib import Path
from typing import TYPE_CHECKING, Self

from d2c.reduction.confidence import of_nodes, with_unaries
from d2c.reduction.encodings import (
    ENCODINGS,
    Order,
    Spine,
    chains_of_spines,
    decode_delta,
    decode_direct,
    decode_spine,
    encode_delta,
    encode_direct,
    encode_spine,
    label_delta,
    label_direct,
)
from d2c.reduction.repair import UNKNOWN, UNREADABLE, complete_order
from d2c.reduction.unary.classifier import UnaryClassifier
from d2c.trees.conversion import order_arcs, to_constituents
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.files import read_json
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.repair import CROSSING, Repairs, projectivize, repair_heads
from d2c.trees.unaries import Chain, restore_unaries, strip_unaries

if TYPE_CHECKING:
    from d2c.reduction.labeler.labeler import Labeler

FORMAT = 2  # of the model directory
_SETTINGS, _UNARIES = "reduction.json", "unaries"
_LABELER = "labeler"
_ENCODERS = {"direct": encode_direct, "delta": encode_delta, "spine": encode_spine}
_LABELLINGS = {"direct": label_direct, "delta": label_delta}
_BATCH = 500  # sentences that the unary classifier sees at once


class Reduction:
    """Route 1: constituents in dependency labels.

    encoding:   direct, delta (continuous trees only) or spine (H&N), see `d2c.reduction.encodings`
    head_rules: name or file of a head table, see `d2c.trees.heads.load_head_rules`
    continuous: decode into trees without gaps, whatever the d-parser predicts; None: if the training trees
                have none
    seed:       of the unary classifier and the labeler
    labeler:    two-stage parsing (section 4.2): d-trees get their labels from
                `d2c.reduction.labeler.labeler`, not from
                the d-parser

    Learned by `fit`: the symbols of the treebank, the commonest for each head's tag, the commonest wrapper,
    and, unless the labels carry them (spine), a classifier of unary chains; the labeler. Unfitted, it encodes
    and decodes without unaries and with any symbol.
    """

    def __init__(
        self,
        encoding: str = "direct",
        head_rules: str = "collins",
        continuous: bool | None = None,
        seed: int = 0,
        labeler: bool = False,
    ) -> None:
        if encoding not in ENCODINGS:
            raise ValueError(f"unknown encoding {encoding!r}; known are {', '.join(ENCODINGS)}")
        self.encoding, self.head_rules = encoding, head_rules
        self.continuous, self.seed, self.labeler = continuous, seed, labeler
        self.gaps_ = False  # whether training trees have any
        self.symbols_: frozenset[str] | None = None
        self.default_symbols_: dict[str, str] = {}
        self.top_: str | None = "TOP"
        self.unaries_: UnaryClassifier | None = None
        self.labeler_: Labeler | None = None

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        progress: object = None,
    ) -> Self:
        """Learns from gold c-trees, read once. It has nothing to select, and no need of `dev`.

        dtrees: what a d-parser predicts for each c-tree when it has not learned from it (jackknifing). The
                labeler learns on these backbones, too, and uses the labels that they have.
        """
        if self.labeler:
            ctrees = list(ctrees)
            self._fit_labeler(ctrees, dtrees or ())
        seen: set[str] = set()
        by_tag: defaultdict[str, Counter[str]] = defaultdict(Counter)
        tops: Counter[str | None] = Counter()

        def observed() -> Iterator[CTree]:
            for ctree in ctrees:
                seen.update(ctree.labels)
                tops[ctree.top] += 1
                self.gaps_ = self.gaps_ or (self.continuous is None and not ctree.is_continuous())
                headed = ctree if ctree.head_children is not None else self._heads.apply(ctree)
                tags = ctree.tokens.tags
                for h, symbol in zip(headed.lexical_heads()[len(tags) :], ctree.labels, strict=True):
                    by_tag[tags[h]][symbol] += 1
                yield ctree

        if self.encoding == "spine":
            for _ in observed():
                pass
        else:
            self.unaries_ = UnaryClassifier(seed=self.seed).fit(observed())
        self.symbols_ = frozenset(seen)
        self.default_symbols_ = {tag: _commonest(counts) for tag, counts in by_tag.items()}
        overall = sum(by_tag.values(), Counter[str]())
        self.default_symbols_[""] = _commonest(overall) if overall else "X"
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")
        return self

    def _fit_labeler(self, treebank: Sequence[CTree], dtrees: Iterable[DTree]) -> None:
        continuous = all(ctree.is_continuous() for ctree in treebank)
        labelled = list(map(self.encode, treebank))
        given: list[Sequence[str] | None] = [None] * len(labelled)
        for ctree, dtree in zip(treebank, dtrees, strict=False):  # there may be none
            if self.encoding == "spine":
                raise ValueError("spines do not fit predicted heads; take the direct or delta encoding")
            heads, _ = repair_heads(dtree.heads)
            ordered = order_arcs(strip_unaries(ctree)[0], projectivize(heads) if continuous else heads)
            labelled.append(_LABELLINGS[self.encoding](replace(ordered, tokens=dtree.tokens)))
            given.append(dtree.labels)
        from d2c.reduction.labeler.labeler import Labeler  # slow to import: numba

        self.labeler_ = Labeler(self.encoding, continuous, seed=self.seed).fit(labelled, given)

    def encode(self, ctree: CTree) -> DTree:
        """The labelled d-tree that a d-parser learns from. Head children are found if there are none yet.

        Raises ValueError for a tree with gaps under the delta encoding.
        """
        return _ENCODERS[self.encoding](
            ctree if ctree.head_children is not None else self._heads.apply(ctree)
        )

    def decode(self, dtree: DTree, repairs: Repairs | None = None) -> CTree:
        """A valid c-tree over exactly the d-tree's tokens, whatever heads and labels it has.

        What had to be repaired is added to `repairs`. For many trees `decode_all` is faster.
        """
        return next(self.decode_all([dtree], repairs))

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """`decode` for a stream of d-trees, in batches."""
        repairs = Repairs() if repairs is None else repairs
        stream = iter(dtrees)
        while batch := self.label_all(islice(stream, _BATCH), repairs.counts):
            decoded = [self._decode(dtree, repairs) for dtree in batch]
            if self._classifies:
                assert self.unaries_ is not None
                chains = self.unaries_.predict([ctree for ctree, _ in decoded])
                decoded = [(ctree, known) for (ctree, _), known in zip(decoded, chains, strict=True)]
            for ctree, known in decoded:
                yield restore_unaries(ctree, known) if known else ctree

    def confidences(self, dtree: DTree, repairs: Repairs | None = None) -> tuple[CTree, tuple[float, ...]]:
        """What `decode` gives; how sure it is of each of its nodes [K], see `d2c.reduction.confidence`."""
        return next(self.confidences_all([dtree], repairs))

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        """`confidences` for a stream of d-trees, in batches."""
        repairs = Repairs() if repairs is None else repairs
        stream = iter(dtrees)
        while batch := list(islice(stream, _BATCH)):
            labelled = [(dtree, (1.0,) * len(dtree.heads)) for dtree in batch]
            if self.labeler_ is not None:
                backbones = [self._backbone(dtree, repairs.counts) for dtree in batch]
                labelled = self.labeler_.label_with_shares(backbones)
            decoded = [self._decode(dtree, repairs) for dtree, _ in labelled]
            bare = [ctree for ctree, _ in decoded]
            chains = [said or [()] * (ctree.root + 1) for ctree, said in decoded]
            # Where labels carry them, chains are as sure as the label of their lexical head.
            sure = [
                [arcs[h] for h in ctree.lexical_heads()]
                for ctree, (_, arcs) in zip(bare, labelled, strict=True)
            ]
            if self._classifies:
                assert self.unaries_ is not None
                chains, sure = self.unaries_.predict(bare), self.unaries_.shares(bare)
            for ctree, (_, arcs), known, shares in zip(bare, labelled, chains, sure, strict=True):
                yield with_unaries(ctree, of_nodes(ctree, arcs), known, shares)

    def label_all(self, dtrees: Iterable[DTree], counts: Counter[str] | None = None) -> list[DTree]:
        """The d-trees whose labels decoding reads: relabelled, heads repaired, if there is a labeler."""
        if self.labeler_ is None:
            return list(dtrees)
        counts = Counter() if counts is None else counts
        return list(self.labeler_.label_all([self._backbone(dtree, counts) for dtree in dtrees]))

    def decode_unaryless(self, dtree: DTree, repairs: Repairs | None = None) -> CTree:
        """The c-tree before its unary nodes are recovered (section 4.3)."""
        return self._decode(dtree, Repairs() if repairs is None else repairs)[0]

    def save(self, directory: Path) -> None:
        """Writes JSON and .npz files into a directory, made if absent."""
        directory.mkdir(parents=True, exist_ok=True)
        settings = {
            "format": FORMAT,
            "encoding": self.encoding,
            "head_rules": self.head_rules,
            "continuous": self.continuous,
            "gaps": self.gaps_,
            "seed": self.seed,
            "symbols": None if self.symbols_ is None else sorted(self.symbols_),
            "default_symbols": self.default_symbols_,
            "top": self.top_,
            "unaries": self.unaries_ is not None,
            "labeler": self.labeler,
        }
        text = json.dumps(settings, indent=1, ensure_ascii=False)
        (directory / _SETTINGS).write_text(text + "\n", encoding="utf-8")
        if self.unaries_ is not None:
            self.unaries_.save(directory / _UNARIES)
        if self.labeler_ is not None:
            self.labeler_.save(directory / _LABELER)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        path = directory / _SETTINGS
        settings = read_json(path)
        version = settings.get("format")
        if version != FORMAT:
            raise ModelError(f"{path}: has format {version}; this version of d2c reads {FORMAT}")
        try:
            names = ("encoding", "head_rules", "continuous", "seed", "labeler")
            route = cls(**{name: settings[name] for name in names})
            route.symbols_ = None if settings["symbols"] is None else frozenset(settings["symbols"])
            route.default_symbols_ = dict(settings["default_symbols"])
            route.top_, route.gaps_ = settings["top"], bool(settings.get("gaps"))
            has_unaries = settings["unaries"]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{path}: is broken ({error}); train the model again") from None
        if has_unaries:
            route.unaries_ = UnaryClassifier.load(directory / _UNARIES)
        if route.labeler:
            from d2c.reduction.labeler.labeler import Labeler

            route.labeler_ = Labeler.load(directory / _LABELER)
        return route

    @property
    def _classifies(self) -> bool:
        """Whether unary nodes are those of the classifier."""
        return self.encoding != "spine" and self.unaries_ is not None

    @property
    def _continuous(self) -> bool:
        return not self.gaps_ if self.continuous is None else self.continuous

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.head_rules)

    def _backbone(self, dtree: DTree, counts: Counter[str]) -> DTree:
        """The d-tree with heads that form a tree, projective if c-trees are to have no gaps."""
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(counts)
        if self._continuous:
            lifted = projectivize(heads)
            counts[CROSSING] += sum(map(ne, heads, lifted))
            heads = lifted
        return replace(dtree, heads=tuple(heads))

    def _decode(self, dtree: DTree, repairs: Repairs) -> tuple[CTree, list[Chain] | None]:
        """The unaryless c-tree, and its unary chains where the labels say them."""
        heads, n = dtree.heads, len(dtree.heads)
        repairs.sentences += 1
        repairs.tokens += n
        ctree = spines = None
        ordered = dtree
        if min(heads) >= 0 and max(heads) <= n:
            # Most predictions need no repair: try, and look closer only where a condition fails.
            (symbols, events), spines = self._read(dtree)
            root = heads.index(0) if 0 in heads else 0
            symbols[root], events[root] = None, 0
            if symbols.count(None) == 1 and self._knows(set(symbols) - {None}):
                named = tuple([symbol or "" for symbol in symbols])
                ordered = DTree(dtree.tokens, heads, named, tuple(events))
                try:
                    ctree = to_constituents(ordered, self.top_)
                except ValueError:
                    ctree = None
        if ctree is None or (self._continuous and not ctree.is_continuous()):
            ordered, spines = self._repair(dtree, repairs.counts)
            ctree = to_constituents(ordered, self.top_)
        return ctree, None if spines is None else chains_of_spines(ordered, ctree, spines)

    def _repair(self, dtree: DTree, counts: Counter[str]) -> tuple[DTree, list[Spine | None] | None]:
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(counts)
        dtree = DTree(dtree.tokens, tuple(heads), labels=dtree.labels)
        order, spines = self._read(dtree)
        symbols, events = order
        for m, head in enumerate(heads):
            known = symbols[m] is None or self._knows({symbols[m]})
            if head and (symbols[m] is None or not events[m]):
                counts[UNREADABLE] += 1
            elif head and not known:
                counts[UNKNOWN] += 1
            if not known:
                symbols[m] = None
        ordered = complete_order(dtree.tokens, heads, order, self._default_symbol, self._continuous, counts)
        return ordered, spines

    def _read(self, dtree: DTree) -> tuple[Order, list[Spine | None] | None]:
        if dtree.labels is None:
            dtree = DTree(dtree.tokens, dtree.heads, labels=("_",) * len(dtree.heads))
        if self.encoding == "direct":
            return decode_direct(dtree), None
        if self.encoding == "delta":
            return decode_delta(dtree), None
        order, spines = decode_spine(dtree)
        return order, [spine if spine is not None and self._knows(set(spine)) else None for spine in spines]

    def _knows(self, symbols: Set[str | None]) -> bool:
        """Whether all symbols are the treebank's."""
        return self.symbols_ is None or symbols <= self.symbols_

    def _default_symbol(self, tag: str) -> str:
        return self.default_symbols_.get(tag) or self.default_symbols_.get("", "X")


def _commonest(counts: Counter[str]) -> str:
    """The symbol counted most often, of equal ones the first by name."""
    return min(counts, key=lambda symbol: (-counts[symbol], symbol))
