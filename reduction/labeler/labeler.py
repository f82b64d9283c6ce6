"""The two-stage labeler: labels for the arcs of any d-parser's backbone (section 4.2).

For each head the labels of all its modifiers are chosen together, independently of other heads, by Viterbi
(`d2c.reduction.labeler.search`). The weights are those of a structured SVM, learned by AdaGrad on gold
backbones, also on jackknifed ones, and averaged over all steps.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from d2c.linear.adagrad import AdaGrad, Gradient
from d2c.linear.words import UNKNOWN, number_words, word_number
from d2c.reduction.encodings import encoding_named
from d2c.reduction.encodings.labels import ROOT
from d2c.reduction.labeler.features import Corpus, Ints
from d2c.reduction.labeler.learning import label_corpus, share_corpus, train_on
from d2c.reduction.labeler.scores import DELTA, DIRECT, FREE, NESTED, Labels
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.files import read_json

FORMAT = 2  # of the model directory
_SETTINGS, _WEIGHTS = "labeler.json", "labeler.npz"
_MODES = {"direct": DIRECT, "delta": DELTA, "spine": NESTED}
_BATCH = 500  # sentences that `label_all` labels at once


class Labeler:
    """Labels backbones in one of the encodings of `d2c.reduction.encodings`.

    encoding:    direct, delta or spine; says which labels fit together
    constrained: ask of each head's labels that they do; False for treebanks with gaps
    epochs:      passes over the treebank
    rate:        of AdaGrad; penalty: its L1 penalty
    table_bits:  2^table_bits weights, where hashed features share them
    seed:        of the order of sentences; same seed, same model
    """

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
        self.weights_ = np.zeros(0, np.float32)
        self._table: Labels | None = None
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
        pairs = [(dtree, own) for dtree, own in zip_longest(dtrees, given) if len(dtree.heads)]
        treebank, stacked = [dtree for dtree, _ in pairs], [own for _, own in pairs]
        self.stacked_ = any(own is not None for own in stacked)
        self._number(treebank)
        numbers = {label: number for number, label in enumerate(self.labels_)}
        corpus = self._corpus(treebank, stacked)
        gold = np.zeros(len(corpus.heads), np.int32)
        gold[_filled(corpus)] = [numbers[label] for dtree in treebank for label in dtree.labels or ()]
        self._table = self._labels(corpus, gold)
        size = 1 << self.table_bits
        learner, gradient = AdaGrad.new(size, self.rate, self.penalty), Gradient.new(size)
        rng, order = np.random.default_rng(self.seed), np.arange(len(treebank))
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(order)
            wrong, total = train_on(learner, gradient, corpus, gold, order, self._table, self._mode)
            if progress:
                progress(epoch, wrong / max(1, total))
        self.weights_ = learner.average()
        return self

    def label(self, dtree: DTree) -> DTree:
        """The d-tree with labels. For many trees `label_all` is faster."""
        return next(self.label_all([dtree]))

    def label_all(self, dtrees: Iterable[DTree]) -> Iterator[DTree]:
        """The d-trees with labels, in order, in batches.

        Raises ValueError for heads out of range, ModelError where nothing was learned or loaded yet.
        """
        if self._table is None:
            raise ModelError("this labeler is not trained yet")
        stream = iter(dtrees)
        while batch := list(islice(stream, _BATCH)):
            yield from self._label(batch)[0]

    def label_with_shares(self, dtrees: Sequence[DTree]) -> list[tuple[DTree, Sequence[float]]]:
        """As `label_all`; and [n] of each label its share of exp(score) among all that fit the other labels.

        Weights trained with a margin are no likelihood: shares rank, they are not calibrated.
        """
        if self._table is None:
            raise ModelError("this labeler is not trained yet")
        labelled, corpus, best = self._label(dtrees)
        shares = share_corpus(corpus, self._table, self.weights_, self._mode, best)
        listed = iter(shares[_filled(corpus)].tolist())
        return [(dtree, tuple(islice(listed, len(dtree.heads)))) for dtree in labelled]

    def _label(self, batch: Sequence[DTree]) -> tuple[list[DTree], Corpus, Ints]:
        """The d-trees with labels; their corpus with the labels' numbers, by position."""
        assert self._table is not None
        corpus = self._corpus(batch, [dtree.labels for dtree in batch])
        best, failed = label_corpus(corpus, self._table, self.weights_, self._mode)
        self.failed_ += failed
        labels = iter(map(self.labels_.__getitem__, best[_filled(corpus)].tolist()))
        labelled = [
            replace(dtree, symbols=None, events=None, labels=tuple(islice(labels, len(dtree.heads))))
            for dtree in batch
        ]
        return labelled, corpus, best

    def save(self, directory: Path) -> None:
        """Writes JSON, and candidates and non-zero weights as .npz, into a directory, made if absent."""
        if self._table is None:
            raise ModelError("this labeler is not trained yet")
        directory.mkdir(parents=True, exist_ok=True)
        names = ("encoding", "constrained", "epochs", "rate", "penalty", "table_bits", "seed")
        settings = {
            "format": FORMAT,
            "stacked": self.stacked_,
            "parameters": {name: getattr(self, name) for name in names},
            "labels": self.labels_,
            "tags": list(self.tags_),
            "words": list(self.words_),
        }
        text = json.dumps(settings, ensure_ascii=False)
        (directory / _SETTINGS).write_text(text + "\n", encoding="utf-8")
        places = np.flatnonzero(self.weights_).astype(np.int32)
        arrays = self._table._asdict()
        np.savez_compressed(directory / _WEIGHTS, places=places, values=self.weights_[places], **arrays)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        path = directory / _SETTINGS
        settings = read_json(path)
        if settings.get("format") != FORMAT:
            version = settings.get("format")
            raise ModelError(f"{path}: has format {version}; this version of d2c reads {FORMAT}")
        try:
            labeler = cls(**settings["parameters"])
            labeler.labels_ = [str(label) for label in settings["labels"]]
            labeler.stacked_ = bool(settings["stacked"])
            labeler.tags_ = _numbered(settings["tags"])
            labeler.words_ = _numbered(settings["words"])
            with np.load(directory / _WEIGHTS, allow_pickle=False) as file:
                labeler._table = Labels(*(file[name] for name in Labels._fields))
                labeler.weights_ = np.zeros(1 << labeler.table_bits, np.float32)
                labeler.weights_[file["places"]] = file["values"]
            labeler._check()
        except (KeyError, TypeError, ValueError, IndexError, OSError, EOFError, *_BROKEN_ZIP) as error:
            raise ModelError(f"{directory}: is broken ({error}); train the model again") from None
        return labeler

    @property
    def _mode(self) -> int:
        return _MODES[self.encoding] if self.constrained else FREE

    def _number(self, treebank: Sequence[DTree]) -> None:
        """Numbers labels, tags and words; labels of one symbol stand together."""
        read = self._encoding.read
        seen = {label for dtree in treebank for label in dtree.labels or ()} or {ROOT}
        self.labels_ = sorted(seen, key=lambda label: (str(read(label)[0]), read(label)[1], label))
        self.tags_ = _numbered(sorted({tag for dtree in treebank for tag in dtree.tokens.tags}))
        self.words_ = number_words(dtree.tokens.forms for dtree in treebank)

    def _labels(self, corpus: Corpus, gold: Ints) -> Labels:
        """The table of labels, with rows of candidates from gold labels by position."""
        read = self._encoding.read
        symbols: dict[object, int] = {}
        ids = [symbols.setdefault(read(label)[0], len(symbols)) for label in self.labels_]
        numbers = [read(label)[1] for label in self.labels_]
        rows = _candidates(corpus, gold, len(self.tags_) + 2, numbers)
        return Labels(np.array(ids, np.int32), np.array(numbers, np.int32), *rows)

    def _corpus(self, dtrees: Sequence[DTree], given: Sequence[Sequence[str] | None]) -> Corpus:
        """The sentences in a row. Raises ValueError for heads out of range."""
        lengths = np.array([len(dtree.heads) for dtree in dtrees], np.int64)
        begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths + 1)])
        corpus = Corpus(begin, *(np.zeros(begin[-1] + 1, np.int32) for _ in range(4)))
        filled, words, tags = _filled(corpus), self.words_, self.tags_
        corpus.heads[filled] = list(chain.from_iterable(dtree.heads for dtree in dtrees))
        forms = chain.from_iterable(dtree.tokens.forms for dtree in dtrees)
        corpus.words[filled] = [word_number(words, form) for form in forms]
        own = chain.from_iterable(dtree.tokens.tags for dtree in dtrees)
        corpus.tags[filled] = [tags.get(tag, UNKNOWN) for tag in own]
        if self.stacked_:
            numbers = _numbered(self.labels_)
            rows = (
                repeat(0, len(dtree.heads)) if own is None else (numbers.get(label, UNKNOWN) for label in own)
                for dtree, own in zip(dtrees, given, strict=True)
            )
            corpus.given[filled] = list(chain.from_iterable(rows))
        if len(filled) and (
            corpus.heads.min() < 0 or np.any(corpus.heads[filled] > np.repeat(lengths, lengths))
        ):
            raise ValueError("a head is out of range; the labeler takes trees")
        return corpus

    def _check(self) -> None:
        """Raises ValueError unless the arrays fit together."""
        table, tags = self._table, len(self.tags_) + 2
        assert table is not None
        rows = len(table.begin) - 1
        fits = (
            table.symbols.shape == table.numbers.shape == (len(self.labels_),)
            and table.rows.shape == (tags, tags, 2)
            and table.wide.shape == (tags, 2)
            and all(bool(np.all((part >= 0) & (part < rows))) for part in (table.rows, table.wide))
            and bool(np.all(np.diff(table.begin) > 0))
            and (table.begin[0], table.begin[-1]) == (0, len(table.candidates))
            and bool(np.all((table.candidates >= 0) & (table.candidates < len(self.labels_))))
        )
        if not fits:
            raise ValueError("its arrays do not fit together")


Rows = tuple[Ints, Ints, Ints, Ints]  # rows, wide, begin, candidates of `Labels`
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error)


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(texts, UNKNOWN + 1)}


def _filled(corpus: Corpus) -> NDArray[np.int64]:
    """The positions of tokens: all but the gaps."""
    gaps = np.zeros(len(corpus.heads), bool)
    gaps[corpus.begin] = True
    return np.flatnonzero(~gaps)


def _candidates(corpus: Corpus, gold: Ints, tags: int, numbers: Sequence[int]) -> Rows:
    """Which labels were seen for each tag of a head, tag of a modifier, and side; by their numbers.

    A pair of tags that was not seen has the row of the head's tag; a tag that was not, that of all labels.
    """
    everything: set[int] = set()
    seen: defaultdict[tuple[int, int, int], set[int]] = defaultdict(set)
    of_tag: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    m = _filled(corpus)
    gap = np.repeat(corpus.begin[:-1], np.diff(corpus.begin) - 1)
    h = gap + corpus.heads[m]
    keys = np.stack([corpus.tags[h], corpus.tags[m], m > h, gold[m]], axis=1)
    for th, tm, side, label in np.unique(keys, axis=0).tolist():
        seen[th, tm, side].add(label)
        of_tag[th, side].add(label)
        if th:
            everything.add(label)
    kept: dict[tuple[int, ...], int] = {}

    def row(labels: Iterable[int]) -> int:
        ordered = sorted(labels, key=lambda label: (numbers[label], label))
        return kept.setdefault(tuple(ordered), len(kept))

    wide = np.full((tags, 2), row(everything or {0}), np.int32)
    for (th, side), labels in of_tag.items():
        wide[th, side] = row(labels)
    rows = np.repeat(wide[:, None, :], tags, axis=1)
    for (th, tm, side), labels in seen.items():
        rows[th, tm, side] = row(labels)
    begin = np.cumsum([0, *map(len, kept)]).astype(np.int32)
    return rows, wide, begin, np.array(list(chain.from_iterable(kept)), np.int32)
