"""Fine-tuning: a pretrained encoder and the network over it learn together, at rates of their own.

Batches are of sentences of similar length; the rates rise over the first twentieth of the steps, then fall to
0. A batch that is too large for the memory goes through in parts, whose gradients are added up. The order of
a pass depends on the seed and its number alone, and a checkpoint holds all else that a step depends on, so a
training that was killed and goes on ends as one that was not, on the same machine without a GPU.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from d2c.base.errors import ModelError
from d2c.base.model_files import first_line
from d2c.base.progress import log
from d2c.base.temporary import staged_file
from d2c.dparsers.protocol import time_left
from d2c.dparsers.training import evaluations, rise_and_fall

_MINUTES = 5.0  # between checkpoints, which are also written after each evaluation
_ENCODER = "bert_model"  # as Stanza calls it
_DECAY = 0.01  # of the encoder's weights


class Task(Protocol):
    """What is learned.

    name:    for progress and checkpoints
    model:   the network; its `bert_model` is the encoder
    lengths: words of each training sentence, as the loss counts them
    """

    name: str
    model: nn.Module
    lengths: Sequence[int]

    def loss(self, sentences: Sequence[int]) -> Tensor:
        """Mean over the words of some training sentences, by their numbers."""

    def score(self, step: int, steps: int, loss: float, seconds: float) -> float:
        """Evaluates the model on the development treebank, and reports that."""


@dataclass(frozen=True)
class Course:
    """Sizes of a fine-tuning.

    rate, encoder_rate: at most, of the network and of the encoder
    words, part: in a batch, and of it at a time, at most; but one sentence is never divided
    max_norm:    of the gradient
    epochs, least_steps, evaluations: as of a `Preset`
    """

    rate: float
    encoder_rate: float
    words: int
    part: int
    max_norm: float
    epochs: float
    least_steps: int = 0
    evaluations: int = 8
    beta2: float = 0.95
    seed: int = 1


def fine_tune(
    task: Task, course: Course, device: str, checkpoints: Path | None = None, made_of: object = None
) -> None:
    """Trains a task's model and leaves the state that had the best score.

    checkpoints: a directory; a training that was interrupted goes on from there
    made_of:     what, beside the course and the encoder, tells this training from others

    Raises ModelError for checkpoints that cannot be used.
    """
    training = _Training(task, course, device)
    path = None
    if checkpoints is not None:
        path = checkpoints / f"{task.name.replace(' ', '-')}-{_digest(task.model, course, made_of)}.pt"
        training.resume(path)
    training.run(path)


def said(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Arguments of Stanza's training programs, but where it runs and which files it reads."""
    return sorted((k, v) for k, v in arguments.items() if k != "device" and not k.endswith(("_file", "_dir")))


def batches_of_pass(lengths: Sequence[int], words: int, shuffle: random.Random | None) -> list[list[int]]:
    """All sentences in batches of similar length, of so many words at most where they are several."""
    order = [*range(len(lengths))]
    if shuffle:
        shuffle.shuffle(order)
    order.sort(key=lengths.__getitem__)
    batches = [*_cut(order, lengths, words)]
    if shuffle:
        shuffle.shuffle(batches)
    return batches


def _cut(order: Sequence[int], lengths: Sequence[int], words: int) -> Iterator[list[int]]:
    batch: list[int] = []
    total = 0
    for i in order:
        if batch and total + lengths[i] > words:
            yield batch
            batch, total = [], 0
        batch.append(i)
        total += lengths[i]
    if batch:
        yield batch


class _Training:
    """The state of a training, and its steps."""

    def __init__(self, task: Task, course: Course, device: str) -> None:
        self.task, self.course, self.device = task, course, device
        self.per_pass = len(batches_of_pass(task.lengths, course.words, None))
        self.steps = max(1, math.ceil(course.epochs * self.per_pass), course.least_steps)
        encoder = [*task.model.get_submodule(_ENCODER).parameters()]
        others = {*task.model.parameters()} - {*encoder}
        rest = [p for p in task.model.parameters() if p in others and p.requires_grad]
        groups: list[dict[str, Any]] = [
            {"params": rest, "lr": course.rate, "weight_decay": 0.0},
            {"params": encoder, "lr": course.encoder_rate},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, course.beta2), weight_decay=_DECAY, fused=True)
        self.factor = rise_and_fall(self.steps)
        self.done = self.since = 0  # steps, in all and since the last evaluation
        self.total = self.seconds = 0.0  # of the loss since then, and spent before this process
        self.best: Mapping[str, Tensor] = {}  # empty until the first evaluation
        self.best_score = -1.0
        self.batches: list[list[int]] = []

    def run(self, path: Path | None) -> None:
        begin = kept = time.monotonic()
        interval = math.ceil(self.steps / self.course.evaluations)
        spent = self.seconds

        def update() -> float:
            doing = "%s: step %d of %d, %s"
            log.debug(doing, self.task.name, self.done + 1, self.steps, self._left(self.seconds))
            self._step()
            self.seconds = spent + time.monotonic() - begin
            return 0.0

        who = self.task.name
        for step, due in evaluations(self.steps, interval, update, who, self.device, self.done):
            if due is not None:
                score = self.task.score(step, self.steps, self.total / max(1, self.since), self.seconds)
                if score > self.best_score:
                    self.best, self.best_score = _copy(_state(self.task.model)), score
                self.total, self.since = 0.0, 0
            if path and (due is not None or time.monotonic() - kept > 60 * _MINUTES):
                self._keep(path)
                kept = time.monotonic()
        self.task.model.load_state_dict(self.best, strict=False)

    def _left(self, seconds: float) -> str:
        return time_left(self.done, self.steps, seconds)

    def _step(self) -> None:
        number, place = divmod(self.done, self.per_pass)
        if not place or not self.batches:
            shuffle = random.Random(f"{self.course.seed} {number}")
            self.batches = batches_of_pass(self.task.lengths, self.course.words, shuffle)
        batch, lengths = self.batches[place], self.task.lengths
        words = sum(lengths[i] for i in batch)
        self.task.model.train()
        for part in _cut(batch, lengths, self.course.part):
            loss = self.task.loss(part) * (sum(lengths[i] for i in part) / words)
            loss.backward()  # type: ignore[no-untyped-call]
            self.total += loss.item()
        nn.utils.clip_grad_norm_(self.task.model.parameters(), self.course.max_norm)
        rates = self.course.rate, self.course.encoder_rate
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * self.factor(self.done)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.done, self.since = self.done + 1, self.since + 1

    _NUMBERS = ("done", "since", "total", "seconds", "best_score")

    def _keep(self, path: Path) -> None:
        """Writes a checkpoint, whole or not at all."""
        on_gpu = torch.device(self.device).type == "cuda"
        state = {
            "numbers": {name: getattr(self, name) for name in self._NUMBERS},
            "model": _state(self.task.model),
            "best": dict(self.best),
            "optimizer": self.optimizer.state_dict(),
            "drawn": torch.get_rng_state(),
            "drawn_by_python": random.getstate(),
            "drawn_on_gpu": torch.cuda.get_rng_state(self.device) if on_gpu else None,
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with staged_file(path) as staged:
                torch.save(state, staged)
                os.replace(staged, path)
        except (OSError, RuntimeError) as error:  # the latter is torch's where a disk is full
            raise ModelError(f"{path}: cannot be written: {first_line(error)}") from None

    def resume(self, path: Path) -> None:
        """Takes over a checkpoint, if there is one. Raises ModelError for one that is broken."""
        if not path.exists():
            return
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            names = _state(self.task.model).keys()
            if state["model"].keys() != names or state["best"].keys() not in (names, {}.keys()):
                raise ValueError("other weights")
            self.task.model.load_state_dict(state["model"], strict=False)
            self.optimizer.load_state_dict(state["optimizer"])
            self.best = _copy(state["best"])
            for name in self._NUMBERS:
                setattr(self, name, state["numbers"][name])
            torch.set_rng_state(state["drawn"])
            random.setstate(state["drawn_by_python"])
            if state["drawn_on_gpu"] is not None and torch.device(self.device).type == "cuda":
                torch.cuda.set_rng_state(state["drawn_on_gpu"], self.device)
        except Exception as error:  # of any kind: it is what damaged files led torch to do
            raise ModelError(f"{path}: is broken; remove it ({first_line(error)})") from None
        log.info("%s: goes on after step %d of %d: %s", self.task.name, self.done, self.steps, path)


def _state(model: nn.Module) -> dict[str, Tensor]:
    """The weights of a network of Stanza's, but those that it does not learn (word vectors)."""
    kept: Mapping[str, Tensor] = model.state_dict()
    fixed: list[str] = model.unsaved_modules  # type: ignore[assignment]
    return {name: tensor for name, tensor in kept.items() if name.partition(".")[0] not in fixed}


def _copy(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in state.items()}


def _digest(model: nn.Module, course: Course, made_of: object) -> str:
    digest = sha256(repr((course, made_of)).encode())
    for name, tensor in model.get_submodule(_ENCODER).state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
