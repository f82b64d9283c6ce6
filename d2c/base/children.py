"""Programs that this process runs. They end when it ends, in any way, and may write any amount of output."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

_GUARD = Path(__file__).parent / "guard.py"
_LINE = 4096  # characters of a line that are kept together


class Child:
    """A program that is killed, with all that it has started, at the end of the block or of this process.

    command: the program and its arguments, no shell; heard: whether `lines` can read its standard error
    Raises ChildProcessError where it cannot be run.
    """

    def __init__(self, command: Sequence[str], heard: bool = True) -> None:
        if shutil.which(command[0]) is None:
            reason = os.strerror(errno.EACCES if os.path.exists(command[0]) else errno.ENOENT)
            raise ChildProcessError(f"cannot be run: {reason}")
        theirs, ours = os.pipe()
        self._pipe = open(ours, "wb", buffering=0)  # noqa: SIM115 (`kill` closes it)
        guarded = [sys.executable, "-I", "-S", str(_GUARD), str(theirs), *command]
        try:
            self.process = subprocess.Popen(
                guarded,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE if heard else subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                pass_fds=[theirs],
                start_new_session=True,  # Ctrl-C is for us alone
            )
        except OSError as error:
            self.kill()
            raise ChildProcessError(f"cannot be run: {error.strerror}") from None
        finally:
            os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        with suppress(BrokenPipeError):
            self.process.__exit__(None, None, None)

    def kill(self) -> None:
        """Kill the program and all that it has started."""
        self._pipe.close()

    def give(self, text: str) -> None:
        """Write the program's whole standard input. If it has ended already, standard error may say why."""
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.write(text)
            self.process.stdin.close()

    def lines(self) -> Iterator[str]:
        """Yield its lines on standard error that are not blank, long ones in pieces, until it ends."""
        assert self.process.stderr
        while line := self.process.stderr.readline(_LINE):
            if line := line.strip():
                yield line


def run(command: Sequence[str], given: str = "", seconds: float | None = None) -> Generator[str, None, None]:
    """Run a program with a text as its standard input; yield what it says, as `Child.lines` does.

    seconds: after which the program is killed
    Raises ChildProcessError where it cannot be run, is killed, or fails; then the message has its last line.
    """
    last, late = "no message", threading.Event()
    with Child(command) as child:

        def stop() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(seconds or 0, stop)
        timer.daemon = True
        if seconds is not None:
            timer.start()
        try:
            child.give(given)
            for last in child.lines():
                yield last
            status = child.process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        raise ChildProcessError(f"was ended after {seconds:g} s, as --timeout says")
    if status:
        raise ChildProcessError(f"failed (exit status {status}): {last}")
