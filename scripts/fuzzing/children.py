"""Work in forked children of a parent that has imported everything: each costs some milliseconds.

A child has a directory of its own, a limit of address space beyond what its parent has, and a time limit.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

PATIENCE = 4


class Task(NamedTuple):
    """Work for a child; it runs in an empty directory, says what it found, and raises Fault for a fault.

    what: for the caller, who gets it back
    """

    what: Any
    work: Callable[[], str]


class Limits(NamedTuple):
    """For each task. seconds: of work; one that waits is given PATIENCE times as many of real time.

    memory: bytes of address space, resident: bytes in use, beyond the parent's
    """

    seconds: int
    memory: int
    resident: int | None = None


class Fault(Exception):
    """What must not happen, has."""


class Ended(NamedTuple):
    """What the work said, or the fault that was found."""

    said: str
    fault: str
    seconds: float


class _Child(NamedTuple):
    tasks: list[Task]
    pid: int
    descriptor: int  # readable when the child has ended
    scratch: Path


def run_all(tasks: Iterable[Task], limits: Limits, jobs: int, size: int = 1) -> Iterator[tuple[Task, Ended]]:
    """Runs the tasks in children, so many at a time and in each so many in turn; in the order of their ends.

    Where one ends its child, those that have not been run are run in the next child.
    """
    batches, running, poll = iter(map(list, _batches(tasks, size))), dict[int, _Child](), select.poll()
    again: list[list[Task]] = []
    gc.collect()
    gc.freeze()  # otherwise a collection in a child would copy all of the parent's memory
    try:
        while True:
            while len(running) < jobs and (batch := again.pop() if again else next(batches, None)):
                child = _start(batch, limits)
                running[child.descriptor] = child
                poll.register(child.descriptor, select.POLLIN)
            if not running:
                return
            for descriptor, _ in poll.poll():
                child = running.pop(descriptor)
                poll.unregister(descriptor)
                os.close(descriptor)
                ended = _end(child, limits)
                if child.tasks[len(ended) :]:
                    again.append(child.tasks[len(ended) :])
                yield from zip(child.tasks, ended, strict=False)
    finally:
        gc.unfreeze()
        for child in running.values():
            os.killpg(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            shutil.rmtree(child.scratch, ignore_errors=True)


def _batches(tasks: Iterable[Task], size: int) -> Iterator[list[Task]]:
    stream = iter(tasks)
    while batch := [*islice(stream, size)]:
        yield batch


def _start(tasks: list[Task], limits: Limits) -> _Child:
    scratch = Path(tempfile.mkdtemp(prefix="fuzz."))
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _be_child(tasks, limits, scratch)
    return _Child(tasks, pid, os.pidfd_open(pid), scratch)


def _be_child(tasks: list[Task], limits: Limits, scratch: Path) -> NoReturn:
    """Does the work and never returns; what is found of each task is in a file."""
    status = 1
    try:
        os.setpgid(0, 0)
        space = pages_of_this_process()[0] + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, descriptor in (("/dev/null", 0), ("out", 1), ("err", 2)):
            redirect(scratch / name, descriptor)
        for number, task in enumerate(tasks):
            (scratch / f"{number}").mkdir()
            os.chdir(scratch / f"{number}")
            worked = time.process_time()
            resource.setrlimit(resource.RLIMIT_CPU, (int(worked) + limits.seconds + 1, -1))
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * limits.seconds)
            found = _found(task)
            signal.setitimer(signal.ITIMER_REAL, 0)
            written = json.dumps([*found, time.process_time() - worked])
            (scratch / f"{number}.json").write_text(written, encoding="utf-8")
        status = 0
    finally:
        os._exit(status)


def _found(task: Task) -> tuple[str, str]:
    try:
        return task.work(), ""
    except Fault as fault:
        return "", str(fault)
    except BaseException:
        return "", traceback.format_exc()


def _end(child: _Child, limits: Limits) -> list[Ended]:
    """What was found of the tasks until the child ended."""
    _, status, usage = os.wait4(child.pid, 0)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # what it has started
    files = [child.scratch / f"{number}.json" for number in range(len(child.tasks))]
    ended = [Ended(*json.loads(file.read_text(encoding="utf-8"))) for file in files if file.exists()]
    code = os.waitstatus_to_exitcode(status)
    if len(ended) < len(files):
        ended.append(Ended("", _ENDS.get(-code, f"died with status {code}"), float(limits.seconds)))
    grown = usage.ru_maxrss * 1024 - pages_of_this_process()[1]
    if limits.resident and grown > limits.resident:
        ended[-1] = Ended("", f"took {grown / 1e9:.1f} GB", ended[-1].seconds)
    shutil.rmtree(child.scratch, ignore_errors=True)
    return ended


_ENDS: dict[int, str] = {signal.SIGXCPU: "took too long", signal.SIGALRM: "hung"}


def pages_of_this_process() -> tuple[int, int]:
    """Bytes of address space, and of memory in use."""
    size, resident = Path("/proc/self/statm").read_text().split()[:2]
    return int(size) * resource.getpagesize(), int(resident) * resource.getpagesize()


def redirect(path: Path, descriptor: int) -> None:
    """Makes standard input (0), output (1) or error (2) a file, for Python, too."""
    flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    opened = os.open(path, flags, 0o666)
    os.dup2(opened, descriptor)
    os.close(opened)
    name = ("stdin", "stdout", "stderr")[descriptor]
    stream = open(descriptor, "w" if descriptor else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
    setattr(sys, name, stream)
