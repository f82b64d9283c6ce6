"""The progress of long work, through `logging`: INFO is shown at once, DEBUG only where users wait for long.

`d2c.commands.progress` shows it. Scores are not logged here: they go to the `progress` callback of the
caller.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")

EACH = 100  # items between two messages

log = logging.getLogger("d2c.progress")


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items, and say to the log from time to time which item the work is at, and of how many."""
    of = f" of {len(items)}" if isinstance(items, Sized) else ""
    for number, item in enumerate(items):
        if number % EACH == 0:
            log.debug("%s: sentence %d%s", what, number + 1, of)
        yield item


def at_step(share: float, message: str, *numbers: object) -> None:
    """Say to the log which step the work is at; after that step, `share` of the work is done."""
    log.debug(message, *numbers, extra={"share": share})
