"""Where a sparse feature's weight stands in a table of 2^k weights: lossy feature hashing.

A feature is an *atom* of the context (a template with the words and tags that fill it) conjoined with a *key*
of the output (a rule, its parent symbol, ...). Its place is (hash(atom) + key) mod 2^k. So an atom is hashed
once however many outputs it is conjoined with, and the weights of outputs with near keys lie near each other.
Features that share a place share a weight.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TEMPLATES = np.uint64(0x2545F4914F6CDD1D)
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
_SOME = np.uint64(29)


@njit(cache=True, nogil=True, inline="always")
def atom(template: int, first: int, second: int) -> int:
    """A 62-bit hash of a template's number and its two fillers (small integers)."""
    # Unsigned: products wrap around there, while the compiler takes it that signed ones never overflow.
    x = (np.uint64(template) * _TEMPLATES + np.uint64(first)) * _FIRST
    x ^= x >> _SOME
    x = (x + np.uint64(second)) * _SECOND
    x ^= x >> _HALF
    x *= _FIRST
    x ^= x >> _SOME
    return np.int64(x >> np.uint64(2))  # type: ignore[return-value]
