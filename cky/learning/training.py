"""Epochs of the structured SVM: order of the sentences, dev F1, the best weights, checkpoints."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.learning.svm import Examples, train_on
from d2c.cky.search.chart import Constraints
from d2c.cky.search.features import rule_keys
from d2c.linear.adagrad import AdaGrad
from d2c.trees.errors import ModelError

Weights = NDArray[np.float32]
_CHECKPOINT = "checkpoint.npz"
_SPARSE = ("weights", "squares", "sums", "seen")


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

    learner: weights after the epochs that are `done`
    best:    the averaged weights with the best dev F1 so far; the last ones where nothing is scored
    """

    learner: AdaGrad
    best: Weights = field(init=False)
    best_f1: float = -1.0
    done: int = 0

    def __post_init__(self) -> None:
        self.best = self.learner.weights.copy()

    def run(
        self,
        examples: Examples,
        table: RuleTable,
        constraints: Constraints,
        max_unaries: int,
        context: bool,
        epochs: int,
        seed: int,
        score: Callable[[Weights], float] | None = None,
        checkpoints: Path | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Weights:
        """The best averaged weights; `score` says their F1. After each epoch a checkpoint is written.

        The order of an epoch depends on the seed and its number alone, so that a resumed training ends as
        one that was never interrupted.
        """
        keys, count = rule_keys(table), len(examples.begin) - 1
        name = "" if checkpoints is None else _fingerprint(examples, table, epochs, seed, self.learner)
        if checkpoints is not None:
            self._resume(checkpoints / _CHECKPOINT, name)
        for number in range(self.done + 1, epochs + 1):
            start = time.perf_counter()
            order = np.random.default_rng((seed, number)).permutation(count)
            loss, parts = train_on(
                self.learner, examples, order, table, keys, constraints, max_unaries, context
            )
            weights, seconds = self.learner.average(), time.perf_counter() - start
            f1 = score(weights) if score else None
            if f1 is None or f1 > self.best_f1:
                self.best, self.best_f1 = weights, -1.0 if f1 is None else f1
            self.done = number
            if checkpoints is not None:
                self._keep(checkpoints / _CHECKPOINT, name)
            if progress:
                progress(Epoch(number, loss / max(1, parts), f1, seconds))
        return self.best

    def _keep(self, path: Path, name: str) -> None:
        """Writes all that `_resume` needs, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        touched = np.flatnonzero(self.learner.squares).astype(np.int32)
        arrays = {name: getattr(self.learner, name)[touched] for name in _SPARSE}
        new = path.with_suffix(".new.npz")
        np.savez(
            new,
            allow_pickle=False,
            name=np.array(name),
            state=np.array([self.done, self.learner.clock[0]]),
            best_f1=np.array(self.best_f1),
            best=self.best[touched],
            touched=touched,
            **arrays,
        )
        os.replace(new, path)

    def _resume(self, path: Path, name: str) -> None:
        """Takes over a checkpoint. Raises ModelError for one of another training."""
        if not path.exists():
            return
        try:
            with np.load(path, allow_pickle=False) as file:
                if str(file["name"]) != name:
                    raise ModelError(
                        f"{path}: is of another treebank or other settings; name another directory"
                    )
                touched = file["touched"]
                for part in _SPARSE:
                    getattr(self.learner, part)[touched] = file[part]
                self.best = np.zeros(len(self.learner.weights), np.float32)
                self.best[touched], self.best_f1 = file["best"], float(file["best_f1"])
                self.done, self.learner.clock[0] = (int(number) for number in file["state"])
        except (KeyError, ValueError, IndexError, OSError, zipfile.BadZipFile) as error:
            raise ModelError(f"{path}: is broken ({error}); remove it") from None


def _fingerprint(examples: Examples, table: RuleTable, epochs: int, seed: int, learner: AdaGrad) -> str:
    """Tells one training from another."""
    digest = hashlib.sha256(
        repr((epochs, seed, learner.rate, learner.penalty, len(learner.weights))).encode()
    )
    for column in (*examples, *table):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
