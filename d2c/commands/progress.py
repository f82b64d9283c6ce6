"""How far long work is: a bar of tqdm on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any, Protocol, Self, TypeVar

from d2c.base.counting import many
from d2c.base.progress import log
from d2c.commands.terminal import say

Item = TypeVar("Item")
PATIENCE = 15.0  # seconds without a line: 20 are the most, and a thread may have to wait for its turn


def shown(items: Iterable[Item], unit: str, doing: str) -> Iterator[Item]:
    """Yield the items, with a bar on a terminal that says what is done with which file."""
    if sys.stderr.isatty():
        from tqdm import tqdm  # 20 ms

        return iter(tqdm(items, doing, unit=f" {unit}", leave=False))
    return iter(items)


class More(Protocol):
    """Is told how many more sentences and tokens were parsed, and what share is done, where it is known."""

    def __call__(self, sentences: int, tokens: int, share: float = 0.0, /) -> None: ...


@contextmanager
def progress(doing: str, every: float = 10.0, tell: Callable[[object], None] = say) -> Iterator[More]:
    """Provide a function that is told how far the work is, which is called `doing`.

    It shows that by a bar on a terminal, elsewhere by a line, about every so many seconds: how much is done,
    and, by the share, how much time is left.
    """
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        tokens = 0

        def display(self, msg: str | None = None, pos: int | None = None) -> Any:
            if terminal:
                return super().display(msg, pos)
            if msg is None:  # otherwise it is to be removed
                seconds = max(self.format_dict["elapsed"], 1e-9)
                spent = timedelta(seconds=round(seconds))
                left = round(seconds / self.n * (self.total - self.n)) if self.total and self.n else None
                ahead = "" if left is None else f", about {timedelta(seconds=left)} left"
                speed = many(round(self.tokens / seconds), "token")
                tell(f"{doing}: {many(int(self.n), 'sentence')}, {speed}/s, {spent}{ahead}")
            return False  # nothing is left on the line

    def more(sentences: int, tokens: int, share: float = 0.0) -> None:
        bar.tokens += tokens
        if share:
            bar.total = round((bar.n + sentences) / share)
        bar.update(sentences)

    terminal = sys.stderr.isatty()
    lines: dict[str, Any] = {"mininterval": every, "miniters": 1, "delay": max(every, 1e-9)}
    # What tqdm itself would write between lines goes nowhere: work does not end where that cannot be.
    lines["file"] = StringIO()
    with Bar(desc=doing, unit=" sentences", leave=False, **({} if terminal else lines)) as bar:
        yield more


class Heartbeat(logging.Handler):
    """Says lines, and where none came for PATIENCE seconds, what is being done.

    That is the last line, or what was told since to `d2c.base.progress`; on a terminal it stands below the
    lines all the time. A context: meanwhile a thread looks at the time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.DEBUG)
        self._clock, self._speaking, self._ended = clock, threading.RLock(), threading.Event()
        self._began = self._said_at = clock()
        self._doing: object = "starting"
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._bar: Any = None

    def say(self, line: object) -> None:
        """Say a line now."""
        with self._speaking:
            say(line)
            self._doing, self._said_at = line, self._clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Say what is for the user at once, and remember the rest."""
        if record.levelno >= logging.INFO:
            self.say(record.getMessage())
        else:
            self._doing = record

    def beat(self) -> float:
        """Say what is being done where it is time to; return in how many seconds it may be next."""
        with self._speaking:
            now, doing = self._clock(), self._doing
            text = doing.getMessage() if isinstance(doing, logging.LogRecord) else doing
            if self._bar is not None:
                self._bar.set_description_str(str(text))
                return 1.0
            if now < self._said_at + PATIENCE:
                return self._said_at + PATIENCE - now
            say(f"... {text} ({now - self._began:.0f} s so far)")
            self._said_at = now
            return PATIENCE

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(bar_format="... {desc} ({elapsed} so far)", leave=False)
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
        if self._bar is not None:
            self._bar.close()

    def _watch(self) -> None:
        while not self._ended.wait(self.beat()):
            pass
