"""A job: what is not finished of the input goes to a crew; what comes back becomes files, shard by shard."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from d2c.base.errors import FormatError
from d2c.base.workers import Crew, Schedule
from d2c.corpora.inputs import Inputs
from d2c.corpora.manifest import Counts, Manifest
from d2c.corpora.options import CorpusOptions
from d2c.corpora.retries import retried
from d2c.corpora.rows import write_parquet
from d2c.corpora.shards import RecordBatch, Shard, cut, digest_of_records
from d2c.corpora.worker import WorkerTask


class BatchDone(NamedTuple):
    """What one more batch has brought; share: of what this run has to do, how much is done, about."""

    sentences: int
    tokens: int
    errors: list[FormatError]
    share: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How a job is done; crew: starts the workers, when there is something to do."""

    inputs: Inputs
    options: CorpusOptions
    crew: Callable[[], AbstractContextManager[Crew]]

    def schedule(self, crew: Crew) -> Schedule[RecordBatch, list[pa.Table]]:
        """Return the schedule of batches; those of about one shard may wait for one that takes long."""
        options = self.options
        return Schedule(
            crew,
            lambda batch: retried(WorkerTask(batch.records)),
            3 * crew.size + options.shard_size // options.batch_size,
            ready=WorkerTask(),
            patience=options.patience,
            weight=lambda batch: max(1.0, batch.size / options.batch_size),
        )


class _ShardJob(NamedTuple):
    """A shard of which some batches are to be parsed.

    batches:  their numbers
    before:   the table that each batch had; None: all are to be parsed
    size:     of a batch, in bytes of the input, about
    """

    shard: Shard
    batches: list[int]
    before: list[pa.Table] | None
    size: float

    def tables(self, made: list[list[pa.Table]]) -> list[list[pa.Table]]:
        """Return the tables of all batches, from those of `batches`."""
        tables = [[table] for table in self.before or self.shard.batches]
        for number, new in zip(self.batches, made, strict=True):
            tables[number] = new
        return tables


class _Unfinished:
    """The shards that are to be parsed, and how much of the input they are, for an estimate of the time."""

    def __init__(self, plan: Plan, manifest: Manifest) -> None:
        self.shards = 0
        self._plan, self._manifest, self._begun = plan, manifest, deque[_ShardJob]()
        self._skipped, self._done = 0.0, 0.0

    def batches(self) -> Iterator[RecordBatch]:
        """Yield all batches that are to be parsed. Raises FormatError where finished input has changed."""
        inputs, options, read = self._plan.inputs, self._plan.options, 0
        for shard in cut(inputs, inputs.kind, options.shard_size, options.batch_size):
            self.shards += 1
            size, read = (inputs.position - read) / len(shard.batches), inputs.position
            job = self._job(shard, size)
            self._skipped += size * (len(shard.batches) - len(job.batches))
            if job.batches:
                self._begun.append(job)
                yield from [shard.batches[number] for number in job.batches]

    def _job(self, shard: Shard, size: float) -> _ShardJob:
        """Return what is to be done of a shard: all, nothing, or the batches in which something failed."""
        every = [*range(len(shard.batches))]
        if (entry := self._manifest.entries.get(shard.number)) is None:
            return _ShardJob(shard, every, None, size)
        records = shard.records
        if entry.given != digest_of_records(records[: entry.records]):
            reach = f" and ends in {entry.files[-1]}" if len(entry.files) > 1 else ""
            problem = f"what begins here{reach} has changed since {entry.file} was made"
            advice = "parse anew into another directory"
            raise FormatError(records[0].file, records[0].line, 0, f"{problem}; {advice}")
        if len(records) > entry.records:  # it was the last one, and files were added
            return _ShardJob(shard, every, None, size)
        if not (self._plan.options.retry_failed and entry.failed):
            return _ShardJob(shard, [], None, size)
        before = self._manifest.tables(entry)
        if len(before) != len(every):  # somebody has edited the manifest
            return _ShardJob(shard, every, None, size)
        failed = [number for number, table in enumerate(before) if table["error"].null_count < len(table)]
        return _ShardJob(shard, failed, before, size)

    def finish(self) -> tuple[_ShardJob, float]:
        """Count one more batch; return its shard, and the share of all batches that is done."""
        job = self._begun[0]
        self._done += job.size
        return job, min(1.0, self._done / max(1, self._plan.inputs.total - self._skipped))

    def finish_shard(self) -> None:
        """Go on to the next shard."""
        self._begun.popleft()


def run(plan: Plan, manifest: Manifest) -> Generator[BatchDone, None, None]:
    """Parse what is not finished. Raises FormatError where the input of what is finished has changed."""
    unfinished, made = _Unfinished(plan, manifest), list[list[pa.Table]]()
    batches = unfinished.batches()
    if (first := next(batches, None)) is not None:
        with plan.crew() as crew:
            for tables in plan.schedule(crew).run(chain([first], batches)):
                made.append(tables)
                job, share = unfinished.finish()
                if len(made) == len(job.batches):
                    _write(job.tables(made), job.shard, manifest)
                    unfinished.finish_shard()
                    made = []
                yield _progress(tables, share)
    manifest.complete(unfinished.shards)


def _write(batches: list[list[pa.Table]], shard: Shard, manifest: Manifest) -> None:
    def put(stream: BinaryIO) -> Counts:
        table = write_parquet([*chain.from_iterable(batches)], stream)
        failed = table.num_rows - table["error"].null_count
        rows = tuple([sum(part.num_rows for part in tables) for tables in batches]) if failed else ()
        return table.num_rows, _tokens(table), failed, rows

    manifest.add(shard.number, shard.given, put)


def _tokens(table: pa.Table) -> int:
    return sum(len(chunk.flatten()) for chunk in table["tokens"].chunks)


def _progress(tables: list[pa.Table], share: float) -> BatchDone:
    errors = []
    for table in tables:
        bad = table.filter(table["error"].is_valid()).select(["file", "line", "error"])
        errors += [FormatError(row["file"], row["line"], 0, row["error"]) for row in bad.to_pylist()]
    rows = sum(table.num_rows for table in tables)
    return BatchDone(rows, sum(map(_tokens, tables)), errors, share)
