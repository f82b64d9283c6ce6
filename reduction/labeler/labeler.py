"""The two-stage labeler: labels for the arcs of any d-parser's backbone (section 4.2).

For each head the labels of all its modifiers are chosen together, independently of other heads, by Viterbi
(`d2c.reduction.labeler.search`). The weights are those of a structured SVM, learned by AdaGrad on gold
backbones, also on jackknifed ones, and averaged over all steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np

from d2c.base.errors import ModelError
from d2c.base.model_files import read_settings, reading, strings, typed, write_settings
from d2c.base.progress import counted
from d2c.linear.adagrad import AdaGrad, Gradient
from d2c.linear.adagrad import step as descend
from d2c.linear.weights import SPARSE, Like, dense, read_arrays, sparse, write_arrays
from d2c.linear.words import UNKNOWN, morph_numbers, number_morphs, number_words, word_number
from d2c.packed.dtree import packed_arcs
from d2c.reduction.encodings import encoding_named
from d2c.reduction.labeler.arcs import Arcs, Floats, Longs
from d2c.reduction.labeler.features import Templates
from d2c.reduction.labeler.learning import add_mistakes, label_heads, shares_of
from d2c.reduction.labeler.scores import FREE, Labels, Scorer
from d2c.reduction.labeler.search import States
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.labels import ROOT

FORMAT = 4  # of the model directory; any change of the features makes a new one
_SETTINGS, _WEIGHTS = "labeler.json", "labeler.npz"
_PARAMETERS = {
    "encoding": str,
    "constrained": bool,
    "epochs": int,
    "rate": int | float,
    "penalty": int | float,
    "table_bits": int,
    "seed": int,
}
_TABLE = {name: Like("i4", 1) for name in Labels._fields} | {"rows": Like("i4", 3), "wide": Like("i4", 2)}
_BATCH = 500  # sentences that `label_all` labels at once
_SHARED = Lock()  # held where buffers are taken and failures counted; labellers are copied, locks are not


class Labeler:
    """Labels backbones in one of the encodings of `d2c.reduction.encodings`.

    encoding:    direct, delta or spine; says which labels fit together
    constrained: ask of each head's labels that they do; False for treebanks with gaps
    epochs:      passes over the treebank
    rate:        of AdaGrad; penalty: its L1 penalty
    table_bits:  2^table_bits weights, where hashed features share them
    seed:        of the order of sentences; same seed, same model
    """

    _table: Labels

    def __init__(
        self,
        encoding: str = "direct",
        constrained: bool = True,
        epochs: int = 10,
        rate: float = 0.02,
        penalty: float = 0.0,
        table_bits: int = 23,
        seed: int = 0,
    ) -> None:
        self._encoding = encoding_named(encoding)
        self.encoding, self.constrained = encoding, constrained
        self.epochs, self.rate, self.penalty = epochs, rate, penalty
        self.table_bits, self.seed = table_bits, seed
        self.labels_: list[str] = []
        self.words_: dict[str, int] = {}
        self.stacked_ = False  # whether the d-parser's own labels are features
        self.tags_: dict[str, int] = {}
        self.morphs_: dict[str, int] = {}
        self.weights_ = np.zeros(0, np.float32)
        self._spare: list[States] = []  # as many as threads labelled at the same time
        self.failed_ = 0  # heads that `label_all` found no labels for under the constraints

    def fit(
        self,
        dtrees: Iterable[DTree],
        given: Iterable[Sequence[str] | None] = (),
        progress: Callable[[int, float], None] | None = None,
    ) -> Self:
        """Learns from labelled d-trees; after each epoch calls progress(epoch, share of wrong labels).

        given: the labels that a d-parser gave each d-tree, jackknifed, or None; with any they are features,
               and the labeler is to be used on that d-parser's trees (stacking)

        The share is that of loss-augmented decoding: it includes right labels that won by too little.
        """
        arcs, gold = self._number(list(zip_longest(dtrees, given)))
        learner = AdaGrad.new(1 << self.table_bits, self.rate, self.penalty)
        gradient = Gradient.of(learner)
        self.weights_ = learner.weights
        scorer, states, guess = self._scorer(), States.new(self._table), np.zeros_like(gold)
        rng, by_sentence = np.random.default_rng(self.seed), arcs.by_sentence()
        order = np.arange(len(by_sentence))
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(order)
            wrong = 0
            for number in counted(order.tolist(), f"labeler: epoch {epoch} of {self.epochs}"):
                heads = by_sentence[number]
                label_heads(scorer, arcs, heads, gold, states, guess)
                mistakes = add_mistakes(scorer, arcs, heads, gold, guess, gradient)
                if mistakes:
                    descend(learner, gradient)
                    wrong += mistakes
            if progress:
                progress(epoch, wrong / max(1, len(arcs.tokens)))
        self.weights_ = learner.average()
        return self

    @classmethod
    def warm_up(cls, train: bool) -> None:
        """Compiles the kernels of labelling, and those of training if asked, where they are not yet."""
        dtrees = [DTree(Tokens(("a", "b"), ("A", "B")), (2, 0), labels=("X#1", ROOT))]
        labeler = cls(epochs=1, table_bits=8)
        if train:
            labeler.fit(dtrees)
        else:
            labeler._number([(dtree, None) for dtree in dtrees])
            labeler.weights_ = np.zeros(1 << labeler.table_bits, np.float32)
        labeler.label_with_shares(dtrees)

    def label(self, dtree: DTree) -> DTree:
        """The d-tree with labels. For many trees `label_all` is faster."""
        return next(self.label_all([dtree]))

    def label_all(self, dtrees: Iterable[DTree], weight: float = 0.0) -> Iterator[DTree]:
        """The d-trees with labels, in order, in batches.

        weight: of the logarithms of the probabilities that packed arcs give labels, beside the features

        Raises ValueError for heads out of range, ModelError where nothing was learned or loaded yet.
        """
        self._check_trained()
        for batch in batches(dtrees, _BATCH):
            yield from self._label(batch, weight)[0]

    def label_with_shares(
        self, dtrees: Sequence[DTree], weight: float = 0.0
    ) -> list[tuple[DTree, Sequence[float]]]:
        """As `label_all`; and [n] of each label its share of exp(score) among all that fit the other labels.

        Weights trained with a margin are no likelihood: shares rank, they are not calibrated.
        """
        labelled, arcs, best = self._label(dtrees, weight)
        shares = shares_of(self._scorer(), arcs, arcs.with_modifiers(), best)
        listed = iter(shares[arcs.tokens].tolist())
        return [(dtree, tuple(islice(listed, len(dtree.heads)))) for dtree in labelled]

    def _label(self, batch: Sequence[DTree], weight: float) -> tuple[list[DTree], Arcs, Longs]:
        """The d-trees with labels; their arcs, and the labels' numbers by position."""
        self._check_trained()
        arcs = self._arcs([(dtree, dtree.labels) for dtree in batch], weight)
        best, heads = np.zeros(len(arcs.tags), np.int64), arcs.with_modifiers()
        with _SHARED:
            states = self._spare.pop() if self._spare else States.new(self._table)
        failed = label_heads(self._scorer(), arcs, heads, best[:0], states, best)
        with _SHARED:
            self.failed_ += failed
            self._spare.append(states)
        labels = iter(map(self.labels_.__getitem__, best[arcs.tokens].tolist()))
        labelled = [
            replace(dtree, symbols=None, events=None, labels=tuple(islice(labels, len(dtree.heads))))
            for dtree in batch
        ]
        return labelled, arcs, best

    def save(self, directory: Path) -> None:
        """Writes JSON, and candidates and non-zero weights as .npz, into a directory, made if absent."""
        self._check_trained()
        settings = {
            "parameters": {name: getattr(self, name) for name in _PARAMETERS},
            "stacked": self.stacked_,
            "labels": self.labels_,
            "tags": list(self.tags_),
            "words": list(self.words_),
            "morphs": list(self.morphs_),
        }
        write_settings(directory / _SETTINGS, FORMAT, settings)
        table = {name: array.astype(np.int32) for name, array in self._table._asdict().items()}
        write_arrays(directory / _WEIGHTS, table | sparse(self.weights_))

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        path = directory / _SETTINGS
        settings = read_settings(path, FORMAT)
        with reading(path):
            labeler = cls(**typed(settings["parameters"], _PARAMETERS))
            labeler.labels_ = list(strings(settings["labels"]))
            labeler.stacked_ = typed(settings, {"stacked": bool})["stacked"]
            labeler.tags_, labeler.words_ = (_numbered(strings(settings[name])) for name in ("tags", "words"))
            labeler.morphs_ = _numbered(strings(settings.get("morphs", ())))  # models of 0.2.0 have none
            if len(labeler.tags_) != len(settings["tags"]):
                raise ValueError("a tag comes twice")
        path = directory / _WEIGHTS
        arrays = read_arrays(path, _TABLE | SPARSE)
        with reading(path):
            table = Labels(*(arrays[name] for name in Labels._fields))
            table.check(len(labeler.labels_), len(labeler.tags_) + 2)
            labeler._table = Labels(*(array.astype(np.int64) for array in table))
            labeler.weights_ = dense(arrays, labeler.table_bits)
        return labeler

    def _check_trained(self) -> None:
        if not len(self.weights_):
            raise ModelError("this labeler is not trained yet")

    def _scorer(self) -> Scorer:
        constraint = self._encoding.constraint if self.constrained else FREE
        return Scorer(self._table, self.weights_, constraint, Templates.new())

    def _number(self, treebank: Sequence[tuple[DTree, Sequence[str] | None]]) -> tuple[Arcs, Longs]:
        """Numbers labels, tags and words; labels of one symbol stand together. The arcs, and gold labels."""
        self.stacked_ = any(own is not None for _, own in treebank)
        read = self._encoding.read
        seen = {label for dtree, _ in treebank for label in dtree.labels or ()} or {ROOT}
        self.labels_ = sorted(seen, key=lambda label: (str(read(label)[0]), read(label)[1], label))
        self.tags_ = _numbered(sorted({tag for dtree, _ in treebank for tag in dtree.tokens.tags}))
        self.words_ = number_words(dtree.tokens.forms for dtree, _ in treebank)
        self.morphs_ = number_morphs([dtree.tokens for dtree, _ in treebank])
        arcs = self._arcs(treebank)
        gold, index = np.zeros(len(arcs.tags), np.int64), {label: i for i, label in enumerate(self.labels_)}
        gold[arcs.tokens] = [index[label] for dtree, _ in treebank for label in dtree.labels or ()]
        symbols: dict[object, int] = {}
        ids = [symbols.setdefault(read(label)[0], len(symbols)) for label in self.labels_]
        numbers = [read(label)[1] for label in self.labels_]
        rows = _candidates(arcs, gold, len(self.tags_) + 2, numbers)
        self._table, self._spare = Labels(np.array(ids, np.int64), np.array(numbers, np.int64), *rows), []
        self._table.check(len(self.labels_), len(self.tags_) + 2)
        return arcs, gold

    def _arcs(self, dtrees: Sequence[tuple[DTree, Sequence[str] | None]], weight: float = 0.0) -> Arcs:
        """The arcs of d-trees, with the labels of d-parsers, and weighted what packed arcs say of labels.

        Raises ValueError for heads out of range.
        """
        words, tags, given = self.words_, self.tags_, _numbered(self.labels_) if self.stacked_ else {}
        tokens = [dtree.tokens for dtree, _ in dtrees]
        labels = chain.from_iterable(own or repeat(None, len(dtree.heads)) for dtree, own in dtrees)
        return Arcs.of(
            np.array(list(map(len, tokens)), np.int64),
            np.array(list(chain.from_iterable(dtree.heads for dtree, _ in dtrees)), np.int64),
            (
                [word_number(words, form) for one in tokens for form in one.forms],
                [tags.get(tag, UNKNOWN) for one in tokens for tag in one.tags],
                [given.get(label, UNKNOWN) if given and label is not None else 0 for label in labels],
                [number for one in tokens for number in morph_numbers(self.morphs_, one)],
            ),
            self._said([dtree for dtree, _ in dtrees], weight),
        )

    def _said(self, dtrees: Sequence[DTree], weight: float) -> Floats:
        """[n, L] the weighted logarithms of the probabilities of labels; [0, 0] where nothing is said."""
        packed = [packed_arcs(dtree) for dtree in dtrees]
        if not weight or all(arcs is None or arcs.labels is None for arcs in packed):
            return np.zeros((0, 0), np.float32)
        rows, names = [np.zeros((0, len(self.labels_)), np.float32)], tuple(self.labels_)
        for dtree, arcs in zip(dtrees, packed, strict=True):
            n = len(dtree.heads)
            if arcs is None or arcs.labels is None:
                rows.append(np.zeros((n, len(names)), np.float32))
            else:
                own = arcs.labels.of(arcs.places(np.arange(n), np.array(dtree.heads)))
                rows.append(weight * own.summed(names, own.names))
        return np.concatenate(rows)


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(texts, UNKNOWN + 1)}


def _candidates(arcs: Arcs, gold: Longs, tags: int, numbers: Sequence[int]) -> tuple[Longs, ...]:
    """Which labels were seen for each tag of a head, tag of a modifier, and side, by their numbers: `rows`,
    `wide`, `begin` and `candidates` of `Labels`.

    A pair of tags that was not seen has the row of the head's tag; a tag that was not, that of all labels.
    """
    everything: set[int] = set()
    seen: defaultdict[tuple[int, int, int], set[int]] = defaultdict(set)
    of_tag: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    m, h = arcs.tokens, arcs.heads[arcs.tokens]
    keys = np.stack([arcs.tags[h], arcs.tags[m], m > h, gold[m]], axis=1)
    for th, tm, side, label in np.unique(keys, axis=0).tolist():
        seen[th, tm, side].add(label)
        of_tag[th, side].add(label)
        if th:
            everything.add(label)
    kept: dict[tuple[int, ...], int] = {}

    def row(labels: Iterable[int]) -> int:
        ordered = sorted(labels, key=lambda label: (numbers[label], label))
        return kept.setdefault(tuple(ordered), len(kept))

    wide = np.full((tags, 2), row(everything or {0}), np.int64)
    for (th, side), labels in of_tag.items():
        wide[th, side] = row(labels)
    rows = np.repeat(wide[:, None, :], tags, axis=1)
    for (th, tm, side), labels in seen.items():
        rows[th, tm, side] = row(labels)
    begin = np.cumsum([0, *map(len, kept)])
    return rows, wide, begin, np.array(list(chain.from_iterable(kept)), np.int64)
