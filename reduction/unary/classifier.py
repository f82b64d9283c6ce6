"""Recovery of unary nodes: one decision per node of the unaryless c-tree (section 4.4).

The classes of a node are the chains seen above its symbol in training, mostly the empty one. Each symbol has
a linear model of its own (one-against-rest support vector machines, liblinear through scikit-learn) over the
features of `d2c.reduction.unary.features`; all of them share one table of weights, so that a batch of trees
is decided with one look-up per template.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from d2c.base.arrays import Bools, Digests, Floats, Ints, Longs
from d2c.base.batches import batches
from d2c.base.errors import needing
from d2c.base.model_files import read_as, reading, write_settings
from d2c.base.numbers import Count, Weight
from d2c.base.progress import counted, log
from d2c.learning.weights import (
    CODED,
    Like,
    check_numbers,
    coded,
    decoded,
    filled_slots,
    read_arrays,
    rounded,
    write_arrays,
)
from d2c.reduction.unary.features import NodeBatch, features, flatten
from d2c.trees.binarization import MOST_UNARIES
from d2c.trees.ctree import CTree
from d2c.trees.unaries import Chain, strip_unaries

UNARIES_FORMAT = 2  # of the model directory; any change of the features makes a new one

_SETTINGS, _WEIGHTS = "unaries.json", "unaries.npz"
_TABLES = {"symbols": Like("u8", 1), "candidates": Like("i8", 2), "bias": Like("f4", 2)}
_ARRAYS = {**_TABLES, "filled": Like("u1", 1), **CODED}
_BITS = 22  # of a feature
_MOST_BYTES = 1 << 32  # of all arrays; many labels, and tags of a poor tagger, take more than 0.6 GiB
_FINENESS = 0.5  # of weights: finer ones take up to five times the room, and decide no better
_BATCH = 500  # trees whose features are extracted at once
_MAX_ITERATIONS = 30  # a model that has not converged by then predicts just as well


@dataclass(frozen=True)
class ClassifierFile:
    """What the JSON file of a classifier holds."""

    cost: Weight
    seed: Count
    chains: list[Annotated[tuple[str, ...], Meta(max_length=MOST_UNARIES)]]


class UnaryClassifier:
    """Predicts the unary chains of unaryless c-trees.

    cost: C of the support vector machines
    seed: of their coordinate descent

    Learned by `fit`, for S symbols with at most C candidates each, and R features with weights:
    chains_:     chain of each class; class 0 is the empty one
    symbols_:    [S] sorted ids of the symbols that may have a chain
    candidates_: [S, C] classes
    bias_:       [S, C]; -inf where a symbol has fewer candidates
    features_:   [R] sorted features
    weights_:    [R + 1, C]; row 0, all zeros, is for features without weights
    """

    chains_: list[Chain]
    symbols_: Digests
    candidates_: Longs
    bias_: Floats
    features_: Longs
    weights_: Floats

    def __init__(self, cost: float = 0.1, seed: int = 1) -> None:
        self.cost, self.seed = cost, seed

    def fit(self, ctrees: Iterable[CTree]) -> Self:
        """Learn from gold c-trees with their unary nodes, read once; too long chains count as empty."""
        classes: dict[Chain, int] = {(): 0}
        examples: dict[int, list[tuple[Ints, Longs]]] = defaultdict(list)
        for taken in batches(counted(ctrees, "unary nodes: features"), _BATCH):
            stripped = list(map(strip_unaries, taken))
            batch = flatten([ctree for ctree, _ in stripped])
            chains = [chain if len(chain) <= MOST_UNARIES else () for _, some in stripped for chain in some]
            gold = np.array([classes.setdefault(chain, len(classes)) for chain in chains])
            for symbol, nodes, hashed in _by_symbol(batch):
                examples[symbol].append((hashed, gold[nodes]))
        self.chains_ = list(classes)
        models, symbols = [], sorted(examples)
        for number, symbol in enumerate(symbols, 1):
            log.debug("unary nodes: symbol %d of %d", number, len(symbols))
            gold = np.concatenate([chains for _, chains in examples[symbol]])
            if gold.any():
                models.append((symbol, _Model.fit([hashed for hashed, _ in examples[symbol]], gold, self)))
            del examples[symbol]
        self._join(models)
        return self

    def _join(self, models: list[tuple[int, _Model]]) -> None:
        """Make one table of the models of all symbols."""
        width = max((len(model.bias) for _, model in models), default=1)
        self.symbols_ = np.array([symbol for symbol, _ in models], np.uint64)
        self.candidates_ = np.zeros((len(models), width), np.int64)
        self.bias_ = np.full((len(models), width), -np.inf, np.float32)
        self.features_ = np.unique(np.concatenate([np.zeros(0, np.int64), *(m.features for _, m in models)]))
        self.weights_ = np.zeros((len(self.features_) + 1, width), np.float32)
        for row, (_, model) in enumerate(models):
            used = len(model.bias)
            self.candidates_[row, :used] = model.candidates
            self.bias_[row, :used] = model.bias
            rows = np.searchsorted(self.features_, model.features) + 1
            self.weights_[rows, :used] += model.weights
        self.weights_ = rounded(self.weights_, _FINENESS)
        kept = self.weights_[1:].any(axis=1)
        self.features_, self.weights_ = self.features_[kept], self.weights_[np.append(True, kept)]
        self._index()

    def _index(self) -> None:
        self._rows = np.zeros(1 << _BITS, np.int32)  # row of each feature in weights_
        self._rows[self.features_] = np.arange(1, len(self.features_) + 1)

    def predict(self, ctrees: Sequence[CTree]) -> list[list[Chain]]:
        """Return the chain above each of the n + K nodes of each unaryless tree; some 500 trees at a time are
        best."""
        return self.predict_with_shares(ctrees)[0]

    def predict_with_shares(self, ctrees: Sequence[CTree]) -> tuple[list[list[Chain]], list[list[float]]]:
        """Return what `predict` does, and each chain's share of exp(score) among all candidates.

        It is 1 where there is one candidate. The scores are margins of support vector machines that were
        learned apart from each other: shares rank chains, but are not calibrated.
        """
        if not ctrees:
            return [], []
        batch = flatten(ctrees)
        classes, shares = np.zeros(len(batch.symbols) - 1, np.int64), np.ones(len(batch.symbols) - 1)
        for nodes, candidates, scores in self._scored(batch):
            classes[nodes] = candidates[np.arange(len(nodes)), scores.argmax(axis=1)]
            shares[nodes] = 1 / np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)
        chains, listed = iter([self.chains_[number] for number in classes.tolist()]), iter(shares.tolist())
        sizes = batch.sizes
        return [list(islice(chains, size)) for size in sizes], [list(islice(listed, size)) for size in sizes]

    def candidates(self, ctrees: Sequence[CTree]) -> Longs:
        """Return how many chains each node of unaryless trees may have, the empty one included, [nodes]."""
        batch = flatten(ctrees)
        known, models = self._models(batch.symbols[:-1])
        counts = np.append((self.bias_ != -np.inf).sum(axis=1), 1)
        return counts[np.where(known, models, -1)]

    def _scored(self, batch: NodeBatch) -> Iterator[tuple[Longs, Longs, Floats]]:
        """Yield nodes that may have a chain, their candidates, and the scores of these [nodes, C], -inf where
        a node has fewer."""
        known, models = self._models(batch.symbols[:-1])
        for nodes in batch.groups(known):
            model = models[nodes]
            scores = self.bias_[model]
            for row in _feature_numbers(features(batch, nodes)):
                scores += self.weights_.take(self._rows.take(row), axis=0)
            yield nodes, self.candidates_[model], scores

    def _models(self, symbols: Digests) -> tuple[Bools, Longs]:
        """Return which symbols have a model, and its number [N]."""
        if not len(self.symbols_):
            return np.zeros(len(symbols), bool), np.zeros(len(symbols), np.int64)
        models = np.minimum(np.searchsorted(self.symbols_, symbols), len(self.symbols_) - 1)
        return self.symbols_[models] == symbols, models

    def save(self, directory: Path) -> None:
        """Write the model into a directory, made where it is missing."""
        write_settings(
            directory / _SETTINGS, UNARIES_FORMAT, ClassifierFile(self.cost, self.seed, self.chains_)
        )
        arrays = {name: getattr(self, f"{name}_") for name in _TABLES}
        filled = np.packbits(np.isin(np.arange(1 << _BITS), self.features_))
        write_arrays(directory / _WEIGHTS, {**arrays, "filled": filled, **coded([self.weights_], _FINENESS)})

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the model in a directory. Raises ModelError where it is missing, broken or of another
        format."""
        file = read_as(directory / _SETTINGS, UNARIES_FORMAT, ClassifierFile)
        model, path = cls(file.cost, file.seed), directory / _WEIGHTS
        model.chains_ = list(file.chains)
        arrays = read_arrays(path, _ARRAYS, _MOST_BYTES)
        with reading(path):
            for name in _TABLES:
                setattr(model, f"{name}_", arrays[name])
            model.features_ = filled_slots(arrays["filled"], 1 << _BITS)
            shape = len(model.features_) + 1, model.bias_.shape[1]
            model.weights_ = decoded(arrays, [shape[0] * shape[1]])[0].reshape(shape)
            model._check()
            model._index()
        return model

    def _check(self) -> None:
        """Raise ValueError unless the arrays fit together."""
        symbols, width = self.bias_.shape
        fits = (
            width > 0
            and self.chains_[0] == ()
            and self.symbols_.shape == (symbols,)
            and self.candidates_.shape == (symbols, width)
            and bool(np.all((self.candidates_ >= 0) & (self.candidates_ < len(self.chains_))))
            and bool(np.all(self.features_ > 0))
            and bool(np.all(self.symbols_[1:] > self.symbols_[:-1]))
        )
        if not fits:
            raise ValueError("its arrays do not fit together")
        check_numbers(self.weights_)
        check_numbers(np.where(np.isneginf(self.bias_[:, 1:]), 0, self.bias_[:, 1:]))
        check_numbers(self.bias_[:, :1])  # there is a first candidate


class _Model(NamedTuple):
    """The linear model of one symbol: candidates [C], bias [C], features [R], weights [R, C]."""

    candidates: Longs
    bias: Floats
    features: Longs
    weights: Floats

    @classmethod
    def fit(cls, chunks: list[Ints], gold: Longs, settings: UnaryClassifier) -> Self:
        """Learn from chunks of examples, each [templates, examples] features (0: none), and from the classes
        of all examples in order [all examples]."""
        candidates = np.unique(gold)
        if len(candidates) == 1:
            return cls(
                candidates, np.zeros(1, np.float32), np.zeros(0, np.int64), np.zeros((0, 1), np.float32)
            )
        # Only here: prediction should not wait for these imports.
        with needing("learning unary nodes", "train"):
            from scipy.sparse import csr_matrix
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.svm import LinearSVC

        seen = np.zeros(1 << _BITS, np.int32)
        for hashed in chunks:
            seen[hashed] = 1
        seen[0] = 0
        numbers = np.flatnonzero(seen)
        seen[numbers] = np.arange(len(numbers))
        columns = np.concatenate([seen[hashed.T[hashed.T > 0]] for hashed in chunks])
        ends = np.cumsum(np.concatenate([np.count_nonzero(hashed, axis=0) for hashed in chunks]))
        examples = csr_matrix(
            (np.ones(len(columns)), columns, np.append(0, ends)), shape=(len(gold), len(numbers))
        )
        machine = LinearSVC(
            C=settings.cost, loss="hinge", tol=0.1, max_iter=_MAX_ITERATIONS, random_state=settings.seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(examples, gold)
        weights, bias = machine.coef_, machine.intercept_
        if len(candidates) == 2:  # one machine decides for the second class or the first
            weights, bias = np.vstack([-weights, weights]), np.append(-bias, bias)
        used = np.flatnonzero(weights.any(axis=0))
        return cls(
            candidates, np.asarray(bias, np.float32), numbers[used], weights.T[used].astype(np.float32)
        )


def _by_symbol(batch: NodeBatch) -> Iterator[tuple[int, Longs, Ints]]:
    """Yield a symbol, nodes, and their features [templates, nodes]; a symbol may come several times."""
    for group in batch.groups(np.ones(len(batch.symbols) - 1, bool)):
        nodes = group[np.argsort(batch.symbols[group], kind="stable")]
        symbols = batch.symbols[nodes]
        hashed = _feature_numbers(features(batch, nodes))
        cuts = [0, *(np.flatnonzero(symbols[1:] != symbols[:-1]) + 1).tolist(), len(nodes)]
        for begin, end in zip(cuts, cuts[1:], strict=False):
            yield int(symbols[begin]), nodes[begin:end], hashed[:, begin:end]


def _feature_numbers(hashed: NDArray[np.uint32]) -> Ints:
    """Return the numbers of features [templates, nodes]: the highest bits of their hashes."""
    return (hashed >> np.uint32(32 - _BITS)).view(np.int32)
