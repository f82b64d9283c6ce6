"""Atoms: equal where the fields of a template are, different between templates, kinds and fillers."""

from __future__ import annotations

import numpy as np
import pytest

from d2c.learning.kernels import kernel
from d2c.learning.templates import fields_of, fill_atoms, fill_each, look_up, rows

POSITIONS = ("h", "m", "m-1")
FIELDS = (*fields_of(("word", "tag"), POSITIONS), "distance")
TEMPLATES = ("", "tag[h]", "tag[m]", "tag[h] tag[m]", "tag[m] tag[h]", "word[m-1] distance tag[h] word[h]")
TABLE = rows(TEMPLATES, FIELDS)


@kernel
def _atoms(
    words: np.ndarray, tags: np.ndarray, positions: np.ndarray, distance: int, salt: int, table: np.ndarray
) -> np.ndarray:
    numbers, atoms = np.zeros(8, np.int64), np.empty(64, np.int64)
    end = look_up(tags, positions, numbers, look_up(words, positions, numbers, 0))
    numbers[end] = distance
    count = fill_atoms(numbers, table, 0, len(table), salt, atoms, 0)
    return atoms[: fill_each(0, words, salt, atoms, count)]


def atoms(words: list[int], tags: list[int], distance: int = 1, salt: int = 0) -> list[int]:
    columns = (np.array(column, np.int32) for column in (words, tags))
    return list(_atoms(*columns, np.array([3, 1, 0]), distance, salt, TABLE).tolist())


def test_fields_are_named_by_column_and_position() -> None:
    assert FIELDS[:4] == ("word[h]", "word[m]", "word[m-1]", "tag[h]")
    assert [FIELDS[i] for i in TABLE[5]] == ["word[m-1]", "distance", "tag[h]", "word[h]"]
    with pytest.raises(ValueError, match="too many or unknown fields"):
        rows(["tag[x]"], FIELDS)
    with pytest.raises(ValueError, match="too many or unknown fields"):
        rows(["tag[h] tag[h] tag[h] tag[h] tag[h]"], FIELDS)


def test_atoms_are_those_of_their_fillers() -> None:
    one = atoms([5, 6, 7, 8], [1, 2, 3, 4])
    assert len(set(one)) == len(one) == len(TEMPLATES) + 4
    assert all(0 <= atom < 1 << 62 for atom in one)
    assert one == atoms([5, 6, 7, 8], [1, 2, 3, 4])
    other = atoms([5, 6, 9, 8], [1, 9, 3, 4])  # another tag of m, another word that only the bag has
    same = [a == b for a, b in zip(one, other, strict=True)]
    assert same == [True, True, False, False, False, True, True, True, False, True]
    assert not set(one) & set(atoms([5, 6, 7, 8], [1, 2, 3, 4], salt=1))


def test_many_fillers_have_different_atoms() -> None:
    seen = {
        atom for tag in range(1, 60) for atom in atoms([tag * 1000, 1, 2, tag], [1, tag, 3, 60 + tag])[:6]
    }
    assert len(seen) == 1 + 5 * 59
