"""Counts with their nouns."""

from __future__ import annotations

import pytest

from d2c.base.counting import many


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "word", "0 words"),
        (1, "word", "1 word"),
        (2000, "secondary edge", "2,000 secondary edges"),
        (1, "process", "1 process"),
        (2, "process", "2 processes"),
    ],
)
def test_one_is_no_plural(count: int, noun: str, said: str) -> None:
    assert many(count, noun) == said
