"""Tasks for workers: each has one at a time, so that no more is read than they can do."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from d2c.corpora.attempts import Attempts, attempts
from d2c.corpora.shards import Portion
from d2c.corpora.work import Failed, Task

if TYPE_CHECKING:
    import pyarrow as pa

_STARTS = 3  # of a worker in a row that may fail


class Crew(Protocol):
    """Workers, by their numbers from 0: processes, or actors on Ray. They end with its context."""

    size: int

    def submit(self, worker: int, task: Task) -> None:
        """Gives a task to a worker that has none. Answers of one that has gone say so."""

    def answers(self, seconds: float) -> list[tuple[int, pa.Table | Failed]]:
        """What workers have made of their tasks; waits for so long until there is something.

        Raises ModelError where a worker cannot load the model.
        """

    def renew(self, worker: int) -> None:
        """Ends a worker, whatever it does, and starts another one in its place."""


class _Running(NamedTuple):
    """What a worker is asked; portion: None while it makes itself ready."""

    portion: Portion | None
    tries: Attempts | None
    task: Task
    until: float


class Schedule:
    """Gives portions to a crew, and what is to be tried again.

    patience: seconds after which a worker that has a portion of `usual` sentences hangs; longer for more
    """

    def __init__(
        self, crew: Crew, patience: float, usual: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._crew, self._patience, self._usual, self._clock = crew, patience, usual, clock
        self._running: dict[int, _Running] = {}
        self._idle, self._again = list[int](), deque[tuple[Portion, Attempts, Task]]()
        self._failed_starts = [0] * crew.size

    def run(self, portions: Iterable[Portion]) -> Iterator[tuple[Portion, list[pa.Table]]]:
        """The tables of each portion, in the order in which they are finished.

        One portion for each worker is held. Raises ModelError where the model cannot be loaded,
        ChildProcessError where workers die as they load it.
        """
        stream = iter(portions)
        for worker in range(self._crew.size):
            self._ask(worker, None, None, Task())
        while True:
            while self._idle and (todo := self._next(stream)):
                self._ask(self._idle.pop(), *todo)
            if not any(running.portion for running in self._running.values()) and len(self._idle):
                return  # others may still be loading the model
            for worker, answer in self._answered():
                if (finished := self._take(worker, answer)) is not None:
                    yield finished

    def _next(self, stream: Iterator[Portion]) -> tuple[Portion, Attempts, Task] | None:
        if self._again:
            return self._again.popleft()
        if (portion := next(stream, None)) is None:
            return None
        tries = attempts(Task(portion.records))
        return portion, tries, next(tries)

    def _ask(self, worker: int, portion: Portion | None, tries: Attempts | None, task: Task) -> None:
        until = math.inf
        if portion is not None:
            until = self._clock() + self._patience * max(1.0, portion.size / self._usual)
        self._running[worker] = _Running(portion, tries, task, until)
        self._crew.submit(worker, task)

    def _answered(self) -> list[tuple[int, pa.Table | Failed]]:
        """Answers, and what stands for those of workers that hang."""
        soonest = min(running.until for running in self._running.values())
        answers = self._crew.answers(max(0.0, min(soonest - self._clock(), 3600.0)))
        if not answers:
            for worker, running in self._running.items():
                if running.until <= self._clock():
                    limit = f"it took longer than {self._patience:g} seconds"
                    answers.append((worker, Failed(limit, gone=True)))
        return answers

    def _take(self, worker: int, answer: pa.Table | Failed) -> tuple[Portion, list[pa.Table]] | None:
        """Goes on with what a worker has answered; returns what is finished by that."""
        portion, tries, _, _ = self._running.pop(worker)
        gone = isinstance(answer, Failed) and answer.gone
        if gone:
            self._renewed(worker, starting=portion is None)
        else:
            self._failed_starts[worker] = 0
            self._idle.append(worker)
        if portion is None or tries is None:
            return None
        try:
            self._again.append((portion, tries, tries.send(answer)))
        except StopIteration as end:
            return portion, end.value
        return None

    def _renewed(self, worker: int, starting: bool) -> None:
        self._failed_starts[worker] += starting
        if self._failed_starts[worker] >= _STARTS:
            raise ChildProcessError("workers die as they load the model: they are killed, or memory is short")
        self._crew.renew(worker)
        self._ask(worker, None, None, Task())
