"""Work on several cores: processes that end with this one, and results in the order of what came in."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
Work = Callable[[Item], Made]

_make: Callable[[], Work[Any, Any]]  # in a worker: what it was started for
_work: Work[Any, Any] | None = None  # what that made


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
    with _workers(make, jobs, fresh) as pool:
        pending: deque[Future[Made]] = deque()
        for item in items:
            with _interrupts_held():
                pending.append(pool.submit(_run, item))
            while pending and (len(pending) > 3 * jobs or pending[0].done()):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


@contextmanager
def _workers(make: Callable[[], Work[Any, Any]], jobs: int, fresh: bool) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once after an error, or when this process ends and with it its end of a pipe."""
    context = multiprocessing.get_context("spawn" if fresh else "fork")
    theirs, ours = context.Pipe(duplex=False)
    lifeline = _Lifeline(theirs, ours)
    with theirs, ours, ProcessPoolExecutor(jobs, context, _start, (lifeline, make)) as pool:
        try:
            yield pool
        except BaseException as error:
            ours.close()
            if isinstance(error, BrokenProcessPool):
                message = "a worker process died: it was killed, or memory was short"
                raise ChildProcessError(message) from None
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits: processes that are started meanwhile never see one, the first one sees it at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
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
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            with suppress(AttributeError):  # not everywhere
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        self.ours.close()  # the copy that was inherited
        threading.Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        self.theirs.poll(None)  # nothing is ever sent: it returns when the other end is closed
        os._exit(1)


def _start(lifeline: _Lifeline, make: Callable[[], Work[Any, Any]]) -> None:
    global _make
    lifeline.watch()
    _make = make


def _run(item: Any) -> Any:
    global _work
    if _work is None:
        _work = _make()
    return _work(item)
