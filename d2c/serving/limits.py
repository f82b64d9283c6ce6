"""Limits on the requests that a server answers."""

from __future__ import annotations

from dataclasses import dataclass

from d2c.base.settings import Settings, setting

MOST_TREES = 20  # of a sentence, in one answer


@dataclass(frozen=True, kw_only=True)
class ServeLimits(Settings):
    """How much a request may be, and how many may wait. What is above a limit is refused with an error."""

    max_bytes: int = setting(1_000_000, "The largest size of a request.", metavar="BYTES", least=1)
    max_words: int = setting(5_000, "The most words in a request.", metavar="WORDS", least=1)
    max_seconds: float = setting(
        60.0, "The most time to answer a request, including waiting.", metavar="SECONDS", above=0
    )
    max_waiting: int = setting(
        100, "The most requests that may wait for a process.", metavar="REQUESTS", least=1
    )
