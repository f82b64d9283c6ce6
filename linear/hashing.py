"""Where a sparse feature's weight stands in a table of 2^k weights: lossy feature hashing.

A feature is an *atom* of the context (a template with the words and tags that fill it) conjoined with a *key*
of the output (a rule, its parent symbol, ...). Its place is (hash(atom) + key) mod 2^k. So an atom is hashed
once however many outputs it is conjoined with, and the weights of outputs with near keys lie near each other.
Features that share a place share a weight.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, inline="always")
def atom(template: int, first: int, second: int) -> int:
    """A 62-bit hash of a template's number and its two fillers (small integers)."""
    x = (template * 0x2545F4914F6CDD1D + first) * -7046029254386353131
    x ^= (x >> 29) & 0x7FFFFFFFF
    x = (x + second) * -4417276706812531889
    x ^= (x >> 32) & 0xFFFFFFFF
    x *= -7046029254386353131
    x ^= (x >> 29) & 0x7FFFFFFFF
    return x & 0x3FFFFFFFFFFFFFFF
