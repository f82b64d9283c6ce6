"""Epochs of the structured SVM: order of the sentences, dev F1, the best weights, checkpoints."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.errors import ModelError
from d2c.base.model_files import reading
from d2c.base.progress import EACH, log
from d2c.cky.grammar.grammar import Grammar
from d2c.cky.learning.svm import Examples, train_on
from d2c.cky.search.chart import Query
from d2c.cky.search.features import Scorer
from d2c.cky.search.templates import Templates
from d2c.cky.settings import ChartSettings
from d2c.forests.forest import Floats
from d2c.linear.adagrad import AdaGrad, Gradient
from d2c.linear.weights import MOST_BYTES, Like, read_arrays, write_arrays

_CHECKPOINT = "checkpoint.npz"
_SPARSE = {
    "weights": Like("f4", 1),
    "squares": Like("f4", 1),
    "sums": Like("f8", 1),
    "seen": Like("i4", 1),
}
_ARRAYS = {
    **_SPARSE,
    "name": Like("u1", 1),
    "state": Like("i8", 1),
    "best_f1": Like("f8", 1),
    "best": Like("f4", 1),
    "touched": Like("i4", 1),
}


class Epoch(NamedTuple):
    """What happened in an epoch: its number from 1 on, the loss Δ per gold part, F1 on the dev treebank; how
    many seconds it took, without scoring."""

    number: int
    loss: float
    f1: float | None
    seconds: float

    def __str__(self) -> str:
        scored = "" if self.f1 is None else f", dev F1 {self.f1:.2f}"
        return f"cky: epoch {self.number}, loss per gold part {self.loss:.4f}{scored}, {self.seconds:.1f} s"


@dataclass
class Training:
    """A training that may go on where an earlier one stopped.

    asked:       as of `svm.train_on`
    checkpoints: directory of the checkpoint that is written after each epoch
    """

    settings: ChartSettings
    examples: Examples
    grammar: Grammar
    templates: Templates
    asked: Query
    checkpoints: Path | None = None

    def __post_init__(self) -> None:
        settings = self.settings
        self.learner = AdaGrad.new(1 << settings.table_bits, settings.rate, settings.penalty)
        self._best = self.learner.weights.copy()  # averaged, with the best dev F1, or the last
        self._best_f1, self._done = -1.0, 0

    def run(
        self,
        score: Callable[[Floats], float] | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Floats:
        """The best averaged weights; `score` says their F1.

        The order of an epoch depends on the seed and its number alone, so that a resumed training ends as
        one that was never interrupted.
        """
        path = self.checkpoints and self.checkpoints / _CHECKPOINT
        name = self._fingerprint() if path else np.zeros(0, np.uint8)
        if path and path.exists():
            self._resume(path, name)
        gradient = Gradient.of(self.learner)
        scorer = Scorer(self.templates, self.grammar.keys, self.learner.weights)
        for number in range(self._done + 1, self.settings.epochs + 1):
            start = time.perf_counter()
            order = np.random.default_rng((self.settings.seed, number)).permutation(
                len(self.examples.begin) - 1
            )
            loss, parts = 0.0, 0
            for begin in range(0, len(order), EACH):
                doing = "cky: epoch %d of %d, sentence %d of %d"
                log.debug(doing, number, self.settings.epochs, begin + 1, len(order))
                chosen = order[begin : begin + EACH]
                added = train_on(self.learner, gradient, self.examples, chosen, self.asked, scorer)
                loss, parts = loss + added[0], parts + added[1]
            weights, seconds = self.learner.average(), time.perf_counter() - start
            log.debug("cky: scoring after epoch %d of %d", number, self.settings.epochs)
            f1 = score(weights) if score else None
            if f1 is None or f1 > self._best_f1:
                self._best, self._best_f1 = weights, -1.0 if f1 is None else f1
            self._done = number
            if path:
                self._keep(path, name)
            if progress:
                progress(Epoch(number, loss / max(1, parts), f1, seconds))
        return self._best

    def _keep(self, path: Path, name: NDArray[np.uint8]) -> None:
        """Writes all that `_resume` needs, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        touched = np.flatnonzero(self.learner.squares).astype(np.int32)
        arrays = {part: getattr(self.learner, part)[touched] for part in _SPARSE}
        state = np.array([self._done, self.learner.clock[0]])
        arrays |= {"name": name, "state": state, "best_f1": np.array([self._best_f1])}
        new = path.with_suffix(".new.npz")
        write_arrays(new, arrays | {"best": self._best[touched], "touched": touched})
        os.replace(new, path)

    def _resume(self, path: Path, name: NDArray[np.uint8]) -> None:
        """Takes over a checkpoint. Raises ModelError for a broken one, and for one of another training."""
        size = len(self.learner.weights)
        try:
            with reading(path):
                arrays = read_arrays(path, _ARRAYS, 4 * MOST_BYTES)
                touched = arrays["touched"]
                if len(touched) and not 0 <= touched.min() <= touched.max() < size:
                    raise ValueError("slots out of range")
                lengths = {name: len(array) for name, array in arrays.items() if name != "name"}
                expected = dict.fromkeys(lengths, len(touched)) | {"state": 2, "best_f1": 1}
                if lengths != expected:
                    raise ValueError("arrays of different lengths")
        except ModelError:
            raise ModelError(f"{path}: is broken; remove it") from None
        if not np.array_equal(arrays["name"], name):
            raise ModelError(f"{path}: is of another treebank or other settings; name another directory")
        for part in _SPARSE:
            getattr(self.learner, part)[touched] = arrays[part]
        self._best = np.zeros(size, np.float32)
        self._best[touched], self._best_f1 = arrays["best"], float(arrays["best_f1"][0])
        self._done, self.learner.clock[0] = (int(number) for number in arrays["state"])

    def _fingerprint(self) -> NDArray[np.uint8]:
        """Tells one training from another."""
        settings, examples = self.settings, self.examples
        digest = hashlib.sha256(repr(settings).encode())
        columns = (*examples, *self.grammar.table, *self.templates)
        for column in columns:
            digest.update(np.ascontiguousarray(column).tobytes())
        return np.frombuffer(digest.digest(), np.uint8)
