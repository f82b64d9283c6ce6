"""A crew of processes, really started: what they answer, and that they are replaced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from d2c.base.errors import ModelError
from d2c.base.workers import GONE, ProcessPool
from d2c.corpora.worker import WorkerTask
from tests.corpora.crews import LONG, Stub, batch, schedule


@pytest.fixture(scope="module")
def crew() -> Iterator[ProcessPool]:
    job: Any = Stub()
    with ProcessPool(job.worker, 1, fresh=True) as crew:
        yield crew


@pytest.mark.slow
def test_a_sentence_that_kills_its_process(crew: ProcessPool) -> None:
    batches = [batch("a", "poison"), batch("d")]
    with closing(schedule(crew, LONG, 10).run(batches)) as done:
        errors = {number: pa.concat_tables(tables)["error"].to_pylist() for number, tables in enumerate(done)}
    assert errors == {0: [None, GONE], 1: [None]}


def test_a_process_that_is_ended(crew: ProcessPool) -> None:
    """Whatever it does: what it would have answered is not waited for."""
    crew.submit(0, WorkerTask(batch("hang").records))
    crew.renew(0)
    crew.submit(0, WorkerTask(batch("d").records))
    [(worker, answer)] = crew.answers(LONG)
    assert worker == 0 and isinstance(answer, pa.Table) and answer["error"].to_pylist() == [None]


def test_a_model_that_cannot_be_loaded(crew: ProcessPool) -> None:
    with pytest.raises(ModelError, match="^no model$"):
        list(schedule(crew, LONG, 10).run([batch("model")]))
