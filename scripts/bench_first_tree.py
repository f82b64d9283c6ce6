"""From nothing to a tree of free text: seconds and CPU seconds of the first and of the second call.

    python scripts/bench_first_tree.py [MODEL] [--text TEXT]

Each line is a process: of the shell `echo TEXT | d2c parse MODEL --text`, of Python `d2c.load(MODEL)(TEXT)`.
The first call of each finds no compiled kernels, as after installation. CPU seconds are of all its processes.
For Python there is also how long loading takes, and then each of two calls in the same process. MODEL is a
name or a directory; without it, the model that comes with d2c.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import click

from measuring.tables import Line, print_table

HEADER = ["", "call", "s", "CPU s"]
CODE = """
import sys, time
times = [(time.perf_counter(), time.process_time())]
def lap():
    times.append((time.perf_counter(), time.process_time()))
import d2c
parser = d2c.load(sys.argv[2] or None)
lap()
doc = parser(sys.argv[1])
lap()
parser(sys.argv[1])
lap()
print(doc)
for (wall, cpu), (wall_after, cpu_after) in zip(times, times[1:]):
    print(wall_after - wall, cpu_after - cpu)
"""


@click.command()
@click.argument("model", required=False)
@click.option("--text", default="They saw the cat with glasses.", show_default=True)
def main(model: str | None, text: str) -> None:
    """Times the calls and prints the table."""
    lines: list[Line] = []
    shell = [sys.executable, "-m", "d2c", "parse", *([model, "-"] if model else []), "--text"]
    python = [sys.executable, "-c", CODE, text, model or ""]
    for name, command, given in (("shell", shell, f"{text}\n"), ("Python", python, "")):
        with tempfile.TemporaryDirectory() as kernels:
            for call in ("first", "second"):
                printed, *times = timed(command, given, kernels)
                lines.append([name, call, *times])
                lines.extend(parts(printed) if name == "Python" else ())
    print_table(HEADER, lines)


def timed(command: list[str], given: str, kernels: str) -> tuple[str, float, float]:
    """What a command prints, its seconds, and the CPU seconds of it and of all that it started."""
    environment = os.environ | {"NUMBA_CACHE_DIR": kernels}
    begin, before = time.perf_counter(), cpu_of_children()
    done = subprocess.run(
        command, input=given, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise click.ClickException("a measured command ended with an error")
    return done.stdout, time.perf_counter() - begin, cpu_of_children() - before


def parts(printed: str) -> Iterator[Line]:
    """Lines of what the Python process took the time of; other processes' CPU seconds are not among these."""
    for what, line in zip(("load", "call", "call again"), printed.splitlines()[-3:], strict=True):
        yield ["", what, *map(float, line.split())]


def cpu_of_children() -> float:
    """Of processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
