"""What features see of a configuration, field by field."""

from __future__ import annotations

import numpy as np
import pytest

from d2c.automata.features import FIELDS, POSITIONS, see
from d2c.automata.states import (
    ATTRIBUTES,
    HEAD,
    L1,
    L1_LABEL,
    L2,
    L2_LABEL,
    LEFTS,
    LEVEL,
    R1,
    R1_LABEL,
    R2,
    R2_LABEL,
    RIGHTS,
    SYMBOL,
    Text,
)
from d2c.base.arrays import Longs
from d2c.learning.kernels import kernel

TOP = {SYMBOL: 1, LEVEL: 2, HEAD: 20, LEFTS: 3, RIGHTS: 0, L1: 15, L1_LABEL: 51, L2: 17, L2_LABEL: 52}
TOP |= {R1: 24, R1_LABEL: 53, R2: 22, R2_LABEL: 54}
SECOND = {SYMBOL: 4, LEVEL: 0, HEAD: 9, LEFTS: 1, RIGHTS: 2, L1: 5, L1_LABEL: 61, L2: 7, L2_LABEL: 62}
SECOND |= {R1: 13, R1_LABEL: 63, R2: 11, R2_LABEL: 64}
AT = {"s0": 20, "s1": 9, "s2": 3, "n0": 25, "n1": 26, "n2": 27}
AT |= {"s0.l": 15, "s0.l2": 17, "s0.r": 24, "s0.r2": 22, "s1.l": 5, "s1.l2": 7, "s1.r": 13, "s1.r2": 11}


@kernel
def seen(text: Text, third: Longs, second: Longs, top: Longs, token: int, numbers: Longs) -> None:
    see(text, third, second, top, token, np.empty(len(POSITIONS), np.int64), numbers)


def row(attributes: dict[int, int]) -> Longs:
    made = np.zeros(ATTRIBUTES, np.int64)
    for attribute, value in attributes.items():
        made[attribute] = value
    return made


def fields(top: dict[int, int], second: dict[int, int]) -> dict[str, int]:
    """By their names; a word has the number 100 + its position, a tag 200, its morphology 300."""
    columns = [np.arange(begin, begin + 60, dtype=np.int32) for begin in (100, 200, 300, 400)]
    text = Text(*columns, np.array([1]), np.array([50]))
    numbers = np.zeros(len(FIELDS) + 1, np.int64)
    seen(text, row({HEAD: 3}), row(second), row(top), 25, numbers)
    return dict(zip(FIELDS, numbers.tolist(), strict=False))


def test_every_field() -> None:
    expected = {f"word[{name}]": 100 + place for name, place in AT.items()}
    expected |= {f"tag[{name}]": 200 + place for name, place in AT.items()}
    for tree, begin in (("s0", 51), ("s1", 61)):
        expected |= {f"label[{tree}{name}]": begin + i for i, name in enumerate((".l", ".l2", ".r", ".r2"))}
    expected |= {"symbol[s0]": 1, "level[s0]": 2, "lefts[s0]": 3, "rights[s0]": 0}
    expected |= {"symbol[s1]": 4, "level[s1]": 0, "lefts[s1]": 1, "rights[s1]": 2}
    expected |= {"morph[s0]": 320, "morph[s1]": 309, "morph[n0]": 325, "distance": 7}
    assert fields(TOP, SECOND) == expected


@pytest.mark.parametrize(
    ("tokens", "number"),
    [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 5), (8, 6), (11, 7), (16, 8), (31, 10), (40, 10)],
)
def test_distance(tokens: int, number: int) -> None:
    """In classes that grow; 0 where there is no second tree."""
    assert fields({HEAD: 5 + tokens}, {HEAD: 5})["distance"] == number
    assert fields({HEAD: 5 + tokens}, {})["distance"] == 0
