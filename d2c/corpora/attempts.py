"""What becomes of a batch: it is tried, tried again where its worker has gone, and then in halves.

So a sentence that no worker survives is found in as many steps as its batch has halves, and only it is lost.
The halves depend on nothing but the batch: which rows come out does not depend on the worker or the moment.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from d2c.corpora.rows import lost
from d2c.corpora.work import Failed, Task

if TYPE_CHECKING:
    import pyarrow as pa

Attempts = Generator[Task, "pa.Table | Failed", "list[pa.Table]"]


def attempts(task: Task) -> Attempts:
    """Yields what to ask a worker, is sent the answer, and returns the tables of all sentences, in order."""
    answer = yield task
    if isinstance(answer, Failed) and answer.gone:  # perhaps for a reason of its own
        answer = yield task
    if not isinstance(answer, Failed):
        return [answer]
    if len(task.records) == 1 and task.end is None:
        return (yield from _record(task, answer.why))
    if task.end is None:
        middle = len(task.records) // 2
        halves = [task._replace(records=half) for half in (task.records[:middle], task.records[middle:])]
    elif task.end - task.begin > 1:
        halves = _halved(task, task.begin, task.end)
    else:
        refused = yield task._replace(error=answer.why)
        return [lost(task.records[0], answer.why) if isinstance(refused, Failed) else refused]
    tables: list[pa.Table] = []
    for half in halves:
        tables += yield from attempts(half)
    return tables


def _record(task: Task, why: str) -> Attempts:
    """Of a record that fails: its sentences, if it has several, apart."""
    refused = yield task._replace(error=why)
    if isinstance(refused, Failed):
        return [lost(task.records[0], why)]
    if refused.num_rows < 2:
        return [refused]
    tables: list[pa.Table] = []
    for half in _halved(task, 0, refused.num_rows):
        tables += yield from attempts(half)
    return tables


def _halved(task: Task, begin: int, end: int) -> list[Task]:
    middle = (begin + end) // 2
    return [task._replace(begin=begin, end=middle), task._replace(begin=middle, end=end)]
