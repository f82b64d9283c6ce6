"""What commands print and say, on a terminal that may show progress bars, too, or elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

from d2c.base.columns import terminal_width, wrapped
from d2c.base.counting import many
from d2c.base.errors import FormatError, printable
from d2c.base.memory import free_memory, memory_of
from d2c.trees.repair import Repairs

_EVERY = 0.1  # seconds until bars are drawn again, as in tqdm itself


def say(said: object) -> None:
    """Print lines on standard error, above the bars that are shown (`d2c.commands.progress`).

    Errors of writing are ignored: work goes on even if nobody can read what is said about it.
    """
    with suppress(OSError), _above_bars():
        click.echo("\n".join(map(printable, str(said).split("\n"))), err=True)


def show(lines: Iterable[str]) -> None:
    """Print lines in UTF-8, with control characters escaped, since others wrote some of the lines. Lines too
    long for a terminal are broken at blanks."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    width = terminal_width()
    for line in (printable(line.expandtabs()) for line in lines):
        sys.stdout.write("\n".join(wrapped(line, width) if width else [line]) + "\n")


@contextmanager
def printing_above_bars() -> Iterator[None]:
    """Make standard output a `_Screen` if it and standard error, which shows bars, are terminals."""
    plain = sys.stdout
    if not (plain.isatty() and sys.stderr.isatty()):
        yield
        return
    sys.stdout = screen = _Screen(plain.buffer, plain.encoding, plain.errors, line_buffering=True)
    try:
        yield
    finally:
        sys.stdout = plain
        screen.detach()


class _Screen(TextIOWrapper):
    """Standard output on a terminal: while there are bars, whole lines are printed above them.

    Between many lines, bars are drawn again only now and then, else they would be most of what is written.
    """

    _begun = ""  # the beginning of a line, kept while there is a bar
    _drawn = 0.0  # when the bars were last drawn

    def write(self, text: str, /) -> int:
        """Write a text; while there are bars, keep the beginning of an unfinished line."""
        length, text, self._begun = len(text), self._begun + text, ""
        if _bars():
            text, end, self._begun = text.rpartition("\n")
            text += end
        due = time.monotonic() - self._drawn > _EVERY
        with _above_bars(again=due):
            super().write(text)
            super().flush()
        if due:
            self._drawn = time.monotonic()
        return length

    def flush(self) -> None:
        """Write what is kept, unless there is a bar."""
        if self._begun and not _bars():
            self.write("")
        super().flush()


def _bars() -> Any:
    """Return the bars that are shown."""
    tqdm = sys.modules.get("tqdm")
    return getattr(tqdm.tqdm, "_instances", ()) if tqdm else ()


@contextmanager
def _above_bars(again: bool = True) -> Iterator[None]:
    """Remove the bars while something is written. again: draw them below it at once, not when they change"""
    bars = [bar for bar in _bars() if hasattr(bar, "start_t")] if sys.stderr.isatty() else []
    with sys.modules["tqdm"].tqdm.get_lock() if bars else nullcontext():
        for bar in bars:
            bar.clear(nolock=True)
        yield
        for bar in bars if again else ():
            bar.refresh(nolock=True)


class Skipped:
    """Reports sentences left out of files, `most` of each file, each once however often a file is read."""

    def __init__(self, most: int) -> None:
        self.most, self.counts = most, Counter[str]()
        self.known = set[tuple[str, type, int, str]]()  # of each error: file, kind, sentence, message

    def __call__(self, error: FormatError) -> None:
        if (key := (error.file, type(error), error.sentence, error.message)) not in self.known:
            self.known.add(key)
            self.counts[error.file] += 1
            if self.counts[error.file] <= self.most:
                say(f"d2c: {error}")

    def report(self) -> None:
        """Print how many sentences were left out of each file."""
        for file, count in self.counts.items():
            more = f", {count - self.most:,} of them not named; --max-errors sets how many are"
            say(f"{file}: {count:,} left out{more if count > self.most else ''}")


def report_repairs(repairs: Repairs) -> None:
    """Print how much was decoded, and how many repairs it needed."""
    say(f"{many(repairs.sentences, 'sentence')}, {many(repairs.tokens, 'token')}, {repairs}")


def warn_of_memory(models: Sequence[Path], processes: int, option: str) -> None:
    """Say how much memory is needed, if it is more than is free. option: sets the number of processes"""
    needed, free = processes * sum(map(memory_of, models)), free_memory()
    if free is not None and needed > free:
        names, gb = " and ".join(model.resolve().name for model in models), 1e9
        say(
            f"d2c: {many(processes, 'process')} with {names} may need {needed / gb:.1f} GB of memory, and "
            f"{free / gb:.1f} GB are free; a lower {option} and --batch-size need less"
        )


def report_cut(sentences: int, most: int) -> None:
    """Print how many sentences of more than `most` words were parsed in pieces, if any."""
    if sentences:
        say(f"{many(sentences, 'sentence')} of more than {most:,} words parsed in pieces; see --max-words")
