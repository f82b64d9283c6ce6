"""Retries of a batch: it is tried, tried again if its worker has died, and then tried in halves.

So a sentence that no worker survives is found by bisection, and only this sentence is lost. The halves depend
on the batch alone, so the rows that come out depend neither on the worker nor on the moment.
"""

from __future__ import annotations

from typing import cast

import pyarrow as pa

from d2c.base.workers import Failed, Retrying, twice
from d2c.corpora.rows import lost
from d2c.corpora.worker import WorkerTask

Tables = Retrying[list[pa.Table]]


def retried(task: WorkerTask) -> Tables:
    """Yield tasks for a worker, be sent the answers, and return the tables of all sentences, in order."""
    answer = yield from _tried(task)
    return [answer] if isinstance(answer, pa.Table) else (yield from _narrowed(task, answer))


def _tried(task: WorkerTask) -> Retrying[pa.Table | Failed]:
    """Try a task, and again if its worker has died, perhaps for another reason. Raises an answer's error."""
    answer = yield from twice(task)
    if isinstance(answer, Failed) and answer.error:
        raise answer.error
    return cast("pa.Table | Failed", answer)


def _narrowed(task: WorkerTask, failed: Failed) -> Tables:
    """Return the tables of a task that failed, from its halves; both are tried before either is halved.

    So a sentence that no worker survives never kills more than a few workers before something succeeds.
    """
    if not (halves := _halves(task)):
        refused = yield task._replace(error=failed.why)
        if isinstance(refused, Failed):
            return [lost(task.records[0], failed.why)]
        if task.end is not None or refused.num_rows == 1:
            return [refused]
        halves = _halved(task, 0, refused.num_rows)  # of one record, several sentences
    answers = []
    for half in halves:
        answers.append((yield from _tried(half)))
    tables: list[pa.Table] = []
    for half, answer in zip(halves, answers, strict=True):
        tables += [answer] if isinstance(answer, pa.Table) else (yield from _narrowed(half, answer))
    return tables


def _halves(task: WorkerTask) -> list[WorkerTask]:
    """Cut a task in two if it has several records, or several sentences of one record."""
    if task.end is not None:
        return _halved(task, task.begin, task.end) if task.end - task.begin > 1 else []
    middle = len(task.records) // 2
    return [task._replace(records=half) for half in (task.records[:middle], task.records[middle:]) if middle]


def _halved(task: WorkerTask, begin: int, end: int) -> list[WorkerTask]:
    middle = (begin + end) // 2
    return [task._replace(begin=begin, end=middle), task._replace(begin=middle, end=end)]
