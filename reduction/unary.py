"""Recovery of unary nodes: one decision per node of the unaryless c-tree (section 4.4).

The classes of a node are the chains seen above its symbol in training, among them mostly the empty one. Each
symbol has a linear model of its own over the hashed features of `reduction.unary_features`; all of them share
one table of weights, so that a batch of trees is decided by one lookup per template.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reduction.unary_features import Batch, Ids, Ints, features, flatten
from trees.ctree import CTree
from trees.errors import ModelError
from trees.unaries import Chain, strip_unaries

FORMAT = 1
_SETTINGS, _WEIGHTS = "unaries.json", "unaries.npz"
_BATCH = 500
BITS = 22  # of a hashed feature


class UnaryClassifier:
    """Predicts the unary chains of unaryless c-trees.

    cost:  C of the linear support vector machines
    seed:  of the learner
    """

    def __init__(self, cost: float = 0.1, min_count: int = 2, seed: int = 0) -> None:
        self.cost = cost
        self.min_count = min_count
        self.seed = seed

    def fit(self, ctrees: Iterable[CTree]) -> Self:
        """Learns from gold c-trees with their unary nodes, read once."""
        table: dict[Chain, int] = {(): 0}
        found: dict[int, list[tuple[NDArray[np.uint32], Ints]]] = defaultdict(list)
        stream = iter(ctrees)
        while part := [strip_unaries(ctree) for ctree in islice(stream, _BATCH)]:
            batch = flatten([ctree for ctree, _ in part])
            classes = np.array([table.setdefault(c, len(table)) for _, chains in part for c in chains])
            for nodes, symbol, hashed in _by_symbol(batch):
                found[symbol].append((hashed, classes[nodes]))
        self.chains_ = list(table)
        self._learn({s: found[s] for s in sorted(found)})
        return self

    def _learn(self, found):
        self.symbols_, self.candidates_, biases, rows, weights = [], [], [], [], []
        for symbol, parts in found.items():
            y = np.concatenate([c for _, c in parts])
            counts = np.bincount(y)
            ok = np.flatnonzero(counts)
            if len(ok) == 1 and ok[0] == 0:
                continue
            self.symbols_.append(symbol)
            self.candidates_.append(ok)
            if len(ok) == 1:
                biases.append(np.zeros(1))
                continue
            hi = max(len(h) for h, _ in parts)
            x = np.concatenate([np.pad(h, ((0, hi - len(h)), (0, 0))) for h, _ in parts], axis=1) >> np.uint32(32 - BITS)
            b, r, w = fit_linear(x, y, self.cost, self.min_count, self.seed)
            biases.append(b)
            rows.append(r)
            weights.append(w)
        C = max(map(len, biases))
        self.bias_ = np.full((len(biases), C), -np.inf, np.float32)
        self.cand_ = np.zeros((len(biases), C), np.int64)
        for i, b in enumerate(biases):
            self.bias_[i, : len(b)] = b
            self.cand_[i, : len(b)] = self.candidates_[i]
        allrows = np.unique(np.concatenate(rows))
        self.index_ = np.zeros(1 << BITS, np.int32)
        self.index_[allrows] = np.arange(1, len(allrows) + 1)
        self.weights_ = np.zeros((len(allrows) + 1, C), np.float32)
        for r, w in zip(rows, weights):
            self.weights_[self.index_[r], : w.shape[1]] += w
        self.keys_ = np.array(self.symbols_, np.uint64)

    def predict(self, ctrees: Sequence[CTree]) -> list[list[Chain]]:
        if not ctrees:
            return []
        batch = flatten(ctrees)
        out = np.zeros(len(batch.symbols), np.int64)
        where = np.minimum(np.searchsorted(self.keys_, batch.symbols), len(self.keys_) - 1)
        known = self.keys_[where] == batch.symbols
        for nodes in _groups(batch, known):
            h = features(batch, nodes) >> np.uint32(32 - BITS)
            sc = self.bias_[where[nodes]]
            for row in h:
                sc += self.weights_[self.index_[row]]
            out[nodes] = self.cand_[where[nodes], sc.argmax(1)]
        flat = list(map(self.chains_.__getitem__, out.tolist()))
        res, i = [], 0
        for s in batch.sizes:
            res.append(flat[i : i + s])
            i += s
        return res


def _groups(batch, known):
    roots = batch.parent == len(batch.symbols)
    for g in (batch.preterminal, ~batch.preterminal & ~roots, ~batch.preterminal & roots):
        yield np.flatnonzero(g & known)


def _by_symbol(batch):
    for nodes in _groups(batch, True):
        if not len(nodes):
            continue
        nodes = nodes[np.argsort(batch.symbols[nodes], kind="stable")]
        s = batch.symbols[nodes]
        h = features(batch, nodes)
        cuts = np.flatnonzero(np.diff(s.view(np.int64))) + 1
        cuts = [0, *cuts.tolist(), len(s)]
        for a, b in zip(cuts, cuts[1:]):
            yield nodes[a:b], int(s[a]), h[:, a:b]


def fit_linear(x, y, cost, min_count, seed, kind="svc"):
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    counts = np.bincount(x.ravel(), minlength=1 << BITS)
    counts[0] = 0
    cols = np.flatnonzero(counts >= min_count)
    ren = np.full(1 << BITS, -1, np.int32)
    ren[cols] = np.arange(len(cols))
    m = ren[x].T
    keep = m >= 0
    indptr = np.concatenate([[0], np.cumsum(keep.sum(1))])
    idx = m[keep]
    X = csr_matrix((np.ones(len(idx)), idx, indptr), shape=(x.shape[1], len(cols)))
    if KIND == "svc":
        c = LinearSVC(C=cost, random_state=seed, tol=TOL, max_iter=MAXIT, dual=True, loss=LOSS)
    elif KIND == "cs":
        c = LinearSVC(C=cost, random_state=seed, tol=TOL, max_iter=MAXIT, multi_class="crammer_singer")
    else:
        c = SGDClassifier(
            alpha=cost / len(y), max_iter=MAXIT, tol=None, average=True, random_state=seed, loss=LOSS
        )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c.fit(X, y)
    w, b = c.coef_, c.intercept_
    if len(w) == 1:
        w, b = np.concatenate([-w, w]), np.concatenate([-b, b])
    nz = np.flatnonzero(np.any(w, axis=0))
    return b, cols[nz], w.T[nz].astype(np.float32)


KIND, TOL, MAXIT, LOSS = "svc", 0.1, 30, "hinge"
