"""How many threads numerical libraries have while one or several threads parse, and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from d2c.base.locks import one_thread

SET, ONE = {("blas", 3), ("torch", 3)}, {("blas", 1), ("openmp", 1), ("torch", 1)}


def numbers() -> set[tuple[str, int]]:
    """How many threads each kind of library has, for this thread."""
    of_torch = torch.get_num_threads()  # first: from here on OpenMP has that number, too, in a new thread
    return {("torch", of_torch), *((pool["user_api"], pool["num_threads"]) for pool in threadpool_info())}


def numbers_for_a_new_thread() -> set[tuple[str, int]]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(numbers).result()


@pytest.fixture(autouse=True)
def three() -> Iterator[None]:
    before, limits = torch.get_num_threads(), threadpool_limits(3)
    with threadpool_limits(None):  # or this thread alone may change that of BLAS
        torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)
    with threadpool_limits(None):
        limits.restore_original_limits()


def test_one_thread_inside() -> None:
    before = numbers(), numbers_for_a_new_thread()
    with one_thread():
        with one_thread():
            assert numbers() == ONE
        assert numbers() == ONE
    assert (numbers(), numbers_for_a_new_thread()) == before and before[0] >= SET <= before[1]


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_threads_that_overlap_leave_what_was_set(order: tuple[int, ...]) -> None:
    """They enter one after the other, and leave in any order; the last one is alone, and still has one."""
    pools, blocks = [ThreadPoolExecutor(1) for _ in order], [one_thread() for _ in order]

    def all_numbers() -> list[set[tuple[str, int]]]:
        return [numbers(), numbers_for_a_new_thread(), *(pool.submit(numbers).result() for pool in pools)]

    before = all_numbers()
    for pool, block in zip(pools, blocks, strict=True):
        pool.submit(block.__enter__).result()
    for thread in order:
        assert pools[thread].submit(numbers).result() == ONE
        pools[thread].submit(blocks[thread].__exit__, None, None, None).result()
    assert all_numbers() == before and all(found >= SET for found in before)
