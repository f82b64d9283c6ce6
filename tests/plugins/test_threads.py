"""Threads that share a model; tests/stress/test_threads.py tries it at length, with every d-parser."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import read_brackets
from tests.conftest import SAMPLE
from tests.stress.test_threads import ENTRANCES, together


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_threads_get_what_one_gets(entrance: str, small_model: Path) -> None:
    tokens = [ctree.tokens for ctree in islice(read_brackets(SAMPLE), 6)]
    requests = [tokens[:1], tokens[1:3], tokens[3:]]
    new = partial(ENTRANCES[entrance], small_model, {})
    assert together(new, requests, threads=3, calls=5) == (15, Counter())


def test_what_goes_wrong_is_counted() -> None:
    def call(request: list[Tokens]) -> list[str]:
        made.append(request)
        if len(made) == 2:
            raise IndexError("pop from empty list")
        return [str(len(made) > 3)]

    made: list[list[Tokens]] = []
    done, wrong = together(lambda: call, [[]], threads=1, calls=4)
    assert (done, wrong) == (4, Counter({"IndexError: pop from empty list": 1, "other trees": 2}))
