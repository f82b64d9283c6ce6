"""For tests of d-parsers: torch computes with one thread, with which the same seed gives the same network."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    torch = sys.modules.get("torch")  # where a module of tests does not import it, it has no network
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
