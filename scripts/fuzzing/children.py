"""Work in forked children of a process that has imported everything: each costs some milliseconds.

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
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

Item = TypeVar("Item")

PATIENCE = 60.0  # seconds of real time: a child that idles as long hangs, however busy the machine is
_ENDS: dict[int, str] = {signal.SIGXCPU: "took too long", signal.SIGALRM: "hung"}
_FOUND = "found.jsonl"  # a line for each item


class Limits(NamedTuple):
    """For each item. seconds: of CPU time; a child that idles for PATIENCE hangs.

    memory: bytes of address space, resident: bytes in use; both beyond the parent's
    """

    seconds: int
    memory: int
    resident: int | None = None


class Fault(Exception):
    """Something that must not happen has happened."""


class Ended(NamedTuple):
    """What the work said, or the fault that was found."""

    said: str
    fault: str
    seconds: float


def run_all(
    work: Callable[[Item], str], items: Iterable[Item], limits: Limits, jobs: int, size: int = 1
) -> Iterator[tuple[Item, Ended]]:
    """Do the work on items in children: `jobs` children at a time, each with `size` items in turn.

    work: runs in an empty directory, returns what it found, and raises Fault for a fault

    Yields what came of each item as children end; where a child dies, another one gets the rest of its items.
    """
    stream, again, running = iter(items), list[list[Item]](), dict[int, _Child[Item]]()
    looked = time.monotonic()
    gc.collect()
    gc.freeze()  # otherwise a collection in a child would copy all of the parent's memory
    try:
        while True:
            while len(running) < jobs and (batch := again.pop() if again else [*islice(stream, size)]):
                child = _Child(work, batch, limits)
                running[child.descriptor] = child
            if not running:
                return
            if time.monotonic() - looked > PATIENCE:
                looked = time.monotonic()
                for child in running.values():
                    child.end_if_idle()
            for descriptor in select.select([*running], [], [], PATIENCE)[0]:
                child = running.pop(descriptor)
                ended = child.end()
                if rest := child.items[len(ended) :]:
                    again.append(rest)
                yield from zip(child.items, ended, strict=False)
    finally:
        gc.unfreeze()
        for child in running.values():
            child.end()


class _Child(Generic[Item]):
    """A forked process at work; `descriptor` is readable when it has ended."""

    def __init__(self, work: Callable[[Item], str], items: list[Item], limits: Limits) -> None:
        self.items, self.limits, self.scratch = items, limits, Path(tempfile.mkdtemp(prefix="fuzz."))
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._work(work)
        self.descriptor, self._worked = os.pidfd_open(self.pid), -1

    def end_if_idle(self) -> None:
        """End the child if neither it nor what it has started has used CPU time since the last call."""
        before, self._worked = self._worked, _worked(self.pid)
        if self._worked == before:
            os.kill(self.pid, signal.SIGALRM)

    def _work(self, work: Callable[[Item], str]) -> NoReturn:
        status = 1
        try:
            os.setpgid(0, 0)
            space = memory_of_this_process()[0] + self.limits.memory
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for name, descriptor in (("/dev/null", 0), ("out", 1), ("err", 2)):
                redirect(self.scratch / name, descriptor)
            for number, item in enumerate(self.items):
                (self.scratch / f"{number}").mkdir()
                os.chdir(self.scratch / f"{number}")
                worked = time.process_time()
                resource.setrlimit(resource.RLIMIT_CPU, (int(worked) + self.limits.seconds + 1, -1))
                found = _found(work, item)
                with open(self.scratch / _FOUND, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps([*found, time.process_time() - worked]) + "\n")
            status = 0
        finally:
            os._exit(status)

    def end(self) -> list[Ended]:
        """Kill what still runs; return what was found for each item until the process ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # what it has started, too
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.descriptor)
        file = self.scratch / _FOUND
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        ended = [Ended(*json.loads(line)) for line in lines]
        code = os.waitstatus_to_exitcode(status)
        if len(ended) < len(self.items):
            fault = _ENDS.get(-code, f"died with status {code}")
            ended.append(Ended("", fault, float(self.limits.seconds)))
        grown = usage.ru_maxrss * 1024 - memory_of_this_process()[1]
        if self.limits.resident and grown > self.limits.resident:
            ended[-1] = Ended("", f"took {grown / 1e9:.1f} GB", ended[-1].seconds)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return ended


def _found(work: Callable[[Any], str], item: object) -> tuple[str, str]:
    try:
        return work(item), ""
    except Fault as fault:
        return "", str(fault)
    except BaseException:
        return "", traceback.format_exc()


def _worked(group: int) -> int:
    """Return the ticks of CPU time of the processes of a group, and of those that they have waited for."""
    total = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = file.read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) if int(fields[2]) == group else 0
    return total


def memory_of_this_process() -> tuple[int, int]:
    """Return the bytes of address space and of memory in use."""
    size, resident = Path("/proc/self/statm").read_text().split()[:2]
    return int(size) * resource.getpagesize(), int(resident) * resource.getpagesize()


def redirect(path: Path, descriptor: int) -> None:
    """Make standard input (0), output (1) or error (2) a file, for Python, too."""
    flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    opened = os.open(path, flags, 0o666)
    os.dup2(opened, descriptor)
    os.close(opened)
    name = ("stdin", "stdout", "stderr")[descriptor]
    stream = open(descriptor, "w" if descriptor else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
    setattr(sys, name, stream)
