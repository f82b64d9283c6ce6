"""A crew of processes on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from d2c.base.workers import Work, Worker, hiring
from d2c.corpora.work import Failed, Job, Task

if TYPE_CHECKING:
    import pyarrow as pa

GONE = "its worker died: it was killed, or memory was short"


class Processes:
    """A `Crew`; hire: starts a worker that does what the job says."""

    def __init__(self, size: int, job: Job, hire: Callable[[Callable[[], Work[Any, Any]]], Worker]) -> None:
        self.size, self._job, self._hire = size, job, hire
        self._workers = [hire(job.worker) for _ in range(size)]

    def submit(self, worker: int, task: Task) -> None:
        """As `Crew` says."""
        with suppress(OSError):  # the end of its pipe says it
            self._workers[worker].connection.send(task)

    def answers(self, seconds: float) -> list[tuple[int, pa.Table | Failed]]:
        """As `Crew` says."""
        numbers: dict[Any, int] = {worker.connection: number for number, worker in enumerate(self._workers)}
        return [(numbers[ready], _answer(ready)) for ready in wait([*numbers], seconds)]

    def renew(self, worker: int) -> None:
        """As `Crew` says."""
        process, connection = self._workers[worker]
        process.kill()
        process.join()
        connection.close()
        self._workers[worker] = self._hire(self._job.worker)


def _answer(connection: Any) -> pa.Table | Failed:
    try:
        made, error = connection.recv()
    except (EOFError, OSError):
        return Failed(GONE, gone=True)
    if error is not None:
        raise error
    return made


@contextmanager
def processes(size: int, job: Job) -> Iterator[Processes]:
    """A crew of so many processes, which end with the block."""
    with hiring(fresh=True) as hire:
        yield Processes(size, job, hire)
