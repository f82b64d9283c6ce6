"""What several scripts share: tables on standard output, progress, options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from d2c.experiments.significance import approximate_randomisation, counted_matches
from d2c.trees.scores.matches import Score
from papers.table import Cell, Table

FilePath = click.Path(path_type=Path)
Line = Sequence[Cell]  # of a table


class Used(NamedTuple):
    """What some work took: seconds by the clock and of CPU time, the most memory; of a process also the
    checksum of its standard output."""

    seconds: float
    cpu: float
    kilobytes: int
    checksum: int = 0


# Runs a command and prints what it took; it is small, as a new process counts its parent's memory as its own.
_LAUNCHER = """
import os, subprocess, sys, time, zlib
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
checksum = zlib.crc32(process.stdout.read())
_, status, used = os.wait4(process.pid, 0)
seconds, process.returncode = time.perf_counter() - start, os.waitstatus_to_exitcode(status)
print(process.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, checksum)
"""


def run(command: Sequence[str], given: bytes = b"") -> Used:
    """Run a whole process; given: its standard input. Raises CalledProcessError."""
    launched = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    said = subprocess.run(launched, cwd=Path.home(), input=given, stdout=subprocess.PIPE, check=True).stdout
    status, seconds, cpu, kilobytes, checksum = said.decode().split()
    if int(status):
        raise subprocess.CalledProcessError(int(status), command)
    return Used(float(seconds), float(cpu), int(kilobytes), int(checksum))


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
    found = approximate_randomisation(counted_matches(reference), counted_matches(scores))
    return [found.points, f"{found.p:.4f}"]


def names_option(option: str, known: Collection[str], default: str) -> Callable[[Any], Any]:
    """Return an option that takes known names, separated by commas; a name may go on after a colon."""

    def convert(_: click.Context, parameter: click.Parameter, value: str) -> list[str]:
        given = value.split(",")
        for name in given:
            if name.partition(":")[0] not in known:
                raise click.BadParameter(f"{name!r} is none of {', '.join(known)}", param=parameter)
        return given

    return click.option(option, callback=convert, default=default, show_default=True)
