"""What commands say on standard error: lines, progress, what was repaired."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Protocol, TypeVar

import click

from d2c.base.counting import many
from d2c.base.errors import FormatError, printable
from d2c.trees.repair import Repairs

Item = TypeVar("Item")


def say(said: object) -> None:
    """Print a line, or several. Work does not end because nobody can read what is said about it."""
    with suppress(OSError):
        click.echo("\n".join(map(printable, str(said).split("\n"))), err=True)


class Skipped:
    """Names the sentences that are left out of files, each once, however often a file is read."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self.last: dict[str, int] = {}  # of each file: its last sentence that was named

    def __call__(self, error: FormatError) -> None:
        if error.sentence > self.last.get(error.file, 0):
            self.last[error.file] = error.sentence
            self.counts[error.file] += 1
            say(f"d2c: {error}")

    def report(self) -> None:
        """Prints how many there were in each file."""
        for file, count in self.counts.items():
            say(f"{file}: {count:,} left out")


def shown(items: Iterable[Item], unit: str, doing: str) -> Iterator[Item]:
    """Hands the items on, with a progress bar on a terminal that says what is done with which file."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return iter(tqdm(items, doing, unit=f" {unit}", leave=False))
    return iter(items)


class More(Protocol):
    """Is told how many more sentences and tokens were parsed, and what share is done, where it is known."""

    def __call__(self, sentences: int, tokens: int, share: float = 0.0, /) -> None: ...


@contextmanager
def progress(doing: str, every: float = 10.0, tell: Callable[[object], None] = say) -> Iterator[More]:
    """A function that is told how far the work is, which is called `doing`.

    It shows that by a bar on a terminal, elsewhere by a line, about every so many seconds: how much is done,
    and, by the share, how much time is left.
    """
    begin = last = time.monotonic()
    sentences = tokens = 0

    def line(more_sentences: int, more_tokens: int, share: float = 0.0) -> None:
        nonlocal last, sentences, tokens
        sentences, tokens, now = sentences + more_sentences, tokens + more_tokens, time.monotonic()
        if now - last >= every:
            last, seconds = now, now - begin
            left = f", about {timedelta(seconds=round(seconds / share - seconds))} left" if share else ""
            elapsed = timedelta(seconds=round(seconds))
            speed = many(round(tokens / seconds), "token")
            tell(f"{doing}: {many(sentences, 'sentence')}, {speed}/s, {elapsed}{left}")

    if not sys.stderr.isatty():
        yield line
        return
    from tqdm import tqdm

    with tqdm(desc=doing, unit=" sentences", leave=False) as bar:

        def longer(more_sentences: int, _: int, share: float = 0.0) -> None:
            if share:
                bar.total = round((bar.n + more_sentences) / share)
            bar.update(more_sentences)

        yield longer


def report_repairs(repairs: Repairs) -> None:
    """Prints how much was decoded, and what of it was repaired."""
    say(f"{many(repairs.sentences, 'sentence')}, {many(repairs.tokens, 'token')}, {repairs}")
