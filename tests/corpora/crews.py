"""A worker pool without processes: workers die, hang and refuse as they are told; rows of what they got."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

import pyarrow as pa

from d2c.base.errors import FormatError, ModelError
from d2c.base.workers import Failed, Scheduler, WorkerPool
from d2c.corpora.options import CorpusOptions
from d2c.corpora.records import Record, sentences_of_record
from d2c.corpora.retries import retried
from d2c.corpora.rows import table_of
from d2c.corpora.worker import WorkerTask
from d2c.parsing.sentence import Sentence

GONE = Failed("its worker died", gone=True)
OPTIONS = CorpusOptions(kind="split")
LONG = 3600.0  # seconds: more than any start takes
Behaviour = Callable[[WorkerTask], "pa.Table | Failed | None"]


def records(*texts: str, file: str = "a.txt") -> tuple[Record, ...]:
    return tuple(Record(file, line, text, file, "text") for line, text in enumerate(texts, 1))


def batch(*texts: str) -> WorkerTask:
    return WorkerTask(records(*texts), size=len(texts))


def schedule(
    pool: WorkerPool, patience: float, usual: int, clock: Callable[[], float] = time.monotonic
) -> Scheduler[WorkerTask, list[pa.Table]]:
    """That of a job, which holds only as many batches as there are workers."""
    made: Scheduler[WorkerTask, list[pa.Table]] = Scheduler(
        pool,
        retried,
        pool.size,
        ready=WorkerTask(),
        patience=patience,
        weight=lambda batch: max(1.0, batch.size / usual),
    )
    made.clock = clock  # type: ignore[method-assign]
    return made


def sentences(task: WorkerTask) -> list[Sentence]:
    """The sentences that a worker is asked for."""
    found = [one for record in task.records for one in sentences_of_record(record, OPTIONS)]
    return found[task.begin : task.end]


def words(task: WorkerTask) -> list[str]:
    """All words of them."""
    return [form for sentence in sentences(task) for form in sentence.tokens.forms]


def rows(task: WorkerTask) -> pa.Table:
    """A row for each, with its number of words for a bracket, or with the error that the task says."""
    error = FormatError("", 0, 0, task.error or "parsed")
    failed = (sentence.failed(error) for sentence in sentences(task))
    table = table_of([*failed], "brackets")
    if task.error:
        return table
    index = table.schema.get_field_index("error")
    return table.set_column(index, table.schema.field(index), pa.nulls(len(table), pa.string()))


class Stub:
    """A `Job` whose worker dies of a word, hangs at another, and refuses a third."""

    options = CorpusOptions()

    def worker(self) -> Callable[[WorkerTask], pa.Table | Failed]:
        def work(task: WorkerTask) -> pa.Table | Failed:
            if "poison" in words(task) and not task.error:
                os._exit(1)
            if "hang" in words(task):
                Event().wait()
            if "model" in words(task):
                raise ModelError("no model")
            return rows(task)

        return work


@dataclass
class Scripted:
    """A `WorkerPool`: each worker answers at once what the behaviour says; None: it never does."""

    size: int
    behaviour: Behaviour
    asked: list[WorkerTask] = field(default_factory=list)
    renewed: list[int] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._answers: dict[int, pa.Table | Failed] = {}

    def submit(self, worker: int, task: WorkerTask) -> None:
        self.asked.append(task)
        if (answer := self.behaviour(task)) is not None:
            self._answers[worker] = answer

    def answers(self, seconds: float) -> list[tuple[int, pa.Table | Failed]]:
        self.waited.append(seconds)
        answers, self._answers = self._answers, {}
        return [*answers.items()]

    def renew(self, worker: int) -> None:
        self.renewed.append(worker)
        self._answers.pop(worker, None)
