"""Poisonous sentences: found in halves, and nothing but them is lost; workers that die are replaced."""

from __future__ import annotations

from itertools import count

import pyarrow as pa
import pytest

from d2c.base.workers import Failed
from d2c.corpora.worker import WorkerTask
from tests.corpora.crews import GONE, Scripted, batch, rows, schedule, words

RAISED = Failed("ValueError: no")


def run(crew: Scripted, *texts: str, size: int = 100) -> list[tuple[str, str | None]]:
    """The ids and errors of one batch's rows."""
    [tables] = schedule(crew, 60, size, count().__next__).run([batch(*texts)])
    table = pa.concat_tables(tables)
    return [*zip(table["sentence_id"].to_pylist(), table["error"].to_pylist(), strict=True)]


def good(*lines: int) -> list[tuple[str, str | None]]:
    return [(f"a.txt:{line}.1", None) for line in lines]


def test_all_well() -> None:
    crew = Scripted(2, rows)
    assert run(crew, "a", "b") == good(1, 2)
    assert [len(task.records) for task in crew.asked] == [0, 0, 2] and not crew.renewed


def test_a_worker_that_was_killed() -> None:
    """The batch is tried again, whole, by another one."""
    deaths = iter([GONE])
    crew = Scripted(1, lambda task: next(deaths, rows(task)) if task.records else rows(task))
    assert run(crew, "a", "b", "c") == good(1, 2, 3)
    assert [len(task.records) for task in crew.asked] == [0, 3, 0, 3] and crew.renewed == [0]


@pytest.mark.parametrize("answer", [GONE, RAISED, None], ids=["dies", "raises", "hangs"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_poisonous_sentence(answer: Failed | None, workers: int) -> None:
    def behaviour(task: WorkerTask) -> pa.Table | Failed | None:
        return answer if "poison" in words(task) and not task.error else rows(task)

    crew = Scripted(workers, behaviour)
    texts = ["a", "b", "c", "poison", "e", "f", "g"]
    why = answer.why if answer else "it took longer than 60 s"
    assert run(crew, *texts) == [*good(1, 2, 3), ("a.txt:4.1", why), *good(5, 6, 7)]
    deaths = 0 if answer == RAISED else 6  # of 7, 3 (b c poison -> c poison), ...: each is tried twice
    assert (len(crew.renewed) > 0) == bool(deaths)
    failing = [len(task.records) for task in crew.asked if "poison" in words(task) and not task.error]
    assert failing == ([7, 4, 2, 1] if answer == RAISED else [7, 7, 4, 4, 2, 2, 1, 1])


def test_a_poisonous_sentence_in_a_paragraph() -> None:
    def behaviour(task: WorkerTask) -> pa.Table | Failed:
        return RAISED if "poison" in words(task) and not task.error else rows(task)

    text = "One is . Two is . Three is poison . Four is . Five is ."
    found = run(Scripted(1, behaviour), text, "Six is .")
    expected = [(f"a.txt:1.{number}", RAISED.why if number == 3 else None) for number in range(1, 6)]
    assert found == [*expected, ("a.txt:2.1", None)]


def test_text_that_kills_whoever_looks_at_it() -> None:
    """Not even its sentences are known."""
    deadly = "dead"
    crew = Scripted(1, lambda task: GONE if any(r.text == deadly for r in task.records) else rows(task))
    assert run(crew, "a", deadly, "c") == [*good(1), ("a.txt:2.1", GONE.why), *good(3)]


def test_what_fails_only_in_company() -> None:
    """A batch that is too large for the memory is parsed in halves, and nothing is lost."""
    crew = Scripted(2, lambda task: GONE if len(task.records) > 2 else rows(task))
    assert run(crew, *"abcdefg") == good(*range(1, 8))


def test_larger_batches_have_more_time() -> None:
    answers = iter([None])
    crew = Scripted(1, lambda task: next(answers, rows(task)) if task.records else rows(task))
    assert run(crew, *"abcdefgh", size=2) == good(*range(1, 9))
    assert max(crew.waited[:2]) > 200  # of 4 * 60


def test_workers_that_die_as_they_start() -> None:
    crew = Scripted(2, lambda task: rows(task) if task.records else GONE)
    with pytest.raises(ChildProcessError, match="^workers die as they load the model"):
        run(crew, "a")
    assert len(crew.renewed) == 4


def test_little_is_read_ahead() -> None:
    read: list[int] = []

    def batches():  # type: ignore[no-untyped-def]
        for number in range(50):
            read.append(number)
            yield batch("a")

    done = schedule(Scripted(3, rows), 60, 100).run(batches())
    for finished, tables in enumerate(done, 1):
        assert len(tables) == 1 and len(read) <= finished + 3
    assert read == [*range(50)]
