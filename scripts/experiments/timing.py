"""How long parsing and converting take."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, TypeVar

from d2c.base.progress import counted

Item = TypeVar("Item")
Result = TypeVar("Result")

_WARM = 8  # items


def timed(
    work: Callable[..., Iterable[Result]], items: Sequence[Item], what: str, *others: Any, cpu: int = 0
) -> tuple[list[Result], float]:
    """Return what work(items, *others) makes, and the seconds that it takes; `what` names it in progress.

    The first items are done before, so kernels are compiled and networks loaded.

    others: what only one run is given, as a count of repairs, to which those of the other runs do not belong
    cpu:    so many runs, of whose seconds of CPU time the median is taken; 0: one, by the wall's clock
    """
    list(work(items[:_WARM]))
    made, seconds, clock = list[Result](), list[float](), cpu_seconds if cpu else time.perf_counter
    for run in range(cpu or 1):
        start = clock()
        made = list(counted(work(items, *(others if not run else ())), what))
        seconds.append(clock() - start)
    return made, median(seconds)


def cpu_seconds() -> float:
    """Return the CPU time so far of this process, of its threads, and of children that have ended."""
    return time.process_time() + sum(os.times()[2:4])
