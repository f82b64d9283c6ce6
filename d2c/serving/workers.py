"""The processes behind the server: each has a thread here that gives it the requests that wait, small ones
together, which encoders parse much faster.

A process that dies, or takes too long, is replaced, and costs nobody but the request that it died of: those
of a batch are then tried one by one, and one that was alone once more, unless it took too long.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from d2c.base.errors import shortened
from d2c.base.workers import GONE, Failed, ProcessPool
from d2c.serving.tasks import Answer, Service, Task, refusal

_AGAIN = 1.0  # seconds until a worker is started again that has died as it loaded the model
_SMALL = 20_000  # bytes of a batch, before its last request: they take as long as a request may
_LONGEST_WAIT = 3600.0  # seconds
_LATE = Failed("it took too long", gone=True)
_DIED = Failed(GONE, gone=True)  # as the pool has it


class _Waiting(NamedTuple):
    """A request, and where its answer is to be."""

    task: Task
    answer: Future[Answer]


class Workers:
    """So many worker processes, and the requests that wait for them, first come, first served.

    Raises the error of a worker that cannot load the model, and ChildProcessError for one that dies of it.
    """

    def __init__(self, service: Service, jobs: int) -> None:
        self.limits = service.limits
        self._waiting = queue.Queue[_Waiting](self.limits.max_waiting)
        self._pools, self._ready, self._closed = list[ProcessPool](), set[ProcessPool](), False
        try:
            for _ in range(jobs):
                self._pools.append(pool := ProcessPool(service.worker, 1, fresh=True))
                pool.submit(0, [])
            for pool in self._pools:
                if isinstance(failed := _answer(pool), Failed):
                    raise failed.error or ChildProcessError(f"the model cannot be loaded: {failed.why}")
                self._ready.add(pool)
        except BaseException:
            self.close()
            raise
        for pool in self._pools:
            threading.Thread(target=self._serve, args=(pool,), daemon=True).start()

    @property
    def state(self) -> dict[str, int]:
        """Return how many requests wait, and how many processes have the model."""
        return {"waiting": self._waiting.qsize(), "ready": len(self._ready)}

    async def answer(self, task: Task) -> Answer:
        """Return the answer to a request; 503 where too many wait."""
        waiting = _Waiting(task, Future[Answer]())
        try:
            self._waiting.put_nowait(waiting)
        except queue.Full:
            return refusal(503, f"{self.limits.max_waiting:,} requests are waiting; try again later")
        return await asyncio.wrap_future(waiting.answer)

    def close(self) -> None:
        """End all processes. What they have not answered yet is not answered."""
        self._closed = True
        for pool in self._pools:
            pool.close()

    def _serve(self, pool: ProcessPool) -> None:
        """Answer requests by one process, until this one is closed."""
        while not self._closed:
            batch = self._batch()
            if not self._are_answered(pool, batch):
                for one in batch:
                    self._are_answered(pool, _wanted([one]), again=True)

    def _batch(self) -> list[_Waiting]:
        """Return the requests that wait and have small bodies, and a fair share of them; one at least."""
        batch, size = [self._waiting.get()], 0
        for _ in range(self._waiting.qsize() // len(self._pools)):
            if (size := size + len(batch[-1].task.body)) > _SMALL:
                break
            with suppress(queue.Empty):
                batch.append(self._waiting.get_nowait())
        return _wanted(batch)

    def _are_answered(self, pool: ProcessPool, batch: Sequence[_Waiting], again: bool = False) -> bool:
        """Return whether requests are answered; otherwise they are to be tried again, one by one."""
        pool.submit(0, [one.task for one in batch])
        answers = _answer(pool, self.limits.max_seconds)
        gone = isinstance(answers, Failed) and answers.gone
        finished = again or not isinstance(answers, Failed) or (len(batch) == 1 and answers != _DIED)
        if finished:
            if isinstance(answers, Failed):
                why = f"it cannot be parsed: {shortened(answers.why, 200)}"
                answers = [refusal(503 if gone else 500, why)]
            for one, answer in zip(batch, answers, strict=True):
                if one.answer.set_running_or_notify_cancel():
                    one.answer.set_result(answer)
        if gone:
            self._renew(pool)
        return finished

    def _renew(self, pool: ProcessPool) -> None:
        """Start another process in place of a pool's; return when that one has the model."""
        self._ready.discard(pool)
        while not self._closed:
            pool.renew(0)
            pool.submit(0, [])
            if not isinstance(_answer(pool), Failed):
                self._ready.add(pool)
                return
            time.sleep(_AGAIN)


def _wanted(requests: Sequence[_Waiting]) -> list[_Waiting]:
    """Return those that somebody waits for, as their time is not over."""
    return [one for one in requests if not one.answer.cancelled()]


def _answer(pool: ProcessPool, seconds: float = _LONGEST_WAIT) -> Any:
    """Return what the process of a pool answers, or `Failed`."""
    found = pool.answers(seconds)
    return found[0][1] if found else _LATE
