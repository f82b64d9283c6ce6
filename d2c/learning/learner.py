"""The structured learner of all linear models: epochs of AdaGrad, the best averaged weights, checkpoints.

The chart, the labeler and the linear oracle of transition systems differ in one function, which takes a step
of AdaGrad for each of some examples. All else is here: settings, the order of examples, averaging, scoring
after each epoch, and going on after an interruption.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from d2c.base.arrays import Floats, Longs
from d2c.base.errors import ModelError
from d2c.base.progress import EACH, at_step
from d2c.base.store import reading_checkpoint, write_checkpoint
from d2c.learning.adagrad import AdaGrad, Gradient
from d2c.learning.settings import LearnerSettings
from d2c.learning.weights import MOST_BYTES, Like, read_arrays, rounded, write_arrays

Order = Callable[[int, int, int], Longs]  # seed, number of the epoch, number of examples
Learn = Callable[[Longs], tuple[float, int]]  # takes a step for each example; sum of losses, gold parts

_CHECKPOINT = "checkpoint.npz"
_LEARNER = {"weights": Like("f4", 1), "squares": Like("f4", 1), "sums": Like("f8", 1), "seen": Like("i4", 1)}
_ARRAYS = {
    **_LEARNER,
    "name": Like("u1", 1),
    "state": Like("i8", 1),
    "best_f1": Like("f8", 1),
    "best": Like("f4", 1),
    "touched": Like("i4", 1),
}


class Epoch(NamedTuple):
    """What happened in an epoch.

    name:    of the model that learns
    number:  of the epoch, from 1 on
    epochs:  how many there are
    loss:    per gold part
    f1:      on the dev treebank, if there is one
    seconds: of learning, without scoring
    nonzero: how many of the last weights are not 0, and how many of the averages
    """

    name: str
    number: int
    epochs: int
    loss: float
    f1: float | None
    seconds: float
    nonzero: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.scored}, {self.seconds:.1f} s"

    @property
    def at(self) -> tuple[str, float]:
        """Return who learns, and which share of the epochs is done."""
        return self.name, self.number / self.epochs

    @property
    def scored(self) -> str:
        """Return as text the epoch, its loss and F1, without the time that it took."""
        f1 = "" if self.f1 is None else f", dev F1 {self.f1:.2f}"
        return f"{self.name}: epoch {self.number} of {self.epochs}, loss per gold part {self.loss:.4f}{f1}"


class Checkpoint(NamedTuple):
    """Where a training is kept after each epoch.

    directory:   made if absent
    fingerprint: [bytes] tells trainings apart, see `fingerprint_of`
    """

    directory: Path
    fingerprint: NDArray[np.uint8]

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self.directory / _CHECKPOINT


def fingerprint_of(settings: object, columns: Iterable[ArrayLike]) -> NDArray[np.uint8]:
    """Return a digest [bytes] of settings and of all arrays that a training learns from."""
    digest = hashlib.sha256(repr(settings).encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def reshuffled(seed: int, epoch: int, size: int) -> Longs:
    """Return the order [size] of examples in an epoch: that of the epoch before, shuffled again."""
    rng, order = np.random.default_rng(seed), np.arange(size)
    for _ in range(epoch):
        rng.shuffle(order)
    return order


def permuted(seed: int, epoch: int, size: int) -> Longs:
    """Return the order [size] of examples in an epoch: a permutation that depends on no other epoch."""
    return np.random.default_rng((seed, epoch)).permutation(size)


class Training:
    """A training that may go on where an earlier one stopped.

    name:       of the model, for progress
    order:      of the examples, `reshuffled` or `permuted`; it depends on the seed and the epoch alone, so
                that a resumed training ends as one that was never interrupted
    checkpoint: the file from which to go on, if it exists, and which is written after each epoch
    learner:    the state to begin with, by default weights of 0; examples are scored with its weights
    gradient:   where the gradient of one example is added up, for `d2c.learning.adagrad.step`
    """

    def __init__(
        self,
        name: str,
        settings: LearnerSettings,
        order: Order = reshuffled,
        checkpoint: Checkpoint | None = None,
        learner: AdaGrad | None = None,
    ) -> None:
        self.name, self.settings, self.order, self.checkpoint = name, settings, order, checkpoint
        self.learner = learner or AdaGrad.new(1 << settings.table_bits, settings.rate, settings.penalty)
        self.gradient = Gradient.of(self.learner)
        self._best = self.learner.weights.copy()  # later the averages with the best dev F1, or the last ones
        self._best_f1, self._done = -1.0, 0

    def run(
        self,
        examples: int,
        learn: Learn,
        score: Callable[[Floats], float] | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Floats:
        """Return the truncated averages of the weights [2^bits], rounded, after the epoch with the best score
        (the first of several), or, without `score`, after the last epoch.

        examples: how many there are
        learn:    takes one step for each example of these numbers; at most EACH at a time
        score:    F1 of averaged weights on a dev treebank
        progress: is told of each epoch

        Raises ModelError for a checkpoint that is broken or of another training.
        """
        checkpoint = self.checkpoint
        if checkpoint and checkpoint.path.exists():
            self._resume(checkpoint)
        for number in range(self._done + 1, self.settings.epochs + 1):
            start = time.perf_counter()
            loss = self._learn_epoch(number, examples, learn)
            weights, slots = self.learner.truncated_average(), self.learner.of_gradients
            weights[slots] = rounded(weights[slots])
            seconds = time.perf_counter() - start
            f1 = None
            if score:
                epochs, said = self.settings.epochs, "%s: scoring after epoch %d of %d"
                at_step(number / epochs, said, self.name, number, epochs)
                f1 = score(weights)
            if f1 is None or f1 > self._best_f1:
                self._best, self._best_f1 = weights, -1.0 if f1 is None else f1
            self._done = number
            if checkpoint:
                self._keep(checkpoint)
            if progress:
                columns = self.learner.weights, self.learner.average()
                last, averages = (int(np.count_nonzero(column[slots])) for column in columns)
                progress(Epoch(self.name, number, self.settings.epochs, loss, f1, seconds, (last, averages)))
        return self._best

    def _learn_epoch(self, number: int, examples: int, learn: Learn) -> float:
        """Learn from every example once; return the loss per gold part."""
        order, loss, parts = self.order(self.settings.seed, number, examples), 0.0, 0
        for begin in range(0, len(order), EACH):
            epochs, said = self.settings.epochs, "%s: epoch %d of %d, sentence %d of %d"
            share = (number - 1 + begin / len(order)) / epochs
            at_step(share, said, self.name, number, epochs, begin + 1, len(order))
            losses, gold = learn(order[begin : begin + EACH])
            loss, parts = loss + losses, parts + gold
        return loss / max(1, parts)

    def _keep(self, checkpoint: Checkpoint) -> None:
        """Write all that `_resume` needs, either as a whole or not at all."""
        touched = self.learner.of_gradients
        arrays = {part: getattr(self.learner, part)[touched] for part in _LEARNER}
        state = np.array([self._done, self.learner.clock[0]])
        arrays |= {"name": checkpoint.fingerprint, "state": state, "best_f1": np.array([self._best_f1])}
        arrays |= {"best": self._best[touched], "touched": touched}
        write_checkpoint(checkpoint.path, lambda staged: write_arrays(staged, arrays))

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Take over a checkpoint. Raises ModelError if it is broken, or of another training."""
        size, path = len(self.learner.weights), checkpoint.path
        with reading_checkpoint(path):
            arrays = read_arrays(path, _ARRAYS, 4 * MOST_BYTES)
            touched = arrays["touched"]
            if len(touched) > size or not np.all((touched >= 0) & (touched < size)):
                raise ValueError("slots out of range")
            lengths = {name: len(array) for name, array in arrays.items() if name != "name"}
            expected = dict.fromkeys(lengths, len(touched)) | {"state": 2, "best_f1": 1}
            if lengths != expected:
                raise ValueError("arrays of different lengths")
        if not np.array_equal(arrays["name"], checkpoint.fingerprint):
            raise ModelError(f"{path}: is of another treebank or other settings; name another directory")
        for part in _LEARNER:
            getattr(self.learner, part)[touched] = arrays[part]
        self.learner.touch(touched)
        self._best = np.zeros(size, np.float32)
        self._best[touched], self._best_f1 = arrays["best"], float(arrays["best_f1"][0])
        self._done, self.learner.clock[0] = (int(number) for number in arrays["state"])
