"""Feature templates as tables, and the one kernel that fills them: atoms of a context, hashed.

A *field* is one thing that features see of a context, and has a name: `tag[h]`, `word[i-1]`, `bin(j-i)`. A
*template* is a row of up to WIDTH fields, written as their names with spaces between; an *atom* is a template
with the numbers that its fields have in one context, hashed. A feature is an atom conjoined with a *key* of
the output (a rule, its parent symbol, a label, ...): it has the weight in slot (atom + key) mod 2^k of a
table, so an atom is hashed once however many outputs it is conjoined with, and the weights of outputs with
near keys lie near each other. Features that share a slot share a weight (lossy feature hashing).

A route says, once, its fields and its templates; a short kernel of its own writes the numbers of all fields
of a context into one row, and `fill_atoms` does the rest:

    POSITIONS = ("h", "m", "m-1")
    FIELDS = (*fields_of(("word", "tag"), POSITIONS), "distance")  # word[h], word[m], ..., tag[m-1], distance
    TEMPLATES = names_in("-, tag[h] tag[m], word[m] distance")
    TABLE = rows(TEMPLATES, FIELDS)  # [3, WIDTH]: made once, handed to kernels

    @kernel
    def arc_atoms(words, tags, h, m, table):
        positions, numbers = np.empty(3, np.int64), np.zeros(8, np.int64)   # numbers: len(FIELDS) + 1
        positions[0], positions[1], positions[2] = h, m, m - 1
        end = look_up(tags, positions, numbers, look_up(words, positions, numbers, 0))
        numbers[end] = abs(h - m)                # the field behind the last one stays 0
        atoms = np.empty(len(table), np.int64)
        count = fill_atoms(numbers, table, 0, len(table), 0, atoms, 0)

What may have any number of fillers (the words of a sentence, the tags between two tokens) comes through
`fill_each`. The number of a template is its row; `salt` tells apart the same rows for different kinds of
contexts (left and right, say).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints, Longs
from d2c.learning.kernels import lean

Rows = NDArray[np.uint32]

WIDTH = 4  # fields of a template at most
# Odd numbers without pattern: one for the template, one for each of its fields, one to mix
_TEMPLATE = np.uint64(0x2545F4914F6CDD1D)
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD = np.uint64(0xD6E8FEB86659FD93)
_FOURTH = np.uint64(0xA0761D6478BD642F)
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF, _SOME, _SIGN = np.uint64(32), np.uint64(29), np.uint64(2)


def fields_of(columns: Sequence[str], positions: Sequence[str]) -> tuple[str, ...]:
    """Return every column at every position, as `look_up` orders them: word[h], word[m], ..., tag[h]."""
    return tuple(f"{column}[{position}]" for column in columns for position in positions)


def names_in(text: str) -> tuple[str, ...]:
    """Return the fields, or templates, of a text with commas between them; `-` is one without fields."""
    return tuple(["" if name == "-" else name for name in map(str.strip, text.split(","))])


def rows(templates: Sequence[str], fields: Sequence[str]) -> Rows:
    """Return the indices of each template's fields [T, WIDTH], filled up with the index that follows the last
    field's.

    Raises ValueError for an unknown field, and for a template with too many fields.
    """
    table = np.full((len(templates), WIDTH), len(fields), np.uint32)  # numba is slow with signed indices
    index = {name: i for i, name in enumerate(fields)}
    for row, template in zip(table, templates, strict=True):
        names = template.split()
        if len(names) > WIDTH or not set(names) <= set(index):
            raise ValueError(f"the template {template!r} has too many or unknown fields")
        row[: len(names)] = [index[name] for name in names]
    return table


@lean
def look_up(column: Ints, positions: Longs, numbers: Longs, begin: int) -> int:
    """Write the numbers at some positions [P] of a column [tokens] into `numbers` [fields + 1], from `begin`
    on; return where they end."""
    for i in range(len(positions)):
        numbers[begin + i] = column[positions[i]]
    return begin + len(positions)


@lean
def _mixed(x: np.uint64) -> int:
    """Return 62 bits, each of which depends on all of x."""
    x ^= x >> _HALF
    x *= _MIX
    x ^= x >> _SOME
    return np.int64(x >> _SIGN)  # type: ignore[return-value]


@lean
def fill_atoms(numbers: Longs, table: Rows, begin: int, end: int, salt: int, atoms: Longs, count: int) -> int:
    """Append the atoms of the templates from `begin` to `end`; return how many atoms there are then.

    numbers: [fields + 1] of each field, and 0; an atom depends on the numbers of its template's fields, on
             its template and on `salt`, a small number
    """
    for row in range(np.uint64(begin), np.uint64(end)):
        atoms[count] = atom_of(numbers, table, row, salt)
        count += 1
    return count


@lean
def atom_of(numbers: Longs, table: Rows, row: np.uint64, salt: int) -> int:
    """Return the atom of one template, a row of the table [T, WIDTH]; all else as in `fill_atoms`."""
    # Unsigned: here products wrap around, while the compiler assumes that signed ones never overflow.
    x = (np.uint64(salt * 1024) + row) * _TEMPLATE
    x += np.uint64(numbers[table[row, 0]]) * _FIRST
    x += np.uint64(numbers[table[row, 1]]) * _SECOND
    x += np.uint64(numbers[table[row, 2]]) * _THIRD
    x += np.uint64(numbers[table[row, 3]]) * _FOURTH
    return _mixed(x)


@lean
def fill_each(number: int, fillers: Ints, salt: int, atoms: Longs, count: int) -> int:
    """Append an atom for each filler [F] of one template; return how many atoms there are then.

    number: of the template, which is no row of the table; or what else all these atoms depend on
    """
    for filler in fillers:
        x = np.uint64(salt * 1024 + 1023) * _TEMPLATE + np.uint64(number) * _FIRST
        atoms[count] = _mixed(x + np.uint64(filler) * _SECOND)
        count += 1
    return count
