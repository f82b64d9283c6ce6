"""Whether processes have ended."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path


def alive(process: int) -> bool:
    """Whether it runs; one that has ended may still wait for a distant parent to take note."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def all_end(processes: Iterable[int], seconds: float = 600.0) -> bool:
    """Waits for so long until none of them runs."""
    left, until = list(processes), time.monotonic() + seconds
    while left and time.monotonic() < until:
        left = [process for process in left if alive(process)]
        time.sleep(0.01)
    return not left
