"""What several threads that share a library do: they take turns where it keeps state of its own."""

from __future__ import annotations

import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread

import pytest
import torch

from d2c.dparsers.stanza.networks import ONE_AT_A_TIME, quiet

pytest.importorskip("spacy")

from d2c.dparsers.spacy.training import forgetting


class _Pipeline:
    """Counts how many are in its memory zone at the same time."""

    inside = most = 0

    @contextmanager
    def memory_zone(self) -> Iterator[None]:
        self.inside += 1
        self.most = max(self.most, self.inside)
        yield
        self.inside -= 1


def test_memory_zones_do_not_overlap() -> None:
    nlp = _Pipeline()

    def work(_: int) -> None:
        with forgetting(nlp):
            time.sleep(0.01)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert (nlp.inside, nlp.most) == (0, 1)


def test_only_the_own_thread_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("stanza")
    log.propagate, before = True, log.propagate
    try:
        with caplog.at_level(logging.WARNING, "stanza"), quiet(), ThreadPoolExecutor(1) as pool:
            log.warning("of this thread")
            pool.submit(log.warning, "of another").result()
        with caplog.at_level(logging.WARNING, "stanza"):
            log.warning("afterwards")
    finally:
        log.propagate = before
    assert [record.message for record in caplog.records] == ["of another", "afterwards"]


def _compute() -> None:
    torch.nn.functional.layer_norm(torch.ones(1024, 512), (512,))  # enough for several threads


def test_a_forked_process_does_not_wait_for_threads_of_torch() -> None:
    torch.set_num_threads(2)
    _compute()
    assert _ends_well(_compute)


@pytest.mark.parametrize("held", [ONE_AT_A_TIME, forgetting(_Pipeline())])
def test_a_forked_process_does_not_wait_for_what_other_threads_held(
    held: AbstractContextManager[None],
) -> None:
    holds, forked = Event(), Event()

    def hold() -> None:
        with held:
            holds.set()
            forked.wait()

    thread = Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        assert _ends_well(_take_all)
    finally:
        forked.set()
        thread.join()


def _take_all() -> None:
    with ONE_AT_A_TIME, forgetting(_Pipeline()):
        pass


def _ends_well(work: Callable[[], None]) -> bool:
    """Whether a process that is forked now does its work."""
    forked = multiprocessing.get_context("fork").Process(target=work)
    forked.start()
    forked.join(60)
    forked.kill()
    return forked.exitcode == 0
