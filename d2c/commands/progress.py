"""The progress of long work: a bar of tqdm on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast

from d2c.base.counting import many
from d2c.base.files import bytes_read
from d2c.base.progress import log
from d2c.commands.terminal import say

Item = TypeVar("Item")
PATIENCE = 15.0  # seconds without a line; 20 are the most, but a thread may have to wait for its turn
_SHARE, _NO_SHARE = "{percentage:3.0f}% {elapsed}<{remaining}, {desc}", "... {elapsed}, {desc}"
_BAR = "{percentage:3.0f}% |{bar:12}| {elapsed}{left}, {desc}: {n_fmt}{unit}, {rate_fmt}"
_SETTLING = 5.0  # seconds of work after which the time that is left can be estimated
_TICK = 1.0  # seconds after which a terminal shows the time again
_LATELY = 60.0  # the time left is estimated from so many seconds, or the second half of the work if longer


class ReadShare:
    """Tells which share of files, read one after the other, has been read, and which share is done.

    read, done: how much has been read and done, as the caller counts
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self.read = self.done = self._size = 0
        self._before = dict[str, int]()  # bytes of the files before each
        self._last = 0.0
        for file in files:
            if not file.is_file():  # the end of a pipe is not known
                self._before.clear()
                break
            self._before[str(file)] = self._size
            self._size += file.stat().st_size

    def __call__(self) -> float:
        """Return the share that has been read; 0 where it is not known."""
        if self._size and self._before:
            read = (self._before[file] + at for file, at in bytes_read().items() if file in self._before)
            self._last = max(read, default=self._last * self._size) / self._size
        return self._last

    def over(self, items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[Item]:
        """Yield items, and add the size of each to what has been read."""
        for item in items:
            self.read += size(item)
            yield item

    def after(self, more: int) -> float:
        """Count `more` as done, and return the share that is done, at most what has been read."""
        self.done += more
        return self() * self.done / max(self.read, self.done, 1)


class TimeLeft:
    """Estimates how much time is left, from the share of the work that is done and how fast it grew lately.

    Time counts from the first share that is told: what was done before, by another run or while models were
    loaded, says nothing about the speed.
    """

    def __init__(self) -> None:
        self._told = deque[tuple[float, float]]()  # times and shares: about the last hundred
        self._began = 0.0

    def after(self, share: float) -> float | None:
        """Return how many seconds are left, now that this share is done; None where that is not known."""
        now, told = time.monotonic(), self._told
        self._began = self._began if told else now
        lately = max(_LATELY, (now - self._began) / 2)
        if not told or now - told[-1][0] > lately / 100:
            told.append((now, share))
        while len(told) > 2 and told[1][0] < now - lately:
            told.popleft()
        seconds, grown = now - told[0][0], share - told[0][1]
        return (1 - share) * seconds / grown if seconds >= _SETTLING and grown > 0 else None


def shown(items: Iterable[Item], unit: str, doing: str, files: Sequence[Path]) -> Iterator[Item]:
    """Yield the items, with a bar on a terminal that says what is being done with which file.

    There is no bar if standard output is a pipe: what `head` or `less` shows would share the bar's line.

    files: those from which the items are read, one after the other
    """
    seen = sys.stderr.isatty() and not Path("/dev/stdout").is_fifo()
    return _with_bar(items, unit, doing, files) if seen else iter(items)


def _with_bar(items: Iterable[Item], unit: str, doing: str, files: Sequence[Path]) -> Iterator[Item]:
    share = ReadShare(files)
    with progress(doing, unit=unit) as more:
        for item in items:
            yield item
            more(1, 0, share())


class More(Protocol):
    """Is told how many more sentences and tokens were parsed, and what share is done; 0 if not known."""

    def __call__(self, sentences: int, tokens: int, share: float = 0.0, /) -> None: ...


@contextmanager
def progress(
    doing: str,
    every: float = 10.0,
    tell: Callable[[object], None] = say,
    unit: str = "sentences",
    initial: int = 0,
) -> Iterator[More]:
    """Provide a function that is told how far the work called `doing` has got.

    On a terminal it shows a bar, whose clock keeps running; elsewhere a line about every so many seconds,
    with how much is done and, if the share is known, how much time is left.

    initial: how much was done before
    """
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        tokens, left = 0, ""

        @property
        def format_dict(self) -> Any:
            return {**super().format_dict, "left": self.left and f"<{self.left}"}

        def display(self, msg: str | None = None, pos: int | None = None) -> Any:
            if terminal:
                return super().display(msg, pos)
            if msg is None:  # otherwise the bar is to be removed
                seconds = max(self.format_dict["elapsed"], 1e-9)
                spent = timedelta(seconds=round(seconds))
                ahead = self.left and f", about {self.left} left"
                speed = many(round(self.tokens / seconds), "token")
                tell(f"{doing}: {many(int(self.n), 'sentence')}, {speed}/s, {spent}{ahead}")
            return False  # nothing is left on the line

    def more(sentences: int, tokens: int, share: float = 0.0) -> None:
        bar.tokens += tokens
        if share:
            bar.total, bar.bar_format = round((bar.n + sentences) / share), _BAR
            left = estimate.after(share)
            bar.left = "" if left is None else str(timedelta(seconds=round(left)))
        bar.update(sentences)

    def tick() -> float:
        bar.refresh()
        return _TICK

    estimate, terminal = TimeLeft(), sys.stderr.isatty()
    own: dict[str, Any] = {"dynamic_ncols": True}
    if not terminal:
        # What tqdm itself would write between lines is discarded: if writing failed, the work would end.
        own = {"mininterval": every, "miniters": 1, "delay": max(every, 1e-9), "file": StringIO()}
    with (
        Bar(desc=doing, unit=f" {unit}", initial=initial, leave=False, **own) as bar,
        _beating(tick) if terminal else nullcontext(),
    ):
        yield more


@contextmanager
def _beating(beat: Callable[[], float]) -> Iterator[None]:
    """Do something in a thread of its own: at once, and again after as many seconds as it returns."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(beat()):
            pass

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(1)


@contextmanager
def heartbeat() -> Iterator[Callable[[object], None]]:
    """Provide a function that says lines; unless on a terminal, a `Heartbeat` says others between them."""
    if sys.stderr.isatty():
        yield say
    else:
        with Heartbeat() as beating:
            yield beating.say


class Reached(Protocol):
    """A line on what training has reached after a step: an `Evaluation` or an `Epoch`.

    scored: the line without the time that it took
    at:     who is trained, and which share of that training is done
    """

    @property
    def scored(self) -> str: ...
    @property
    def at(self) -> tuple[str, float]: ...


class _Status:
    """The line on a terminal that says what is being done, and for how long, or which share is done."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=1, bar_format=_NO_SHARE, leave=False, dynamic_ncols=True)

    def show(self, doing: object, share: float | None, anew: bool = False) -> None:
        """Draw the line. anew: count the time from now on, as also happens when the share has become less"""
        bar, self._bar.bar_format = self._bar, _NO_SHARE if share is None else _SHARE
        bar.set_description_str(str(doing), refresh=False)
        if anew or (share or 0) < bar.n:
            bar.reset()
        bar.n = share or 0
        bar.refresh()

    def close(self) -> None:
        """Remove the line."""
        self._bar.close()


class Heartbeat(logging.Handler):
    """Says lines and, if none came for PATIENCE seconds, what is being done.

    What is being done is the last line, or a later message of `d2c.base.progress`. On a terminal it always
    stands below the lines, with the share of it that is done, if known; what a training has reached is said
    there only at its end. A context manager, inside which a thread looks at the time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.DEBUG)
        self._clock, self._speaking, self._beating = clock, threading.RLock(), _beating(self.beat)
        self._began = self._said_at = clock()
        self._doing: object = "starting"
        self._share: float | None = None
        self._reached: Reached | None = None  # and not said yet
        self._status: _Status | None = None

    def say(self, line: object) -> None:
        """Say a line now; on a terminal only show what a training has reached."""
        with self._speaking:
            if self._status and hasattr(line, "scored"):
                self._reach(cast(Reached, line), self._status)
            else:
                self._say(self._reached, line)

    def _reach(self, line: Reached, status: _Status) -> None:
        who, share = line.at
        if self._reached and (who != self._reached.at[0] or share <= self._reached.at[1]):
            self._say(self._reached)
        if share >= 1:
            self._say(line)
        else:
            self._reached, self._doing, self._share = line, line.scored, share
            status.show(self._doing, share)

    def _say(self, *lines: object) -> None:
        self._reached, self._share, self._doing, self._said_at = None, None, lines[-1], self._clock()
        if self._status:
            self._status.show(self._doing, None, anew=True)
        for line in filter(None, lines):
            say(line)

    def emit(self, record: logging.LogRecord) -> None:
        """Say records for the user (INFO and above) at once; remember others as what is being done."""
        if record.levelno >= logging.INFO:
            self.say(record.getMessage())
            return
        with self._speaking:
            share: float | None = getattr(record, "share", None)
            if self._reached is None:
                self._doing, self._share = record, share
            elif share is not None:
                self._share = share

    def beat(self) -> float:
        """Say what is being done, if it is time to; return in how many seconds to look again."""
        with self._speaking:
            now, doing = self._clock(), self._doing
            text = doing.getMessage() if isinstance(doing, logging.LogRecord) else doing
            if self._status:
                self._status.show(text, self._share)
                return _TICK
            if now < self._said_at + PATIENCE:
                return self._said_at + PATIENCE - now
            say(f"... {text} ({now - self._began:.0f} s so far)")
            self._said_at = now
            return PATIENCE

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._status = _Status()
        self._level = log.level
        log.setLevel(logging.DEBUG)
        log.addHandler(self)
        self._beating.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        log.removeHandler(self)
        log.setLevel(self._level)
        self._beating.__exit__(None, None, None)
        if self._reached:
            self._say(self._reached)
        if self._status:
            self._status.close()
