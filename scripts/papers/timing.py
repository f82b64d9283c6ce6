"""How long parsers take in tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from d2c.base.progress import counted

Item = TypeVar("Item")
Made = TypeVar("Made")
_WARM = 8  # items that are done before the time is taken: kernels are compiled, networks are loaded


def timed(
    work: Callable[..., Iterable[Made]], items: Sequence[Item], what: str, *others: Any
) -> tuple[list[Made], float]:
    """What work(items, *others) makes, and the seconds that it takes; says under `what` how far it is.

    others: what only this run is given, as a count of repairs, to which those of the warm run do not belong
    """
    list(work(items[:_WARM]))
    start = time.perf_counter()
    made = list(counted(work(items, *others), what))
    return made, time.perf_counter() - start
