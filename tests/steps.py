"""How much work something is: counted, because clocks depend on what else a machine does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python run; what runs within one line of C counts once."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], object], size: int) -> bool:
    """Whether work on something of twice the size runs twice the lines, not four times as many."""
    work(size)  # what is made once, and kept
    return lines_run(lambda: work(2 * size)) < 2.5 * lines_run(lambda: work(size))
