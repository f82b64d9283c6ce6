"""Seconds, memory, sizes of models."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Timed(NamedTuple, Generic[Result]):
    """What work returned and the seconds that it took."""

    result: Result
    seconds: float


def timed(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Timed[Result]:
    """Runs the work once; `timed(list, stream)` drains a stream."""
    start = time.perf_counter()
    result = work(*args, **kwargs)
    return Timed(result, time.perf_counter() - start)


def fastest(
    runs: int, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Timed[Result]:
    """The fastest of a few runs."""
    return min((timed(work, *args, **kwargs) for _ in range(runs)), key=lambda run: run.seconds)


def peak_gigabytes() -> float:
    """The most memory that this process has had until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def megabytes(directory: Path) -> float:
    """The size of the files in a directory."""
    return sum(file.stat().st_size for file in directory.iterdir()) / 1e6
