"""Locks on what all threads share. They belong to the process: models are copied to others, locks are not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any


class SharedLock:
    """A lock for `with` blocks, which may be nested in one thread.

    A forked process has only the thread that forked it. A lock that another thread held at that moment would
    stay held there for ever, so the forked process gets a new one.
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
_LIMITS: list[tuple[Any, int | None]] = []  # for each `one_thread`: BLAS's limit; torch's number before


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numerical libraries compute with one thread: for a sentence, two wait longer than they compute, and
    sums may depend on how many share them.

    OpenMP has a number of threads for each thread. BLAS and torch have one for the whole process: where
    threads overlap, the second finds the limit of the first. So whoever leaves lifts the newest limit; the
    last to leave lifts the first limit, and what the program had set holds again.
    """
    from threadpoolctl import ThreadpoolController  # only where models are used

    with _POOLS:
        pools, torch = ThreadpoolController(), sys.modules.get("torch")
        of_torch = None  # the program's number, if torch is in use and no other thread has noted it
        if torch is not None and all(number is None for _, number in _LIMITS):
            of_torch = torch.get_num_threads()  # before OpenMP has 1, which torch would say
        # Selected, as lifting a limit on one kind restores all kinds.
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
    """Let other threads limit BLAS: after a thread's first limit, threadpoolctl 3.8 ignores theirs until that
    thread leaves a block of its own."""
    with pools.limit(limits=None):
        pass
