"""The processes behind the server: each has a thread here that gives it one request after another.

A process that dies, or takes too long, is replaced, and costs nobody but its own request: that is tried once
more if the process has died, for a reason of its own perhaps.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from concurrent.futures import Future
from typing import Any

from d2c.base.errors import shortened
from d2c.base.workers import GONE, Failed, ProcessPool
from d2c.serving.tasks import Answer, Service, Task, refusal

_AGAIN = 1.0  # seconds until a worker is started again that has died as it loaded the model
_LONGEST_WAIT = 3600.0  # seconds
_LATE = Failed("it took too long", gone=True)
_DIED = Failed(GONE, gone=True)  # as the pool has it


class Workers:
    """So many worker processes, and the requests that wait for them, first come, first served.

    Raises the error of a worker that cannot load the model, and ChildProcessError for one that dies of it.
    """

    def __init__(self, service: Service, jobs: int) -> None:
        self.limits = service.limits
        self._waiting = queue.Queue[tuple[Task, Future[Answer]]](self.limits.max_waiting)
        self._pools, self._ready, self._closed = list[ProcessPool](), set[ProcessPool](), False
        try:
            for _ in range(jobs):
                self._pools.append(pool := ProcessPool(service.worker, 1, fresh=True))
                pool.submit(0, None)
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
        future = Future[Answer]()
        try:
            self._waiting.put_nowait((task, future))
        except queue.Full:
            return refusal(503, f"{self.limits.max_waiting:,} requests are waiting; try again later")
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """End all processes. What they have not answered yet is not answered."""
        self._closed = True
        for pool in self._pools:
            pool.close()

    def _serve(self, pool: ProcessPool) -> None:
        """Answer one request after another by one process, until this one is closed."""
        while not self._closed:
            task, future = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            answer = self._asked(pool, task)
            if answer == _DIED:
                self._renew(pool)
                answer = self._asked(pool, task)
            gone = isinstance(answer, Failed) and answer.gone
            if isinstance(answer, Failed):
                answer = refusal(503 if gone else 500, f"it cannot be parsed: {shortened(answer.why, 200)}")
            future.set_result(answer)
            if gone:
                self._renew(pool)

    def _asked(self, pool: ProcessPool, task: Task) -> Answer | Failed:
        pool.submit(0, task)
        answer: Answer | Failed = _answer(pool, self.limits.max_seconds)
        return answer

    def _renew(self, pool: ProcessPool) -> None:
        """Start another process in place of a pool's; return when that one has the model."""
        self._ready.discard(pool)
        while not self._closed:
            pool.renew(0)
            pool.submit(0, None)
            if not isinstance(_answer(pool), Failed):
                self._ready.add(pool)
                return
            time.sleep(_AGAIN)


def _answer(pool: ProcessPool, seconds: float = _LONGEST_WAIT) -> Any:
    """Return what the process of a pool answers, or `Failed`."""
    found = pool.answers(seconds)
    return found[0][1] if found else _LATE
