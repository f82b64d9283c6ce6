"""Checkpoints of spaCy's trainings: on the same machine, a resumed training ends as an uninterrupted one.

A checkpoint is MessagePack; nothing is unpickled. It holds all that a step depends on: the weights, Adam's
moments, the order of a pass and the place in it, and the states of Python's and numpy's random generators.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy
import srsly
from spacy.training import Example

from d2c.base.model_files import check_file
from d2c.base.store import reading_checkpoint, write_checkpoint
from d2c.dparsers.spacy.internals import fill
from d2c.protocols.training import Course

_MOST_BYTES = 1 << 29  # four times as many as a network's file may have


class Batches(Iterator[list[Example]]):
    """Endless batches of so many words or a few more, composed anew for every pass.

    order: of the examples in this pass; the first `place` of them are done
    """

    def __init__(self, examples: list[Example], words: int) -> None:
        self.examples, self.words = examples, words
        self.order, self.place = [*range(len(examples))], len(examples)

    def __next__(self) -> list[Example]:
        batch, words = list[Example](), 0
        while words < self.words:
            if self.place == len(self.order):
                random.shuffle(self.order)
                self.place = 0
            batch.append(self.examples[self.order[self.place]])
            words, self.place = words + len(batch[-1]), self.place + 1
        return batch


@dataclass(eq=False)
class SpacyTraining:
    """What the next step of a training depends on, the progress of the training, and the best weights so far.

    model, optimizer: thinc's; path: of the checkpoint; None: none is written
    """

    model: Any
    optimizer: Any
    batches: Batches
    course: Course[bytes]
    path: Path | None = None

    def keep_in(self, directory: Path, name: str, *made_of: object) -> None:
        """Go on from the checkpoint in a directory, if there is one, and write later checkpoints there.

        made_of: what tells this training from others, beside the initial weights

        Raises ModelError for a checkpoint that is broken.
        """
        digest = sha256(self.model.to_bytes())
        for part in made_of:
            for one in part if isinstance(part, list) else [part]:
                digest.update(repr(one).encode("utf-8", "surrogatepass"))
        self.path = directory / f"{name.replace(' ', '-')}-{digest.hexdigest()[:16]}.msgpack"
        if self.path.exists():
            self._resume(self.path)

    def keep(self) -> None:
        """Write a checkpoint if `keep_in` was called. Raises ModelError."""
        if self.path is None:
            return
        drawn, (name, keys, *numbers) = random.getstate(), numpy.random.get_state()
        adam = self.optimizer
        state = {
            "numbers": self.course.numbers,
            "weights": [self.model.to_bytes(), self.course.best],
            "moments": [
                [adam.mom1.get(key), adam.mom2.get(key), adam.nr_update.get(key, 0)]
                for key, _ in self._parameters()
            ],
            "order": [numpy.array(self.batches.order, numpy.int32), self.batches.place],
            "drawn": [[drawn[0], [*drawn[1]], drawn[2]], [name, keys, *numbers]],
        }
        write_checkpoint(self.path, lambda staged: staged.write_bytes(srsly.msgpack_dumps(state)))

    def _resume(self, path: Path) -> None:
        """Take over the state in a checkpoint. Raises ModelError for one that is broken."""
        check_file(path, _MOST_BYTES)
        with reading_checkpoint(path):
            state: Any = srsly.msgpack_loads(path.read_bytes())
            weights, best = state["weights"]
            if best is not None:  # it is None before the first evaluation
                fill(self.model, best)
            fill(self.model, weights)
            self.course = Course(self.course.plan, **state["numbers"], best=best)
            self._take_moments(state["moments"])
            order, self.batches.place = state["order"]
            if sorted(order) != sorted(self.batches.order) or not 0 <= self.batches.place <= len(order):
                raise ValueError("another order")
            self.batches.order = order.tolist()
            (version, keys, gauss), numbers = state["drawn"]
            random.setstate((version, tuple(keys), gauss))
            numpy.random.set_state(tuple(numbers))
            for _ in range(self.course.done):
                self.optimizer.step_schedules()

    def _take_moments(self, moments: list[Any]) -> None:
        """Give Adam its moments. Raises ValueError for moments of other shapes."""
        for (key, size), (first, second, updates) in zip(self._parameters(), moments, strict=True):
            if updates:
                if not first.shape == second.shape == (size,):
                    raise ValueError("moments of other shapes")
                self.optimizer.mom1[key], self.optimizer.mom2[key] = first.copy(), second.copy()
                self.optimizer.nr_update[key] = updates

    def _parameters(self) -> Iterator[tuple[tuple[int, str], int]]:
        """Yield the optimizer's key of each parameter, and the parameter's size."""
        for layer in self.model.walk():
            for name in layer.param_names:
                yield (layer.id, name), layer.get_param(name).size if layer.has_param(name) else 0
