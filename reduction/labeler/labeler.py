"""The two-stage labeler: labels for the arcs of any d-parser's backbone.

Section 4.2 of "Parsing as Reduction". For each head the labels of all its modifiers are chosen together,
independently of other heads, by Viterbi (`d2c.reduction.labeler.sequence`, `d2c.reduction.labeler.joint`).
The weights are those of a structured SVM, learned by AdaGrad on gold backbones, also on jackknifed ones, and
averaged over all steps. Starting from these, it may also learn which of several backbones to take
(`d2c.reduction.labeler.over_arcs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from typing import Any, Self

import numpy as np

from d2c.base.arrays import Doubles, Floats, Longs
from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.base.model_files import read_as, reading, write_settings
from d2c.base.settings import redefault, setting
from d2c.learning.adagrad import AdaGrad
from d2c.learning.adagrad import step as descend
from d2c.learning.learner import Epoch, Training
from d2c.learning.settings import LearnerSettings
from d2c.learning.weights import CODED, Like, coded, decoded, read_arrays, write_arrays
from d2c.learning.words import UNKNOWN, Lexicon, NamesFile, numbered
from d2c.packed.arc_features import OBSERVED_TOKEN, ObservedTokens
from d2c.packed.arcs import packed_arcs
from d2c.reduction.encodings import ENCODINGS, encoding_named
from d2c.reduction.labeler.backbones import Backbones, Repeated
from d2c.reduction.labeler.features import LabelTemplates
from d2c.reduction.labeler.joint import JointStates
from d2c.reduction.labeler.learning import add_mistakes, label_heads, shares_of
from d2c.reduction.labeler.over_arcs import (
    EPOCHS_OVER_ARCS,
    SQUARES_BEFORE,
    ArcExample,
    add_step,
    dtree_scores,
)
from d2c.reduction.labeler.scores import FREE, LabelScorer, LabelTable, label_table_of
from d2c.trees.dtree import DTree
from d2c.trees.labels import ROOT

LABELER_FORMAT = 4  # of the model directory; any change of the features makes a new one
_SETTINGS, _WEIGHTS = "labeler.json", "labeler.npz"
_TABLE = {name: Like("i4", 1) for name in LabelTable._fields} | {"rows": Like("i4", 3), "wide": Like("i4", 2)}
_BATCH = 500  # sentences that `label_all` labels at once
INEXACT = "head whose best labels were not found"


@dataclass(frozen=True, kw_only=True)
class LabelerSettings(LearnerSettings):
    """How the labeler learns and decodes."""

    encoding: str = setting("direct", "Which labels fit together: those of this encoding.")
    constrained: bool = setting(
        True, "Ask of each head's labels that they fit together, beyond section 4.2; not with gaps."
    )
    rate: float = redefault(LearnerSettings, "rate", 0.02)
    table_bits: int = redefault(LearnerSettings, "table_bits", 23)

    def __post_init__(self) -> None:
        super().__post_init__()
        encoding_named(self.encoding)


@dataclass(frozen=True, kw_only=True)
class LabelerFile(NamesFile):
    """What the JSON file of a labeler holds, besides the names of its lexicon.

    stacked:    whether the d-parser's own labels are features
    labels:     [L] in order of their numbers
    """

    parameters: LabelerSettings
    stacked: bool
    labels: list[str]


class Labeler:
    """Labels backbones in one of the encodings of `d2c.reduction.encodings`.

    Its parameters are the fields of `LabelerSettings`. Raises ValueError for one that is out of range.
    """

    _table: LabelTable

    def __init__(self, encoding: str = "direct", constrained: bool = True, **changes: Any) -> None:
        self.settings = LabelerSettings(encoding=encoding, constrained=constrained, **changes)
        self.labels_: list[str] = []
        self.stacked_ = False  # whether the d-parser's own labels are features
        self.lexicon_ = Lexicon()
        self.weights_ = np.zeros(0, np.float32)

    def fit(
        self,
        dtrees: Iterable[DTree],
        given: Iterable[Sequence[str] | None] = (),
        progress: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """Learn from labelled d-trees.

        given:    the labels that a d-parser gave each d-tree, jackknifed, or None; if there are any, they are
                  features, and the labeler is to be used on that d-parser's trees (stacking)
        progress: is told of each epoch; the loss is the share of wrong labels in loss-augmented decoding,
                  in which right labels that win by too little count as wrong, too
        """
        backbones, gold = self._number(list(zip_longest(dtrees, given)))
        training = Training("labeler", self.settings)
        self.weights_ = training.learner.weights
        scorer, states, guess = self._scorer(), JointStates.new(self._table), np.zeros_like(gold)
        by_sentence = backbones.by_sentence()

        def learn(numbers: Longs) -> tuple[int, int]:
            wrong = labels = 0
            for heads in map(by_sentence.__getitem__, numbers.tolist()):
                label_heads(scorer, backbones, heads, gold, states, guess)
                mistakes = add_mistakes(scorer, backbones, heads, gold, guess, training.gradient)
                if mistakes:
                    descend(training.learner, training.gradient)
                wrong += mistakes
                labels += int((backbones.begin[heads + 1] - backbones.begin[heads]).sum())
            return wrong, labels

        self.weights_ = training.run(len(by_sentence), learn, progress=progress)
        return self

    def label(self, dtree: DTree) -> DTree:
        """Return the d-tree with labels. For many trees `label_all` is faster."""
        return next(self.label_all([dtree]))

    def label_all(
        self, dtrees: Iterable[DTree], weight: float = 0.0, counts: Counter[str] | None = None
    ) -> Iterator[DTree]:
        """Yield the d-trees with labels, in order, in batches.

        weight: of the logarithms of the probabilities that packed arcs give labels, besides the features
        counts: heads with too many modifiers for an exact search, or for whose modifiers no labels fit
                together, are added to these (INEXACT)

        Raises ValueError for heads out of range, ModelError where nothing was learned or loaded yet.
        """
        self._check_trained()
        for batch in batches(dtrees, _BATCH):
            yield from self._label(batch, weight, counts)[0]

    def label_with_shares(
        self, dtrees: Sequence[DTree], weight: float = 0.0, counts: Counter[str] | None = None
    ) -> list[tuple[DTree, Sequence[float]]]:
        """Return the d-trees with labels, and each label's share of exp(score) [n] among all labels that fit
        the other modifiers' labels; arguments as in `label_all`.

        Weights trained with a margin give no likelihood: shares rank labels, but are not calibrated.
        """
        labelled, backbones, best = self._label(dtrees, weight, counts)
        shares = shares_of(self._scorer(), backbones, backbones.with_modifiers(), best)
        listed = iter(shares[backbones.tokens].tolist())
        return [(dtree, tuple(islice(listed, len(dtree.heads)))) for dtree in labelled]

    def label_with_scores(
        self, dtrees: Sequence[DTree], sentences: Sequence[int], weight: float = 0.0
    ) -> tuple[list[DTree], Doubles]:
        """Return the d-trees with labels, and for each of them the score of all its labels [K]; `weight` as
        in `label_all`.

        sentences: [K] equal numbers for d-trees of one sentence with the same labels and packed arcs, if any
        """
        self._check_trained()
        backbones = self._backbones([(dtree, dtree.labels) for dtree in dtrees], weight)
        repeated = Repeated.of(backbones, np.array(sentences))
        best = self._best(backbones, repeated.heads, None)
        best[backbones.modifiers] = best[repeated.source]
        scores = dtree_scores(self._scorer(), backbones, repeated, best)
        return self._labelled(dtrees, backbones, best), scores

    def learn_over_arcs(
        self,
        sentences: Sequence[ArcExample],
        score: Callable[[Floats], float] | None,
        progress: Callable[[Epoch], None] | None,
    ) -> Self:
        """Go on learning from the present weights, now together with those of arcs.

        score: F1 on held-out trees of averaged weights [2^bits], which chooses the epoch
        """
        learner = AdaGrad.after(self.weights_, SQUARES_BEFORE, self.settings.rate, self.settings.penalty)
        settings = replace(self.settings, epochs=EPOCHS_OVER_ARCS)
        training = Training("labeler over packed arcs", settings, learner=learner)
        states = JointStates.new(self._table)

        def learn(numbers: Longs) -> tuple[int, int]:
            self.weights_, loss, labels = learner.weights, 0, 0  # `score` puts others there
            scorer = self._scorer()
            for sentence in map(sentences.__getitem__, numbers.tolist()):
                backbones = self._backbones([(dtree, None) for dtree in sentence.dtrees])
                wrong, size = add_step(scorer, backbones, states, sentence, training.gradient)
                if wrong:
                    descend(learner, training.gradient)
                loss, labels = loss + wrong, labels + size
            return loss, labels

        self.weights_ = training.run(len(sentences), learn, score, progress)
        return self

    def observe(self, dtree: DTree) -> ObservedTokens:
        """Return what features of arcs see of a sentence [n + 2]."""
        observed = np.zeros(len(dtree.heads) + 2, OBSERVED_TOKEN)
        observed["word"][1:-1], observed["tag"][1:-1], _ = self.lexicon_.columns([dtree.tokens])
        observed["head"][1:-1] = dtree.heads
        return observed

    def _label(
        self, batch: Sequence[DTree], weight: float, counts: Counter[str] | None
    ) -> tuple[list[DTree], Backbones, Longs]:
        """Return the d-trees with labels; their backbones; the labels' numbers [positions]."""
        self._check_trained()
        backbones = self._backbones([(dtree, dtree.labels) for dtree in batch], weight)
        best = self._best(backbones, backbones.with_modifiers(), counts)
        return self._labelled(batch, backbones, best), backbones, best

    def _best(self, backbones: Backbones, heads: Longs, counts: Counter[str] | None) -> Longs:
        """Return the numbers of the best labels [positions] of the modifiers of these heads [H]."""
        best = np.zeros(len(backbones.tags), np.int64)
        states = JointStates.new(self._table)
        failed = label_heads(self._scorer(), backbones, heads, best[:0], states, best)
        if counts is not None:
            counts[INEXACT] += int(states.narrowed[0]) + failed
        return best

    def _labelled(self, batch: Sequence[DTree], backbones: Backbones, best: Longs) -> list[DTree]:
        """Return the d-trees with the labels of these numbers [positions]."""
        labels = iter(map(self.labels_.__getitem__, best[backbones.tokens].tolist()))
        given = (tuple(islice(labels, len(dtree.heads))) for dtree in batch)
        return [
            replace(dtree, symbols=None, events=None, labels=own)
            for dtree, own in zip(batch, given, strict=True)
        ]

    def save(self, directory: Path) -> None:
        """Write JSON, and candidates and weights as .npz, into a directory, made if absent."""
        self._check_trained()
        file = LabelerFile(
            parameters=self.settings,
            stacked=self.stacked_,
            labels=self.labels_,
            **self.lexicon_.names(),
        )
        write_settings(directory / _SETTINGS, LABELER_FORMAT, file)
        table = {name: array.astype(np.int32) for name, array in self._table._asdict().items()}
        write_arrays(directory / _WEIGHTS, table | coded([self.weights_]))

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        path = directory / _SETTINGS
        file = read_as(path, LABELER_FORMAT, LabelerFile)
        with reading(path):
            labeler = cls()
            labeler.settings = file.parameters
            labeler.labels_, labeler.stacked_ = file.labels, file.stacked
            labeler.lexicon_ = Lexicon.of_names(file)
        path = directory / _WEIGHTS
        arrays = read_arrays(path, _TABLE | CODED)
        with reading(path):
            table = LabelTable(*(arrays[name] for name in LabelTable._fields))
            table.check(len(labeler.labels_), labeler._tags)
            labeler._table = LabelTable(*(array.astype(np.int64) for array in table))
            [labeler.weights_] = decoded(arrays, [1 << labeler.settings.table_bits])
        return labeler

    @property
    def _tags(self) -> int:
        """Return how many numbers of tags there are."""
        return len(self.lexicon_.tags) + UNKNOWN + 1

    @property
    def is_fitted(self) -> bool:
        """Return whether it has learned anything, or was loaded."""
        return len(self.weights_) > 0

    def _check_trained(self) -> None:
        if not self.is_fitted:
            raise ModelError("this labeler is not trained yet")

    def _scorer(self) -> LabelScorer:
        constraint = ENCODINGS[self.settings.encoding].constraint if self.settings.constrained else FREE
        return LabelScorer(self._table, self.weights_, constraint, LabelTemplates.new())

    def _number(self, treebank: Sequence[tuple[DTree, Sequence[str] | None]]) -> tuple[Backbones, Longs]:
        """Number labels, tags and words; labels of one symbol stand together. Return backbones and the gold
        labels by position [positions]."""
        read = ENCODINGS[self.settings.encoding].read
        self.stacked_ = any(predicted is not None for _, predicted in treebank)
        labels = {label for dtree, _ in treebank for label in dtree.labels or ()} or {ROOT}
        self.labels_ = sorted(labels, key=lambda label: (str(read(label)[0]), read(label)[1], label))
        self.lexicon_ = Lexicon.of([dtree.tokens for dtree, _ in treebank])
        backbones, index = self._backbones(treebank), numbered(self.labels_, 0)
        gold = np.zeros(len(backbones.tags), np.int64)
        gold[backbones.tokens] = [index[label] for dtree, _ in treebank for label in dtree.labels or ()]
        self._table = label_table_of(backbones, gold, self._tags, list(map(read, self.labels_)))
        return backbones, gold

    def _backbones(
        self, dtrees: Sequence[tuple[DTree, Sequence[str] | None]], weight: float = 0.0
    ) -> Backbones:
        """Return the backbones of d-trees, with the d-parser's labels and the weighted log-probabilities that
        packed arcs give labels.

        Raises ValueError for heads out of range.
        """
        tokens = [dtree.tokens for dtree, _ in dtrees]
        words, tags, morphs = self.lexicon_.columns(tokens)
        predicted = np.zeros(len(words), np.int64)
        if self.stacked_:
            known: dict[str | None, int] = {None: 0}
            known.update(numbered(self.labels_))
            labels = chain.from_iterable(own or repeat(None, len(dtree.heads)) for dtree, own in dtrees)
            predicted[:] = [known.get(label, UNKNOWN) for label in labels]
        return Backbones.of(
            np.array(list(map(len, tokens)), np.int64),
            np.array(list(chain.from_iterable(dtree.heads for dtree, _ in dtrees)), np.int64),
            (words, tags, predicted, morphs),
            self._label_logs([dtree for dtree, _ in dtrees], weight),
        )

    def _label_logs(self, dtrees: Sequence[DTree], weight: float) -> Floats:
        """Return the weighted log-probabilities of labels, [n, L]; [0, 0] without any, or with weight 0."""
        packed = [packed_arcs(dtree) for dtree in dtrees]
        if not weight or all(arcs is None or arcs.labels is None for arcs in packed):
            return np.zeros((0, 0), np.float32)
        rows, names = [np.zeros((0, len(self.labels_)), np.float32)], tuple(self.labels_)
        for dtree, arcs in zip(dtrees, packed, strict=True):
            if arcs is None or arcs.labels is None:
                rows.append(np.zeros((len(dtree.heads), len(names)), np.float32))
            else:
                of_heads = arcs.labels.of(arcs.of_tree(dtree.heads))
                rows.append(weight * of_heads.summed(names, of_heads.names))
        return np.concatenate(rows)
