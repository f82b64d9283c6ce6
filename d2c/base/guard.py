"""Run a program that must not outlive another one, as a program of its own that imports nothing of ours.

    python guard.py PIPE PROGRAM ARGUMENT...

PIPE is the number of the reading end of a pipe whose other end the first process holds. When that process
closes its end, or dies in any way, the program is killed with all that it has started. What the program
leaves running when it ends by itself is killed, too. The exit status is the program's; 126 where it cannot
be run. All that it has started is its process group and, on Linux, also what has left that group: a process
that loses its parent then becomes a child of this one.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress

_ADOPT = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the first process handles them
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # which Python ignores
_PATIENCE = 1.0  # seconds; a process that waits for a device cannot be killed


def main(pipe: int, command: list[str]) -> int:
    """Run the program; return its exit status, negative where a signal killed it."""
    os.set_inheritable(pipe, False)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    try:
        child = os.posix_spawnp(
            command[0], command, os.environ, setpgroup=0, setsigdef=[*_IGNORED, *_OF_PYTHON]
        )
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        return 126
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # they are the program's; whoever reads them waits until all copies are closed
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with, args=(pipe, child), daemon=True).start()
    ended = status = -1
    while ended != child:
        ended, status = os.wait()
    _kill_all(child)
    return os.waitstatus_to_exitcode(status)


def _end_with(pipe: int, child: int) -> None:
    os.read(pipe, 1)  # nothing is ever written: it returns when the other end is closed
    _kill_all(child)
    os._exit(1)


def _kill_all(child: int) -> None:
    """Kill the program's group, then its descendants, which become our children one after the other."""
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE
    while (left := _children()) and time.monotonic() < until:
        for process in left:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(process, os.WNOHANG)
        time.sleep(0.001)


def _children() -> list[int]:
    """Return our children, where the system (Linux) lists them."""
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as stream:
                found += map(int, stream.read().split())
    return found


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.argv[2:])
    if code < 0:  # end as the program did
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # of SIGKILL, for which there is nothing to set
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
