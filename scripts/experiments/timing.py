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
    """Return what work(items, *others) yields, and the seconds that it takes; `what` names it in progress.

    The first few items are done once before, so that kernels are compiled and networks loaded.

    others: arguments of the first run alone, such as a count of repairs, which other runs would add to
    cpu:    how many runs there are, whose median CPU seconds are returned; 0: one run, by the wall clock
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
