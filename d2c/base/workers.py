"""Work on several cores: worker processes that end with this one, and results in the order of the items.

docs/corpora.md promises that an item that kills its worker costs that item alone, at whatever moment. No
library keeps this promise. With `concurrent.futures`, joblib and loky one dead worker breaks the pool, and a
worker that hangs cannot be replaced. With pebble 5.2.3 the workers share one pipe and its lock: if one is
killed in the middle of an answer (by a lack of memory, say), all others wait for a minute, then the pool is
broken; and workers outlive a first process that is killed. Ray Data gives an item that kills its actor to one
actor after another without end, or leaves out the block around it. So here each worker has its own pipe.
"""

from __future__ import annotations

import atexit
import gc
import math
import multiprocessing
import os
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
Work = Callable[[Item], Made]

GONE = "its worker died: it was killed, or memory was short"
SHORT = "memory was short"
_STARTS = 3  # of one worker in a row that fail: then the work ends
_DEATHS = 16  # of workers in a row, with nothing done in between, that are borne: one item kills fewer
_LONGEST_WAIT = 3600.0  # seconds


class Failed(NamedTuple):
    """Why a worker has no result.

    gone:  the worker has died, or hangs, so that another one may do better
    error: what the work raised, to be raised again where no worker does better
    """

    why: str
    gone: bool = False
    error: Exception | None = None


DIED = Failed(GONE, gone=True)


class WorkerPool(Protocol):
    """Workers, by their numbers from 0: processes (`ProcessPool`), or actors on a cluster."""

    size: int

    def submit(self, worker: int, task: Any, /) -> None:
        """Give a task to a worker that has none."""
        ...

    def answers(self, seconds: float, /) -> list[tuple[int, Any]]:
        """Return answers, or `Failed`, with their workers; wait at most so many seconds for the first."""
        ...

    def renew(self, worker: int, /) -> None:
        """End a worker, whatever it does, and start another one in its place."""
        ...


Retrying = Generator[Any, Any, Made]
"""How one item is worked on, and tried again: yields a task for any worker, is sent the answer, and so on;
returns what is made of the item."""


def in_order(
    make: Callable[[], Work[Item, Made]], items: Iterable[Item], jobs: int, fresh: bool = False
) -> Iterator[Made]:
    """Yield work(item) for every item, in order, by `jobs` processes, each of which makes `work` once.

    About three items for each process are held at a time. One job, or one item, needs no other process.

    fresh: the processes start anew, as models with threads or on a GPU need: `make` and items are pickled.
           Otherwise they are forked, and what `make` holds, large models perhaps, is shared.

    An error of `work`, `make` or `items` is raised here, after the results of all items before it. The
    workers end with the iterator, and with this process, however it ends. Raises ChildProcessError where an
    item kills two workers, one after the other.
    """
    failed: list[Exception] = []

    def given() -> Iterator[Item]:
        try:
            yield from items
        except Exception as error:
            failed.append(error)

    stream = given()
    first = list(islice(stream, 2)) if jobs > 1 else []
    if len(first) > 1:
        with ProcessPool(make, jobs, fresh) as pool:
            for answer in Scheduler(pool, twice, 3 * jobs).run(chain(first, stream)):
                if isinstance(answer, Failed):
                    raise answer.error or ChildProcessError(GONE.replace("its worker", "a worker process"))
                yield answer
    elif first or not failed:
        yield from map(make(), chain(first, stream))
    if failed:
        raise failed[0]


def twice(item: Any) -> Retrying[Any]:
    """Try an item again where its worker has died."""
    answer = yield item
    if isinstance(answer, Failed) and answer.gone:
        answer = yield item
    return answer


class ProcessPool:
    """Processes on this machine, which end at the end of a `with` block or of this process.

    fresh, make: as for `in_order`
    """

    def __init__(self, make: Callable[[], Work[Any, Any]], size: int, fresh: bool) -> None:
        self.size, self._make, self._process = size, make, os.getpid()
        self._context: Any = multiprocessing.get_context("spawn" if fresh else "fork")
        self._workers: list[tuple[BaseProcess, Connection]] = []
        atexit.register(self.close)  # before multiprocessing waits for its processes, which heed no SIGTERM
        try:
            for _ in range(size):
                self._workers.append(self._start())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, worker: int, task: Any) -> None:
        """Give a task to a worker that has none."""
        with suppress(OSError):  # a dead worker is known by the end of its pipe
            self._workers[worker][1].send(task)

    def answers(self, seconds: float) -> list[tuple[int, Any]]:
        """Return the answers that have come; wait at most so many seconds for the first."""
        numbers: dict[Any, int] = {connection: i for i, (_, connection) in enumerate(self._workers)}
        return [(numbers[ready], _received(ready)) for ready in wait([*numbers], seconds)]

    def renew(self, worker: int) -> None:
        """End a worker and start another one in its place."""
        _end(*self._workers[worker])
        self._workers[worker] = self._start()

    def close(self) -> None:
        """End all workers, whatever they do. Does nothing in a forked copy of this process."""
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            return
        for process, _ in self._workers:
            process.kill()
        while self._workers:
            _end(*self._workers.pop())

    def _start(self) -> tuple[BaseProcess, Connection]:
        """Return a process and our end of its pipe; no other process has a copy of the worker's end.

        So the pipe ends where the worker dies, even in the middle of an answer.
        """
        with _interrupts_held():
            ours, theirs = self._context.Pipe()
            forked = self._context.get_start_method() == "fork"
            copies = [ours, *(other for _, other in self._workers)] if forked else []
            process = self._context.Process(
                target=_serve,
                args=(_WorkerEnd(theirs), copies, self._make, gc.get_threshold()),
                daemon=True,
            )
            process.start()
            theirs.close()
        return process, ours


def _end(process: BaseProcess, connection: Connection) -> None:
    process.kill()
    process.join()
    connection.close()


def _received(connection: Any) -> Any:
    try:
        return connection.recv()
    except (EOFError, OSError):
        return DIED


class _Begun(NamedTuple):
    """An item that is begun: its number, how it is worked on, and the seconds for each task."""

    number: int
    retrying: Retrying[Any]
    seconds: float


class Scheduler(Generic[Item, Made]):
    """Gives the workers of a pool tasks for items, one to a worker at a time, and tries items again.

    retrying: how an item is worked on, and tried again
    ahead:    how many items are held at most, with those that are finished before an earlier one
    ready:    a first task for each worker, by which it makes itself ready
    patience: seconds after which a worker with a task for an item hangs; weight: an item's factor for these
    """

    clock = staticmethod(time.monotonic)

    def __init__(
        self,
        pool: WorkerPool,
        retrying: Callable[[Item], Retrying[Made]],
        ahead: int,
        *,
        ready: Any = None,
        patience: float = math.inf,
        weight: Callable[[Item], float] = lambda _: 1.0,
    ) -> None:
        self._pool, self._retrying, self._ahead, self._ready = pool, retrying, ahead, ready
        self._patience, self._weight = patience, weight
        self._running: dict[int, tuple[_Begun | None, float]] = {}  # None: it makes itself ready; until when
        self._idle, self._again = list[int](), deque[tuple[_Begun, Any]]()
        self._begun, self._finished = 0, dict[int, Made]()
        self._failed_starts, self._deaths = [0] * pool.size, 0

    def run(self, items: Iterable[Item]) -> Iterator[Made]:
        """Yield what is made of each item, in order.

        Raises ChildProcessError where a worker dies at its start several times in a row, and where one worker
        after the other dies.
        """
        stream, following = iter(items), 0
        for worker in range(self._pool.size):
            self._prepare(worker)
        while True:
            while self._idle and (following_task := self._next(stream, following)):
                begun, task = following_task
                self._submit(self._idle.pop(), begun, task, self.clock() + begun.seconds)
            if self._idle and following == self._begun:
                return  # other workers may still make themselves ready
            for worker, answer in self._answered(following in self._finished):
                self._take(worker, answer)
            if following in self._finished:
                yield self._finished.pop(following)
                following += 1

    def _next(self, stream: Iterator[Item], following: int) -> tuple[_Begun, Any] | None:
        if self._again:
            return self._again.popleft()
        if self._begun - following < self._ahead:
            for item in stream:
                begun = _Begun(self._begun, self._retrying(item), self._patience * self._weight(item))
                self._begun += 1
                return begun, next(begun.retrying)
        return None

    def _prepare(self, worker: int) -> None:
        if self._ready is None:
            self._idle.append(worker)
        else:
            self._submit(worker, None, self._ready, math.inf)

    def _submit(self, worker: int, begun: _Begun | None, task: Any, until: float) -> None:
        self._running[worker] = begun, until
        self._pool.submit(worker, task)

    def _answered(self, at_once: bool) -> list[tuple[int, Any]]:
        """Return the answers that have come, or `Failed` for each worker that hangs."""
        soonest = min((until for _, until in self._running.values()), default=math.inf)
        seconds = 0.0 if at_once else min(max(0.0, soonest - self.clock()), _LONGEST_WAIT)
        if (answers := self._pool.answers(seconds)) or soonest > (now := self.clock()):
            return answers
        hangs = Failed(f"it took longer than {self._patience:g} s", gone=True)
        return [(worker, hangs) for worker, (_, until) in self._running.items() if until <= now]

    def _take(self, worker: int, answer: Any) -> None:
        """Go on with the answer of a worker; a worker that had nothing to do may have died, too."""
        begun, _ = self._running.pop(worker, (None, 0.0))
        if isinstance(answer, Failed) and answer.gone:
            self._failed_starts[worker] += begun is None
            self._deaths += begun is not None
            if self._failed_starts[worker] >= _STARTS:
                raise ChildProcessError(
                    "workers die as they load the model: they are killed, or memory is short"
                )
            if self._deaths > _DEATHS:
                raise ChildProcessError(
                    f"{self._deaths} workers died one after the other and nothing was done in between: they "
                    "are killed, or memory is short; fewer workers or smaller batches need less"
                )
            if worker in self._idle:
                self._idle.remove(worker)
            self._pool.renew(worker)
            self._prepare(worker)
        else:
            self._failed_starts[worker] = 0
            self._deaths = self._deaths if begun is None else 0
            self._idle.append(worker)
        if begun is not None:
            try:
                self._again.append((begun, begun.retrying.send(answer)))
            except StopIteration as end:
                self._finished[begun.number] = end.value
        elif isinstance(answer, Failed) and answer.error:
            raise answer.error


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back: processes that are started meanwhile never see it, this one sees it at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _WorkerEnd:
    """A worker's end of its pipe. The other end is closed when the first process ends, in whatever way; then
    the worker ends, too.

    A fresh worker watches the pipe as soon as this end is unpickled, before the next arguments, which import
    large packages.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __setstate__(self, state: dict[str, Connection]) -> None:
        self.connection = state["connection"]
        self.watch()

    def watch(self) -> None:
        """End this process with the first one; signals are for that one to handle."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self.connection.fileno(), 0)  # of nothing but the other end's closing
        poll.poll()
        os._exit(1)


def _serve(
    end: _WorkerEnd,
    copies: Sequence[Connection],
    make: Callable[[], Work[Any, Any]],
    thresholds: tuple[int, int, int],
) -> None:
    """Answer each item, in a worker, with what is made of it, or with a `Failed` that has the error.

    copies:     of the first process's ends of pipes, which a forked worker has and must not keep open
    thresholds: of the garbage collector, those of the first process
    """
    for copy in copies:
        copy.close()
    if copies:
        end.watch()
    connection = end.connection
    gc.set_threshold(*thresholds)
    work: Work[Any, Any] | None = None
    with suppress(EOFError, OSError):  # the first process has gone
        while True:
            item = connection.recv()
            try:
                work = work or make()
                answer = work(item)
            except Exception as error:
                answer = Failed(str(error), error=_sendable(error))
            connection.send(answer)


def _sendable(error: Exception) -> Exception:
    """Return an error, or, where it cannot be pickled, as many of libraries, one that says the same."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # of any kind: its own code runs
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
