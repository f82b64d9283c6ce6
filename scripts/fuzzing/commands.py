"""The command line as a user meets it, called in this process: what it may say and leave behind."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple

from d2c.__main__ import main
from fuzzing.children import Fault, redirect

READ, REFUSED, PARTLY = 0, 2, 3  # as docs/commands.md has them; the last one of `parse` and `corpus`
NO_MEMORY = ("Unable to allocate", "MemoryError", "bad_alloc", "memory is short")
LONGEST = 2_000  # characters of a line on standard error
KEPT = "see --resume"  # ends the line on what an interrupted run has kept
TOLD = ("left out", "sets how many are", KEPT, "--strict refuses them")  # ends of lines that are no errors
KEPTS = (".part", ".part.log")  # ends of the names of the files that it has kept


class Done(NamedTuple):
    """How a command ended: its exit status and what it wrote."""

    status: int
    output: bytes
    errors: str


def d2c(*arguments: str, stdin: Path | None = None) -> Done:
    """Run a command in the directory of this process. Raises Fault where it ended as no command may."""
    with tempfile.TemporaryDirectory(prefix="out.", dir="..") as beside:
        files = [Path(beside) / name for name in ("out", "err")]
        before = {*os.listdir()}
        redirect(stdin or Path("/dev/null"), 0)
        for descriptor, file in enumerate(files, 1):
            redirect(file, descriptor)
        ended = status_of(arguments)
        status, raised = (1, ended) if isinstance(ended, str) else (ended, "")
        sys.stdout.flush()
        sys.stderr.flush()
        output, errors = (file.read_bytes() for file in files)
    done = Done(status, output, errors.decode("utf-8", "replace") + raised)
    said = f"d2c {' '.join(arguments)}\nexit status {status}\n{done.errors[-3000:]}"
    for fault, found in _faults(done, arguments[0]):
        if found:
            raise Fault(f"{fault}: {said}")
    left = unwanted({*os.listdir()} - before, done.errors)
    if status == REFUSED and left:
        raise Fault(f"leaves {', '.join(left)}: {said}")
    if any(name.startswith(".") for name in left):
        raise Fault(f"leaves a temporary file: {said}")
    return done


def unwanted(left: set[str], errors: str) -> set[str]:
    """Return which new files a refused run may not leave: all but those that it says it has kept."""
    kept = KEPTS if any(line.endswith(KEPT) for line in errors.splitlines()) else ()
    return {name for name in left if not name.endswith(kept)}


def status_of(arguments: tuple[str, ...]) -> int | str:
    """Return the exit status, or the traceback of what was raised instead."""
    sys.argv = ["d2c", *arguments]
    try:
        main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        return traceback.format_exc()
    return 0


def _faults(done: Done, command: str) -> list[tuple[str, bool]]:
    lines = done.errors.split("\n")[:-1]
    errors = [line for line in lines if line.startswith("d2c: ")]
    # `train` and `corpus` say what they do.
    said = errors if command in ("train", "corpus") else [line for line in lines if not line.endswith(TOLD)]
    usage = lines[:1] and lines[0].startswith("Usage: ") and lines[-1].startswith("Error: ")
    allowed = {READ, REFUSED} | ({PARTLY} if command in ("parse", "corpus") else set())
    return [
        ("a traceback", "Traceback" in done.errors),
        ("an exit status that is not documented", done.status not in allowed),
        ("no line says why", done.status == REFUSED and not errors and not usage),
        ("more than lines of errors", done.status == REFUSED and not usage and len(errors) < len(said)),
        ("a line too long to be read", any(len(line) > LONGEST for line in lines)),
        ("control characters", len(lines) != len(done.errors.splitlines()) or "\x1b" in done.errors),
        ("no memory", any(word in done.errors for word in NO_MEMORY)),
    ]
