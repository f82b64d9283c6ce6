"""What commands say on standard error: lines, progress, what was repaired."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

from d2c.trees.repair import Repairs

Item = TypeVar("Item")


def say(line: object) -> None:
    """Prints a line."""
    click.echo(str(line), err=True)


def shown(items: Iterable[Item], unit: str) -> Iterator[Item]:
    """Hands the items on, with a progress bar on a terminal."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return iter(tqdm(items, unit=f" {unit}", leave=False))
    return iter(items)


def report_repairs(repairs: Repairs) -> None:
    """Prints how much was decoded, and what of it was repaired."""
    say(f"{repairs.sentences:,} sentences, {repairs.tokens:,} tokens, {repairs}")
