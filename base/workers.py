"""Work on several cores: processes that end with this one, and results in the order of what came in."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
Work = Callable[[Item], Made]


def in_order(
    make: Callable[[], Work[Item, Made]], items: Iterable[Item], jobs: int, fresh: bool = False
) -> Iterator[Made]:
    """work(item) for every item, in order, on `jobs` processes, each of which makes `work` once.

    About three items for each process are held at a time. One job, or one item, needs no other process.

    fresh: the processes start anew, as models with threads or on a GPU need: `make` and items are pickled.
           Otherwise they are forked, and what `make` holds, large models perhaps, is shared.

    An error of `work`, `make` or `items` is raised here, after the results of all items before it. The
    processes end with the iterator, and with this process, however that one ends. Raises ChildProcessError
    where one dies.
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
        yield from _spread(make, chain(first, stream), jobs, fresh)
    elif first or not failed:
        yield from map(make(), chain(first, stream))
    if failed:
        raise failed[0]


def _spread(
    make: Callable[[], Work[Item, Made]], items: Iterable[Item], jobs: int, fresh: bool
) -> Iterator[Made]:
    with _workers(make, jobs, fresh) as idle, ThreadPoolExecutor(jobs) as threads:
        pending: deque[Future[Made]] = deque()
        try:
            for item in items:
                pending.append(threads.submit(_ask, idle, item))
                while pending and (len(pending) > 3 * jobs or pending[0].done()):
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BaseException:
            for waiting in pending:
                waiting.cancel()
            idle.kill()  # so that no thread waits for an answer
            raise


def _ask(idle: _Workers, item: Any) -> Any:
    """What a worker makes of an item; there are as many workers as threads."""
    worker = idle.get()
    try:
        worker.connection.send(item)
        made, error = worker.connection.recv()
    except (EOFError, OSError):
        raise ChildProcessError("a worker process died: it was killed, or memory was short") from None
    finally:
        idle.put(worker)
    if error is not None:
        raise error
    return made


class Worker(NamedTuple):
    """A process, and our end of the pipe on which it gets items and gives what it makes of them.

    It answers each item with a pair: what it made, or None and the error that this led to. Each has a pipe of
    its own, of which nobody else holds the other end: so one that dies, even in the middle of an answer, is
    known by the end of the pipe.
    """

    process: BaseProcess
    connection: Connection


class _Workers(SimpleQueue[Worker]):
    """Those that have nothing to do; `everyone` is all."""

    everyone: tuple[Worker, ...] = ()

    def kill(self) -> None:
        for worker in self.everyone:
            worker.process.kill()


@contextmanager
def _workers(make: Callable[[], Work[Any, Any]], jobs: int, fresh: bool) -> Iterator[_Workers]:
    """Processes that end with the block, or when this process ends and with it its end of a pipe."""
    workers = _Workers()
    with hiring(fresh) as hire:
        for _ in range(jobs):
            workers.everyone += (hire(make),)
            workers.put(workers.everyone[-1])
        yield workers


@contextmanager
def hiring(fresh: bool) -> Iterator[Callable[[Callable[[], Work[Any, Any]]], Worker]]:
    """A function that starts a worker; all end with the block, or when this process ends.

    fresh, make: as for `in_order`
    """
    context: Any = multiprocessing.get_context("spawn" if fresh else "fork")
    lifeline, hired = _Lifeline(*context.Pipe(duplex=False)), list[Worker]()

    def hire(make: Callable[[], Work[Any, Any]]) -> Worker:
        with _interrupts_held():
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(lifeline, theirs, make), daemon=True)
            process.start()
            theirs.close()
            hired.append(Worker(process, ours))
        return hired[-1]

    try:
        yield hire
    finally:
        for worker in hired:
            worker.process.kill()
        for process, connection in hired:
            process.join()
            connection.close()
        lifeline.close()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits: processes that are started meanwhile never see one, the first one sees it at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Lifeline:
    """A pipe: when the first process closes its end, or dies, who watches the other end dies, too.

    A fresh worker watches as soon as it has been unpickled, before what comes next imports large packages.
    """

    def __init__(self, theirs: Connection, ours: Connection) -> None:
        self.theirs, self.ours, self.watched = theirs, ours, False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.watch()

    def watch(self) -> None:
        """In a worker: ends it with the first process; signals are for that one to handle."""
        if self.watched:
            return
        self.watched = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.ours.close()  # the copy that was inherited
        threading.Thread(target=self._end, daemon=True).start()

    def close(self) -> None:
        """In the first process: ends those that watch."""
        self.theirs.close()
        self.ours.close()

    def _end(self) -> None:
        self.theirs.poll(None)  # nothing is ever sent: it returns when the other end is closed
        os._exit(1)


def _serve(lifeline: _Lifeline, connection: Connection, make: Callable[[], Work[Any, Any]]) -> None:
    """In a worker: answers each item with what is made of it, or with the error that this led to."""
    lifeline.watch()
    work: Work[Any, Any] | None = None
    with suppress(EOFError, OSError):  # the first process has gone
        while True:
            item = connection.recv()
            try:
                work = work or make()
                answer: tuple[Any, Exception | None] = work(item), None
            except Exception as error:
                answer = None, error
            connection.send(answer)
