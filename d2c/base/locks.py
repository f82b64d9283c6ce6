"""Locks of parts that all threads share: of the whole process, since models are copied to other ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any


class SharedLock:
    """A lock for `with` blocks, which may be nested in one thread.

    A forked process has only the thread that forked. What another one held at that moment would stay held
    there for ever, so the lock is a new one there.
    """

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_POOLS = SharedLock()
_LIMITS: list[tuple[Any, int | None]] = []  # of BLAS, and torch's number before, for each `one_thread`


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numerical libraries compute with one thread: for a sentence, two wait longer than they compute, and
    sums may depend on how many share them.

    OpenMP has a number for each thread. Those of BLAS and torch are the whole process's: where threads
    overlap, the second finds the limit of the first. So whoever leaves lifts the newest limit, and the last
    one that of the first, behind which is what the program has set.
    """
    from threadpoolctl import ThreadpoolController  # only where models are used

    with _POOLS:
        pools, torch = ThreadpoolController(), sys.modules.get("torch")
        of_torch = None  # that of the program, if torch is in use and no other thread knows it
        if torch is not None and all(number is None for _, number in _LIMITS):
            of_torch = torch.get_num_threads()  # before OpenMP has 1, which torch would say
        # Selected, since a limit of one kind puts back all kinds.
        own, shared = (pools.select(user_api=kind) for kind in ("openmp", "blas"))
        of_openmp = own.limit(limits=1)
        _LIMITS.append((shared.limit(limits=1), of_torch))
        _give_up(shared)
        if torch is not None and of_torch is not None:
            torch.set_num_threads(1)
    try:
        yield
    finally:
        with _POOLS:
            of_blas, of_torch = _LIMITS.pop()
            of_blas.restore_original_limits()
            _give_up(shared)
            if of_torch is not None:
                sys.modules["torch"].set_num_threads(of_torch)
        of_openmp.restore_original_limits()


def _give_up(pools: Any) -> None:
    """Let other threads limit BLAS: threadpoolctl 3.8 ignores them from a thread's first limit on until that
    leaves a block of its own."""
    with pools.limit(limits=None):
        pass
