"""What becomes of a batch: it is tried, tried again where its worker has gone, and then in halves.

So a sentence that no worker survives is found in as many steps as its batch has halves, and only it is lost.
The halves depend on nothing but the batch: which rows come out does not depend on the worker or the moment.
"""

from __future__ import annotations

import pyarrow as pa

from d2c.base.workers import Attempts, Failed
from d2c.corpora.rows import lost
from d2c.corpora.work import WorkerTask

Tables = Attempts[list[pa.Table]]


def attempts(task: WorkerTask) -> Tables:
    """Yield tasks for a worker, be sent its answers, and return the tables of all sentences, in order."""
    answer = yield task
    if isinstance(answer, Failed) and answer.gone:  # perhaps for a reason of its own
        answer = yield task
    if not isinstance(answer, Failed):
        return [answer]
    if answer.error:
        raise answer.error
    if task.end is None and len(task.records) > 1:
        middle = len(task.records) // 2
        halves = [task._replace(records=half) for half in (task.records[:middle], task.records[middle:])]
        return (yield from _each(halves))
    if task.end is not None and task.end - task.begin > 1:
        return (yield from _each(_halved(task, task.begin, task.end)))
    refused = yield task._replace(error=answer.why)
    if isinstance(refused, Failed):
        return [lost(task.records[0], answer.why)]
    if task.end is None and refused.num_rows > 1:  # of one record, several sentences
        return (yield from _each(_halved(task, 0, refused.num_rows)))
    return [refused]


def _each(tasks: list[WorkerTask]) -> Tables:
    tables: list[pa.Table] = []
    for task in tasks:
        tables += yield from attempts(task)
    return tables


def _halved(task: WorkerTask, begin: int, end: int) -> list[WorkerTask]:
    middle = (begin + end) // 2
    return [task._replace(begin=begin, end=middle), task._replace(begin=middle, end=end)]
