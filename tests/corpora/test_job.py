"""Jobs whose crew does as it is told: failed sentences again, changed input, short memory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from d2c.base.workers import Failed
from d2c.corpora.inputs import Inputs
from d2c.corpora.job import BatchDone, run
from d2c.corpora.manifest import NAME, opened
from d2c.corpora.options import CorpusOptions
from d2c.corpora.worker import WorkerTask
from tests.corpora.crews import GONE, Behaviour, Scripted, rows, words
from tests.errors import faulty

LINES = [f"word {number}" for number in range(20)]
OPTIONS = CorpusOptions(shard_size=8, batch_size=2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{line}\n" for line in LINES))
    return path


def parse(
    source: Path, output: Path, behaviour: Behaviour = rows, resume: bool = False, retry: bool = False
) -> tuple[list[BatchDone], Scripted]:
    """Do a job; return what it said, and the crew, which was asked nothing where nothing was to be done."""
    crew = Scripted(1, behaviour)
    inputs = Inputs([source], replace(OPTIONS, retry_failed=retry))
    with opened(output, {}, resume) as manifest:
        return [*run(inputs, manifest, lambda: nullcontext(crew))], crew


def files(output: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in output.glob("*.parquet")}


def errors(output: Path) -> dict[int, str]:
    """The lines that have one."""
    found: list[dict[str, Any]] = [row for file in sorted(files(output)) for row in _rows(output / file)]
    assert [row["line"] for row in found] == [*range(1, 21)]
    return {row["line"]: row["error"] for row in found if row["error"] is not None}


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def fails_at(*numbers: str) -> Behaviour:
    def behaviour(task: WorkerTask) -> pa.Table | Failed:
        return GONE if {*numbers} & {*words(task)} and not task.error else rows(task)

    return behaviour


def test_what_failed_is_tried_again(source: Path, tmp_path: Path) -> None:
    """Only the batches in which something failed are parsed; then the files are those of a run without it."""
    whole, output = tmp_path / "whole", tmp_path / "out"
    parse(source, whole)
    parse(source, output, fails_at("3", "17"))
    assert errors(output) == {4: GONE.why, 18: GONE.why}
    parse(source, output, resume=True)
    assert errors(output) == {4: GONE.why, 18: GONE.why}
    done, crew = parse(source, output, fails_at("17"), resume=True, retry=True)
    assert errors(output) == {18: GONE.why} and [one.sentences for one in done] == [2, 2]
    assert [len(task.records) for task in crew.asked if not task.error][:4] == [0, 2, 2, 0]
    done, _ = parse(source, output, resume=True, retry=True)
    assert [one.sentences for one in done] == [2]
    assert files(output) == files(whole)
    assert parse(source, output, resume=True, retry=True)[1].asked == []


def test_a_manifest_that_says_nothing_of_batches(source: Path, tmp_path: Path) -> None:
    whole, output = tmp_path / "whole", tmp_path / "out"
    parse(source, whole)
    parse(source, output, fails_at("3"))
    manifest = output / NAME
    manifest.write_text(manifest.read_text().replace("[2, 2, 2, 2]", "[2, 6, 1]"))
    parse(source, output, resume=True, retry=True)
    assert files(output) == files(whole)


@pytest.mark.parametrize("number", [0, 11, 19])
def test_a_finished_job_whose_input_has_changed(number: int, source: Path, tmp_path: Path) -> None:
    """The file has the size that it had."""
    parse(source, tmp_path / "out")
    source.write_text(source.read_text().replace(f"word {number}\n", f"sword {number}\n"[1:].upper()))
    with faulty(source, number // 8 * 8 + 1, about=f"has changed since part-00000{number // 8}."):
        parse(source, tmp_path / "out", resume=True)


def test_a_finished_job_whose_input_has_ended_earlier(source: Path, tmp_path: Path) -> None:
    parse(source, tmp_path / "out")
    text = source.read_text()
    end = text.index("word 16\n")
    source.write_text(text[:end] + "\n" * (len(text) - end))
    with faulty("out", about="nothing left for part-000002.parquet"):
        parse(source, tmp_path / "out", resume=True)


def test_short_memory_ends_the_run(source: Path, tmp_path: Path) -> None:
    """No row says that a sentence could not be parsed, as all workers die."""
    output = tmp_path / "out"
    with pytest.raises(ChildProcessError, match="^17 workers died one after the other and nothing was done"):
        parse(
            source, output, lambda task: GONE if task.records and words(task) > ["word", "1"] else rows(task)
        )
    assert files(output) == {}
    parse(source, output, resume=True)
    assert errors(output) == {}


def test_many_bad_sentences_do_not_end_the_run(source: Path, tmp_path: Path) -> None:
    parse(source, tmp_path / "out", fails_at(*map(str, range(0, 20, 2))))
    assert [*errors(tmp_path / "out")] == [*range(1, 21, 2)]
