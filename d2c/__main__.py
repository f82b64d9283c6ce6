"""The program `d2c`, also `python -m d2c`: runs a command and ends with its exit status (docs/commands.md).

Signal handlers are set before anything is imported that takes time. SIGINT, SIGTERM and SIGHUP unwind the
stack, so that half-written files are removed, and end the process with status 128 + the signal's number.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time

TYPE_CHECKING = False  # as in `d2c`
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

    import click

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAME = 1.0  # seconds within which further signals are ignored: shells and terminals may send several

_received: tuple[int, float] | None = None  # the signal that ends this process, and when it came


def main(command: click.Command | None = None) -> NoReturn:
    """Run a command, by default `d2c` itself, and end the process with its exit status."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as SIGHUP is under nohup
            signal.signal(number, _unwind)
    sys.unraisablehook = _once_more
    _open_closed_streams()
    # OpenMP threads (torch's) that wait for each other would otherwise keep their cores busy. If other
    # processes need these cores, training is ten times slower. Torch reads the variable when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Garbage is collected rarely: trees hold no reference cycles, and packages and models hold few.
    gc.set_threshold(100_000)
    try:
        from d2c.commands.cli import run

        status = run(command)
    except BaseException:
        if _received is None:
            raise
        status = 128 + _received[0]
        if _received[0] == signal.SIGINT:
            from contextlib import suppress

            with suppress(OSError):
                print("d2c: interrupted", file=sys.stderr)
    for number in _SIGNALS:  # all is done
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_IGN if _received else signal.SIG_DFL)
    _give_up_what_cannot_be_written()
    sys.exit(status)


def _unwind(number: int, _frame: FrameType | None) -> None:
    """Handle a signal: raise SystemExit. After `_SAME`, another signal ends the process without clean-up."""
    global _received
    if _received is None:
        _received = number, time.monotonic()
        sys.exit(128 + number)
    if time.monotonic() - _received[1] > _SAME:
        os._exit(128 + number)


def _once_more(unraisable: Any) -> None:
    """Send the signal again where Python cannot propagate the SystemExit of `_unwind`, as in a destructor."""
    global _received
    if _received and isinstance(unraisable.exc_value, SystemExit):
        import threading

        number, _received = _received[0], None
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _open_closed_streams() -> None:
    """Open closed standard streams: using one then fails, and no other file gets its descriptor."""
    for number, mode, use in ((0, os.O_WRONLY, "r"), (1, os.O_RDONLY, "w"), (2, os.O_WRONLY, "w")):
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(sys, name) is None:
            os.open(os.devnull, mode)  # gets the lowest free descriptor
            stream = open(number, use, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _give_up_what_cannot_be_written() -> None:
    """Let Python end without complaining about output that cannot be written: that was reported by then."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


if __name__ == "__main__":
    main()
