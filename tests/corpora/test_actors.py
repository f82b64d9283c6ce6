"""Actors on Ray, really started: what they answer, and that they are replaced. Work needs no model here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from d2c.base.errors import ModelError
from d2c.base.workers import GONE
from d2c.corpora.actors import ActorPool, _has_died, actors
from tests.corpora import crews
from tests.corpora.crews import LONG, Stub, batch, schedule

ray: Any = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def crew() -> Iterator[ActorPool]:
    ray.cloudpickle.register_pickle_by_value(crews)  # a worker need not find the tests
    job: Any = Stub()
    with actors(1, job, None) as crew:
        yield crew


@pytest.mark.slow
def test_actors(crew: ActorPool) -> None:
    """A sentence that kills its actor is found, and nothing else is lost."""
    batches = [batch("poison"), batch("d")]
    with closing(schedule(crew, LONG, 10).run(batches)) as done:
        errors = {number: pa.concat_tables(tables)["error"].to_pylist() for number, tables in enumerate(done)}
    assert errors == {0: [GONE], 1: [None]}
    assert "RAY_USAGE_STATS_ENABLED" in os.environ and ray.nodes()[0]["Resources"]["CPU"] == 1


def test_a_model_that_cannot_be_loaded(crew: ActorPool) -> None:
    with pytest.raises(ModelError, match="^no model$"):
        list(schedule(crew, LONG, 10).run([batch("model")]))


@pytest.mark.slow
def test_a_part_of_ray_that_dies(crew: ActorPool) -> None:
    """What `ray._private` of the installed version says of its processes; the crew starts it anew."""
    assert not _has_died(ray)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    [raylet] = [
        int(child) for child in children if b"raylet/raylet" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    os.kill(raylet, signal.SIGKILL)
    until = time.monotonic() + 10
    while not _has_died(ray) and time.monotonic() < until:
        time.sleep(0.1)
    assert _has_died(ray)
    with closing(schedule(crew, LONG, 10).run([batch("d")])) as done:
        assert [pa.concat_tables(tables)["error"].to_pylist() for tables in done] == [[None]]
