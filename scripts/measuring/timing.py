"""Seconds and memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
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


def peak_gigabytes() -> float:
    """The most memory that this process has had until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
