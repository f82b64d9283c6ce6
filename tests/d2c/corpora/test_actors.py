"""Actors on Ray, really started: what they answer, and that they are replaced. Work needs no model here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from d2c.base.errors import ModelError
from d2c.corpora.actors import Actors, actors
from d2c.corpora.crew import Schedule
from d2c.corpora.processes import GONE
from d2c.corpora.work import Task
from tests.d2c.corpora import crews
from tests.d2c.corpora.crews import LONG, Stub, portion

ray: Any = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def crew() -> Iterator[Actors]:
    ray.cloudpickle.register_pickle_by_value(crews)  # a worker need not find the tests
    job: Any = Stub()
    with actors(1, job, None) as crew:
        yield crew


def test_actors(crew: Actors) -> None:
    """A sentence that kills its actor is found, and nothing else is lost."""
    portions = [portion("poison"), portion("d", number=1)]
    with closing(Schedule(crew, LONG, 10).run(portions)) as done:
        errors = {one.number: pa.concat_tables(tables)["error"].to_pylist() for one, tables in done}
    assert errors == {0: [GONE], 1: [None]}
    assert "RAY_USAGE_STATS_ENABLED" in os.environ and ray.nodes()[0]["Resources"]["CPU"] == 1


def test_a_model_that_cannot_be_loaded(crew: Actors) -> None:
    crew.submit(0, Task(portion("model").records))
    with pytest.raises(ModelError, match="^no model$"):
        while not crew.answers(LONG):
            pass
