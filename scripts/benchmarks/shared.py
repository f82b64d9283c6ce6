"""What several scripts share: tables on standard output, progress, options."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from papers.table import Cell, Table

FilePath = click.Path(path_type=Path)
Line = Sequence[Cell]  # of a table


class Used(NamedTuple):
    """What a process took: seconds by the clock and of CPU time, and the most memory."""

    seconds: float
    cpu: float
    kilobytes: int


def run(command: Sequence[str], given: bytes = b"") -> Used:
    """Run a whole process; given: its standard input. Raises CalledProcessError."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=Path.home(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Used(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)


def print_table(header: Sequence[str], rows: Sequence[Line]) -> None:
    """Print a table in Markdown."""
    print(Table(header, rows).markdown(), flush=True)


def say(progress: object) -> None:
    """Show how training goes on."""
    print(progress, file=sys.stderr, flush=True)


def difference(reference: Sequence[Score], scores: Sequence[Score]) -> list[Cell]:
    """Return points and p of the difference to other scores, by paired approximate randomisation."""
    if scores is reference:
        return [None, None]
    found = approximate_randomisation(reference, scores)
    return [found.points, f"{found.p:.4f}"]


def names_option(option: str, known: Collection[str], default: str) -> Callable[[Any], Any]:
    """Return an option of known names with commas between them; what follows a colon is a name's own."""

    def convert(_: click.Context, parameter: click.Parameter, value: str) -> list[str]:
        given = value.split(",")
        for name in given:
            if name.partition(":")[0] not in known:
                raise click.BadParameter(f"{name!r} is none of {', '.join(known)}", param=parameter)
        return given

    return click.option(option, callback=convert, default=default, show_default=True)
