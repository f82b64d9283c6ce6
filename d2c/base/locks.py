"""Locks of parts that all threads share: of the whole process, since models are copied to other ones."""

from __future__ import annotations

import os
from threading import RLock


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
