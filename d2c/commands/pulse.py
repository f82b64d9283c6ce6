"""Commands that are never silent for long: what is said, and, between that, what is being done."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Self

from d2c.base.progress import log
from d2c.commands.terminal import say

PATIENCE = 15.0  # seconds without a line: 20 are the most, and a thread may have to wait for its turn


class Pulse(logging.Handler):
    """Says lines, and where none came for PATIENCE seconds, what is being done.

    That is the last line, or what was told since to `d2c.base.progress`. A context: meanwhile a thread
    looks at the time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.DEBUG)
        self._clock, self._speaking, self._ended = clock, threading.RLock(), threading.Event()
        self._began = self._said_at = clock()
        self._doing: object = "starting"
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def say(self, line: object) -> None:
        """Says a line now."""
        with self._speaking:
            say(line)
            self._doing, self._said_at = line, self._clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Says what is for the user at once, and remembers the rest."""
        if record.levelno >= logging.INFO:
            self.say(record.getMessage())
        else:
            self._doing = record

    def beat(self) -> float:
        """Says what is being done where it is time to; returns in how many seconds it may be next."""
        with self._speaking:
            now = self._clock()
            if now < self._said_at + PATIENCE:
                return self._said_at + PATIENCE - now
            doing = self._doing
            text = doing.getMessage() if isinstance(doing, logging.LogRecord) else doing
            say(f"... {text} ({now - self._began:.0f} s so far)")
            self._said_at = now
            return PATIENCE

    def __enter__(self) -> Self:
        self._level = log.level
        log.setLevel(logging.DEBUG)
        log.addHandler(self)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        log.removeHandler(self)
        log.setLevel(self._level)
        self._ended.set()
        self._thread.join(1)

    def _watch(self) -> None:
        while not self._ended.wait(self.beat()):
            pass
