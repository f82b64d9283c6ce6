"""One training loop for all that Stanza's networks learn here, from scratch or on a pretrained encoder.

Stanza's own loops score with the UD evaluation, which cuts labels at `:`, refuses forms made of spaces and
recurses over the depth of a tree; they go on after an interrupted save, and have no learning rate that falls
with the steps to go. Stanza's classes do the rest: vocabularies, batches, networks, losses, decoding.

Learning rates rise over the first twentieth of the steps, then fall to 0, unless Stanza's own schedule is
asked for. On an encoder, a batch that is too large for the memory goes through in parts, whose gradients are
added up. There the order of a pass depends only on the seed and its number, and a checkpoint holds all else
that a step depends on: on one machine without a GPU, a resumed training ends as an uninterrupted one.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from d2c.base.progress import log
from d2c.base.store import reading_checkpoint, write_checkpoint
from d2c.dparsers.stanza.encoder import Encoder
from d2c.protocols.training import Course, TrainingPlan, best_state, rise_and_fall

EncoderPair = tuple[Encoder, Any]  # an encoder and its tokenizer
_ENCODER = "bert_model"  # as Stanza calls it
_DECAY = 0.01  # of the encoder's weights


@dataclass(frozen=True)
class Preset:
    """Sizes and schedule of a training.

    arguments:   of Stanza's training program, where they differ from its defaults
    epochs:      passes over the training treebank. None: Stanza's own schedule, which follows the scores on
                 the development treebank
    least_steps: where a treebank is too small to make so many steps, there are more epochs
    evaluations: on the development treebank, evenly spread over the epochs
    dev_words:   the development treebank is thinned out evenly to about so many words. None: a parser takes
                 all of it; a tagger always thins it, to `DEV_WORDS`
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    epochs: float | None = None
    least_steps: int = 0
    evaluations: int = 8
    dev_words: int | None = None


class NetworkTask(ABC):
    """A network that learns from sentences, which it knows by numbers.

    name:       for progress and checkpoints
    encoder:    the encoder in it and its tokenizer, if it has one
    model:      the network; its `bert_model` is the encoder
    lengths:    words of each training sentence, as the loss counts them
    trainer:    Stanza's, of the model
    optimizers: their learning rates are the highest of the training
    words, part: words in a batch, and in the part of it that is computed at a time (None: all of it), at
                 most; no sentence is divided
    seed:       of the order of sentences
    score:      evaluates the model on dev and reports that, given the step, all steps, mean loss and seconds
    """

    name: str
    model: Any
    lengths: Sequence[int]
    trainer: Any
    optimizers: list[torch.optim.Optimizer]
    words: int
    score: Callable[[int, int, float, float], float]
    encoder: EncoderPair | None = None
    part: int | None = None
    seed: int = 1

    @property
    def per_pass(self) -> int:
        """Return how many batches a pass over the training treebank has."""
        return len(batches_of_pass(self.lengths, self.words, None))

    def batches(self, done: int) -> Iterator[list[int]]:
        """Yield batches of sentences of similar length, without end, from behind the first `done` on."""
        number, place = divmod(done, self.per_pass)
        while True:
            yield from batches_of_pass(self.lengths, self.words, random.Random(f"{self.seed} {number}"))[
                place:
            ]
            number, place = number + 1, 0

    @abstractmethod
    def loss(self, sentences: Sequence[int]) -> Tensor:
        """Return the mean loss over the words of some training sentences, by their numbers."""

    def second_stage(self) -> None:
        """Change to the second optimizer of Stanza's own schedule, which only some tasks have."""
        raise NotImplementedError


class NetworkTraining:
    """The state of a training, and its steps.

    arguments: of Stanza's training program
    epochs:    in place of the preset's; None: the preset's
    """

    def __init__(
        self, task: NetworkTask, arguments: dict[str, Any], preset: Preset, epochs: float | None = None
    ) -> None:
        self.task, self.arguments, self.falling = task, arguments, preset.epochs is not None
        passes = preset.epochs if epochs is None else epochs
        steps = math.ceil(passes * task.per_pass) if passes is not None else int(arguments["max_steps"])
        steps = max(1, steps, preset.least_steps if epochs is None else 0)
        own = arguments["eval_interval"] if not self.falling else 0
        interval = own or math.ceil(steps / preset.evaluations)
        plan = TrainingPlan(task.name, steps, interval, arguments["device"])
        self.course: Course[Mapping[str, Tensor]] = Course(plan)
        self.factor = rise_and_fall(steps)  # of the learning rates
        self.path: Path | None = None  # of the checkpoint

    def keep_in(self, directory: Path, *made_of: object) -> None:
        """Go on from the checkpoint in a directory, if there is one, and write later checkpoints there.

        made_of: what tells this training from others, beside the encoder

        Raises ModelError for a checkpoint that cannot be used.
        """
        digest = _digest(self.task.model, made_of)
        self.path = directory / f"{self.task.name.replace(' ', '-')}-{digest}.pt"
        if self.path.exists():
            self._resume(self.path)

    def run(self) -> None:
        """Train, and leave the state that had the best score, the first of equal ones."""
        batches, task = self.task.batches(self.course.done), self.task
        best = best_state(
            self.course,
            lambda: self._step(next(batches)),
            task.score,
            lambda: _copy(learned_weights(task.model)),
            self._keep,
            None if self.falling else self._over,
        )
        task.model.load_state_dict(best, strict=False)

    def _over(self, score: float | None) -> bool:
        """Follow Stanza's own schedule: a second optimizer when scores stall, then the end. Return whether
        training is over."""
        trainer, arguments, step = self.task.trainer, self.arguments, self.course.done
        if score is not None:
            for scheduler in trainer.scheduler.values():
                scheduler.step(num_steps=(step - 1) % self.course.plan.interval + 1, metrics=score)
        stalled = step - self.course.best_step >= arguments["max_steps_before_stop"]
        if arguments.get("second_stage") or not arguments["second_optim"]:
            return bool(stalled)
        if stalled or step >= (arguments["second_optim_start_step"] or self.course.plan.steps):
            self.task.model.load_state_dict(self.course.best or {}, strict=False)
            self.course.best_step = step
            self.task.second_stage()
        return False

    def _step(self, batch: Sequence[int]) -> float:
        """Learn from a batch; return its mean loss."""
        lengths, total = self.task.lengths, 0.0
        words = sum(lengths[i] for i in batch)
        self.task.model.train()
        for part in [batch] if self.task.part is None else _cut(batch, lengths, self.task.part):
            loss = self.task.loss(part) * (sum(lengths[i] for i in part) / words)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        nn.utils.clip_grad_norm_(self.task.model.parameters(), self.arguments["max_grad_norm"])
        for optimizer in self.task.optimizers:
            if self.falling:
                for group in optimizer.param_groups:
                    group["lr"] = group.setdefault("initial_lr", group["lr"]) * self.factor(self.course.done)
            optimizer.step()
            optimizer.zero_grad()
        return total

    def _keep(self) -> None:
        """Write a checkpoint, whole or not at all, if `keep_in` was called."""
        if self.path is None:
            return
        gpu = on_gpu(self.arguments)
        state = {
            "numbers": self.course.numbers,
            "model": learned_weights(self.task.model),
            "best": dict(self.course.best or {}),
            "optimizer": self.task.optimizers[0].state_dict(),
            "drawn": torch.get_rng_state(),
            "drawn_by_python": random.getstate(),
            "drawn_on_gpu": torch.cuda.get_rng_state(self.arguments["device"]) if gpu else None,
        }
        write_checkpoint(self.path, lambda staged: torch.save(state, staged))

    def _resume(self, path: Path) -> None:
        """Take over the state in a checkpoint. Raises ModelError for one that is broken."""
        with reading_checkpoint(path):
            state = torch.load(path, map_location="cpu", weights_only=True)
            names = learned_weights(self.task.model).keys()
            if state["model"].keys() != names or state["best"].keys() not in (names, {}.keys()):
                raise ValueError("other weights")
            self.task.model.load_state_dict(state["model"], strict=False)
            self.task.optimizers[0].load_state_dict(state["optimizer"])
            self.course = Course(self.course.plan, **state["numbers"], best=_copy(state["best"]) or None)
            torch.set_rng_state(state["drawn"])
            random.setstate(state["drawn_by_python"])
            if state["drawn_on_gpu"] is not None and on_gpu(self.arguments):
                torch.cuda.set_rng_state(state["drawn_on_gpu"], self.arguments["device"])
        done, steps = self.course.done, self.course.plan.steps
        log.info("%s: goes on after step %d of %d: %s", self.task.name, done, steps, path)


def on_gpu(arguments: Mapping[str, Any]) -> bool:
    """Return whether a training with these arguments runs on a GPU."""
    return torch.device(arguments["device"]).type == "cuda"


def batches_of_pass(lengths: Sequence[int], words: int, shuffle: random.Random | None) -> list[list[int]]:
    """Return all sentences in batches of similar length, of so many words at most unless of one sentence."""
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


def learned_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return the weights of a network of Stanza's, except those that it does not learn (word vectors)."""
    weights: Mapping[str, Tensor] = model.state_dict()
    fixed: list[str] = model.unsaved_modules  # type: ignore[assignment]
    return {name: tensor for name, tensor in weights.items() if name.partition(".")[0] not in fixed}


def _copy(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in state.items()}


def _digest(model: nn.Module, made_of: object) -> str:
    digest = sha256(repr(made_of).encode())
    for name, tensor in model.get_submodule(_ENCODER).state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def encoder_optimizer(
    model: nn.Module, rate: float, encoder_rate: float, beta2: float
) -> torch.optim.Optimizer:
    """Return an optimizer of an encoder and of the network over it, each at its own rate."""
    encoder = [*model.get_submodule(_ENCODER).parameters()]
    others = {*model.parameters()} - {*encoder}
    rest = [p for p in model.parameters() if p in others and p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": rest, "lr": rate, "weight_decay": 0.0},
        {"params": encoder, "lr": encoder_rate},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, beta2), weight_decay=_DECAY, fused=True)
