"""What commands say on standard error: lines, progress, what was repaired."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

import click

from d2c.trees.errors import FormatError
from d2c.trees.repair import Repairs

Item = TypeVar("Item")


def say(line: object) -> None:
    """Prints a line. Work does not end because nobody can read what is said about it."""
    with suppress(OSError):
        click.echo(str(line), err=True)


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


def shown(items: Iterable[Item], unit: str) -> Iterator[Item]:
    """Hands the items on, with a progress bar on a terminal."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return iter(tqdm(items, unit=f" {unit}", leave=False))
    return iter(items)


def report_repairs(repairs: Repairs) -> None:
    """Prints how much was decoded, and what of it was repaired."""
    say(f"{repairs.sentences:,} sentences, {repairs.tokens:,} tokens, {repairs}")
