"""The processes behind the server. Each has a thread here that gives it waiting requests, small ones
together, since encoders parse batches much faster.

A process that dies, or takes too long, is replaced. A death costs only the request that caused it: the
requests that the process had are tried next, one by one, each once, by any process that is ready. Requests
beside one that takes too long are tried again, too, but have little time left. A request that was alone and
took too long is not tried again.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from d2c.base.errors import shortened
from d2c.base.workers import DIED, Failed, ProcessPool
from d2c.serving.tasks import Answer, Service, Task, refusal, too_late

_AGAIN = 1.0  # seconds until a worker that died while it loaded the model is started again
_SMALL = 20_000  # bytes from which a batch gets no more requests: they take about as long as a request may
_LONGEST_WAIT = 3600.0  # seconds
_LOOK = 1.0  # seconds after which an idle process is looked at: it may have died
_TICK = 0.1  # seconds between two checks of how long no worker was ready
_PATIENCE = 60.0  # seconds without a ready worker that do not count in a request's time, at most
_LATE = Failed("it took too long", gone=True)


class _Waiting(NamedTuple):
    """A request, and the future of its answer. again: whether a worker had it, and died or failed"""

    task: Task
    answer: Future[Answer]
    again: bool = False


class Workers:
    """A number of worker processes (`jobs`), and the requests that wait for them, first come, first served.

    tell: called with a message about each worker that is replaced

    Raises the error of a worker that cannot load the model, ChildProcessError for one that dies in loading.
    """

    def __init__(self, service: Service, jobs: int, tell: Callable[[str], None]) -> None:
        self.limits, self.tell = service.limits, tell
        self._waiting, self._changed = deque[_Waiting](), threading.Condition()
        self._pools, self._ready, self._closed = list[ProcessPool](), set[ProcessPool](), False
        self._without, self._since = 0.0, time.monotonic()  # seconds without a worker, until `_ready` changed
        try:
            for _ in range(jobs):
                self._pools.append(pool := ProcessPool(service.worker, 1, fresh=True))
                pool.submit(0, [])
            for pool in self._pools:
                if isinstance(failed := _answer(pool), Failed):
                    raise failed.error or ChildProcessError(f"the model cannot be loaded: {failed.why}")
                self._set_ready(pool, True)
        except BaseException:
            self.close()
            raise
        for pool in self._pools:
            threading.Thread(target=self._serve, args=(pool,), daemon=True).start()

    @property
    def state(self) -> dict[str, int]:
        """Return how many requests wait, and how many processes have the model."""
        return {"waiting": len(self._waiting), "ready": len(self._ready)}

    async def answer(self, task: Task, until: float) -> Answer:
        """Return the answer to a request; status 503 if too many wait, or if no worker was ready in time.

        until: when time is up, by `time.monotonic`; time without a ready worker is added, a minute at most
        Raises TimeoutError when time is up.
        """
        waiting = _Waiting(task, Future[Answer]())
        with self._changed:
            if len(self._waiting) >= self.limits.max_waiting:
                return refusal(503, f"{self.limits.max_waiting:,} requests are waiting; try again later")
            self._waiting.append(waiting)
            self._changed.notify()
        answer, before = asyncio.wrap_future(waiting.answer), self._seconds_without()
        while not answer.done():
            more = min(self._seconds_without() - before, _PATIENCE)
            if (left := until + more - time.monotonic()) <= 0:
                answer.cancel()
                with self._changed:
                    never_begun = any(one.answer is waiting.answer for one in self._waiting)
                if never_begun and not self._ready:
                    return refusal(503, "no process has loaded the model yet; try again later")
                raise TimeoutError
            await asyncio.wait([answer], timeout=max(left, _TICK))
        return answer.result()

    def close(self) -> None:
        """End all processes. Requests that are not answered yet stay unanswered."""
        self._closed = True
        for pool in self._pools:
            pool.close()

    def _serve(self, pool: ProcessPool) -> None:
        """Answer requests by one process, until `close` is called."""
        while not self._closed:
            if pool.answers(0):  # nothing was asked: it has died
                self._renew(pool, DIED)
            elif batch := self._batch():
                self._work(pool, batch)

    def _batch(self) -> list[_Waiting]:
        """Return the next requests that wait: several only if they are small, at most a fair share; a request
        that is tried again is alone. Return none if none came for a while."""
        batch, size = list[_Waiting](), 0
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, _LOOK)
            most = 1 + (len(self._waiting) - 1) // len(self._pools)
            while self._waiting and len(batch) < most and size <= _SMALL:
                if batch and (batch[-1].again or self._waiting[0].again):
                    break
                batch.append(self._waiting.popleft())
                size += len(batch[-1].task.body)
        return [one for one in batch if not one.answer.cancelled()]  # nobody waits for these

    def _work(self, pool: ProcessPool, batch: Sequence[_Waiting]) -> None:
        """Answer requests, or let them be tried again, one by one."""
        pool.submit(0, [one.task for one in batch])
        answers = _answer(pool, self.limits.max_seconds)
        if not isinstance(answers, Failed):
            _set_answers(batch, answers)
            return
        if answers.gone:
            self._set_ready(pool, False)
        if not batch[0].again and (len(batch) > 1 or answers == DIED):
            with self._changed:
                self._waiting.extendleft(one._replace(again=True) for one in reversed(batch))
                self._changed.notify_all()
        else:
            why = f"it cannot be parsed: {shortened(answers.why, 200)}"
            failed = refusal(503 if answers.gone else 500, why)
            _set_answers(batch, [too_late(self.limits) if answers == _LATE else failed])
        if answers.gone:
            self._renew(pool, answers)

    def _renew(self, pool: ProcessPool, failed: Failed) -> None:
        """Start another process in place of a pool's; return when the new one has loaded the model."""
        self._set_ready(pool, False)
        number = self._pools.index(pool) + 1
        while not self._closed:
            self.tell(f"d2c: process {number} is replaced: {shortened(failed.why, 200)}")
            pool.renew(0)
            pool.submit(0, [])
            if not isinstance(answer := _answer(pool), Failed):
                self._set_ready(pool, True)
                self.tell(f"d2c: process {number} is ready again")
                return
            failed = answer
            time.sleep(_AGAIN)

    def _set_ready(self, pool: ProcessPool, ready: bool) -> None:
        with self._changed:
            self._without, self._since = self._seconds_without(), time.monotonic()
            (self._ready.add if ready else self._ready.discard)(pool)

    def _seconds_without(self) -> float:
        """Return how many seconds in all, until now, no worker was ready."""
        with self._changed:
            return self._without + (0.0 if self._ready else time.monotonic() - self._since)


def _set_answers(batch: Sequence[_Waiting], answers: Sequence[Answer]) -> None:
    for one, answer in zip(batch, answers, strict=True):
        if one.answer.set_running_or_notify_cancel():
            one.answer.set_result(answer)


def _answer(pool: ProcessPool, seconds: float = _LONGEST_WAIT) -> Any:
    """Return what the process of a pool answers, or `Failed`."""
    found = pool.answers(seconds)
    return found[0][1] if found else _LATE
