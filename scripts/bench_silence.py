"""How long a command is silent at most, phase by phase.

    python scripts/bench_silence.py [--most 20] COMMAND...

Runs the command, as `d2c train ...`, passes on what it says on standard output and standard error, and prints
the longest gap after each kind of line: what begins alike, up to a number. Where one is too long, the exit
status is 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

import click

from measuring.tables import print_table

START = "(start)"


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--most", default=20.0, show_default=True, help="Seconds of silence that are allowed.")
@click.argument("command", nargs=-1, required=True)
def main(most: float, command: tuple[str, ...]) -> None:
    """Measures the silence of a command."""
    longest: dict[str, float] = {}
    phase, since = START, time.monotonic()

    def end(next_phase: str) -> None:
        nonlocal phase, since
        now = time.monotonic()
        longest[phase] = max(longest.get(phase, 0.0), now - since)
        phase, since = next_phase, now

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            end(phase_of(line))
            sys.stderr.write(line)
    end("")
    print_table(("phase", "longest silence, s"), list(longest.items()))
    if process.returncode or max(longest.values()) > most:
        sys.exit(1)


def phase_of(line: str) -> str:
    """The beginning of a line up to its first number."""
    return re.split(r"[0-9]", line.strip(), maxsplit=1)[0].strip()[:60] or START


if __name__ == "__main__":
    main()
