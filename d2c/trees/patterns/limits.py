"""What bounds a search: CPU time, tables of nodes, matches; and regular expressions that can be stopped."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from time import process_time

SECONDS = 5.0  # of CPU time for a tree
MOST = 1_000_000  # cells of tables held at once
MATCHES = 100_000  # in one tree
IN_BATCH = 1_000_000  # matches in trees that are searched together
_LONG = 1e9  # seconds; `regex` takes no more than 1e12
_LONGEST = 1000  # characters of a regular expression
_LARGEST = 100_000  # characters of one with its repetitions written out, as `regex` compiles it
SHORT_LABEL = 200  # characters of a label
_CHOICES = 10  # alternatives of which each may double the time
_ESCAPED = re.compile(r"(\\N\{[^}]*\}|\\.)|(\{(?!\d*,?\d*\}))", re.DOTALL)
_POSIX = re.compile(r"\[:[^\[\]]*:\]")


Fits = Callable[..., re.Match[str] | None]


class RanOver(ValueError):
    """A search that was stopped, and why."""


class TooMany(Exception):
    """More of something than is wanted."""


class Clock:
    """Tells how much CPU time a search has left: that of the process, which `regex` counts, too."""

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise ValueError(f"a search has {seconds:g} seconds of CPU time; give it more than 0")
        self._end = process_time() + min(seconds, _LONG)

    def left(self) -> float:
        """Return how many seconds are left. Raises TimeoutError where none are."""
        left = self._end - process_time()
        if not left > 0:
            raise TimeoutError
        return left


def searchers(source: str) -> tuple[Fits | None, Fits]:
    """Return two searches of a regular expression of Python's: a quick one, if there is one, and one that
    takes a `timeout`, after which it raises TimeoutError.

    The former, by Python's own engine, cannot be stopped; it takes at most quadratic time, and is meant for
    labels of up to SHORT_LABEL characters. The latter, by `regex`, has a fifth of the speed.

    Raises ValueError for a text that is no regular expression, or too large.
    """
    if len(source) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} characters")
    if posix := _POSIX.search(_ESCAPED.sub("", source)):  # classes of `regex`, sets of characters for Python
        raise ValueError(f"it has {posix[0]}, a class of characters that Python does not know")
    try:
        own = re.compile(source)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    counts = [int(count or 1) for pair in re.findall(r"\{(\d*),?(\d*)\}", source) for count in pair]
    if len(source) * prod(counts) > _LARGEST:
        raise ValueError("its repetitions are too large")
    import regex  # 10 ms

    # In `regex` a brace may ask for similar texts, {e<=1}; for Python it is only a brace.
    try:
        timed = regex.compile(_ESCAPED.sub(lambda part: part[1] or "\\{", source)).search
    except regex.error as error:
        raise ValueError(str(error)) from None
    bare = re.sub(r"\\\D|\(\?i\)|\(\?:", "", source, flags=re.DOTALL)
    choices = bare.count("|")
    match len(re.findall(r"[*+?{]", bare)):
        case 0:
            quick = choices <= _CHOICES
        case 1:
            quick = not choices and not re.search(r"\\|\)[*+?{]", bare)
        case _:
            quick = False
    return own.search if quick else None, timed
