"""What commands say on standard error, and show of what others wrote."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext, suppress

import click

from d2c.base.counting import many
from d2c.base.errors import FormatError, printable
from d2c.trees.repair import Repairs


def say(said: object) -> None:
    """Print a line, or several, above the bars that are shown (`d2c.commands.progress`).

    Work does not end because nobody can read what is said about it.
    """
    bars = sys.modules.get("tqdm") if sys.stderr.isatty() else None
    with suppress(OSError), bars.tqdm.external_write_mode(sys.stderr) if bars else nullcontext():
        click.echo(_printable_lines(said), err=True)


def show(text: object) -> None:
    """Print what others wrote, on standard output: a terminal is to obey nothing in it."""
    click.echo(_printable_lines(str(text).expandtabs()))


def _printable_lines(text: object) -> str:
    return "\n".join(map(printable, str(text).split("\n")))


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
        """Print how many there were in each file."""
        for file, count in self.counts.items():
            say(f"{file}: {count:,} left out")


def report_repairs(repairs: Repairs) -> None:
    """Print how much was decoded, and what of it was repaired."""
    say(f"{many(repairs.sentences, 'sentence')}, {many(repairs.tokens, 'token')}, {repairs}")
