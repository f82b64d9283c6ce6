"""A job: the input is cut into shards, a pool of workers parses what is not finished, and the results become
a file for each shard.

The places of the cuts depend on the input alone, so that a job can go on from any shard.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from d2c.base.batches import WORDS
from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import open_output
from d2c.base.workers import Scheduler, WorkerPool
from d2c.corpora.inputs import Inputs
from d2c.corpora.manifest import Manifest
from d2c.corpora.options import CorpusOptions
from d2c.corpora.records import Record
from d2c.corpora.retries import retried
from d2c.corpora.rows import write_parquet
from d2c.corpora.worker import WorkerTask

SUMMARY = ".summary.json"


class Shard(NamedTuple):
    """The records of one file of the output, in batches for workers; number: from 0."""

    number: int
    batches: list[WorkerTask]

    @property
    def records(self) -> list[Record]:
        """Return the records of all batches."""
        return [record for batch in self.batches for record in batch.records]


def cut(records: Iterable[Record], options: CorpusOptions) -> Iterator[Shard]:
    """Cut records into shards and batches of about `shard_size` and `batch_size` sentences; batches have
    fewer if sentences average more than WORDS words. One shard is held at a time."""
    number, batches = 0, list[WorkerTask]()
    held, size, words, total = list[Record](), 0, 0, 0
    for record in records:
        held.append(record)
        more = record.size(options.kind)
        size, total, words = size + more, total + more, words + record.words
        full = size >= options.batch_size or words >= options.batch_size * WORDS
        if full or total >= options.shard_size:
            batches.append(WorkerTask(tuple(held), size=size))
            held, size, words = [], 0, 0
        if total >= options.shard_size:
            yield Shard(number, batches)
            number, batches, total = number + 1, [], 0
    if held:
        batches.append(WorkerTask(tuple(held), size=size))
    if batches:
        yield Shard(number, batches)


def digest_of_records(records: Iterable[Record]) -> str:
    """Return the SHA-256 of records, with all that they say."""
    digest = hashlib.sha256()
    for record in records:
        digest.update(repr(record).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


class BatchDone(NamedTuple):
    """Counts of a batch that is done.

    cut:   how many sentences were parsed in pieces
    share: about which share of this run's work is done
    """

    sentences: int
    tokens: int
    cut: int
    errors: list[FormatError]
    share: float


@dataclass
class _ShardJob:
    """A shard of which some batches are to be parsed.

    batches: the numbers of these batches; made: the tables of the first of them, which are done
    before:  the table that each batch of the shard had; None: all are to be parsed
    size:    about how many bytes of the input a batch has
    """

    shard: Shard
    batches: list[int]
    before: list[pa.Table] | None
    size: float
    made: list[list[pa.Table]] = field(default_factory=list)

    def write(self, manifest: Manifest) -> None:
        """Write the shard's file, from the tables of all its batches."""
        batches = {number: [table] for number, table in enumerate(self.before or ())}
        batches |= zip(self.batches, self.made, strict=True)
        table = pa.concat_tables(chain.from_iterable(batches.values())).combine_chunks()
        failed, records = table.num_rows - table["error"].null_count, self.shard.records
        portions = tuple([sum(part.num_rows for part in own) for own in batches.values()])
        manifest.add(
            self.shard.number,
            partial(write_parquet, table),
            given=digest_of_records(records),
            records=len(records),
            files=(*dict.fromkeys(record.file for record in records),),
            sentences=table.num_rows,
            tokens=_tokens(table),
            failed=failed,
            portions=portions if failed else (),
        )


class _Unfinished:
    """The shards that are to be parsed, and how much of the input they are, for an estimate of the time."""

    def __init__(self, inputs: Inputs, manifest: Manifest) -> None:
        self.shards = 0
        self._inputs, self._manifest, self._begun = inputs, manifest, deque[_ShardJob]()
        self._skipped, self._done = 0.0, 0.0

    def batches(self) -> Iterator[WorkerTask]:
        """Yield all batches that are to be parsed. Raises FormatError if finished input has changed."""
        inputs, read = self._inputs, 0
        for shard in cut(inputs, inputs.options):
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
        if len(records) > entry.records:  # the shard was the last one, and files were added
            return _ShardJob(shard, every, None, size)
        if not (self._inputs.options.retry_failed and entry.failed):
            return _ShardJob(shard, [], None, size)
        before = self._manifest.tables(entry)
        if len(before) != len(every):  # somebody has edited the manifest
            return _ShardJob(shard, every, None, size)
        failed = [number for number, table in enumerate(before) if table["error"].null_count < len(table)]
        return _ShardJob(shard, failed, before, size)

    def finish(self, tables: list[pa.Table]) -> BatchDone:
        """Take the tables of the next batch; after the last batch of a shard, write the shard's file."""
        job = self._begun[0]
        job.made.append(tables)
        self._done += job.size
        if len(job.made) == len(job.batches):
            job.write(self._manifest)
            self._begun.popleft()
        errors = []
        for table in tables:
            bad = table.filter(table["error"].is_valid()).select(["file", "line", "error"])
            errors += [FormatError(row["file"], row["line"], 0, row["error"]) for row in bad.to_pylist()]
        share = min(1.0, self._done / max(1, self._inputs.total - self._skipped))
        cut = sum(len(table) - table["pieces"].to_pylist().count(0) for table in tables)
        return BatchDone(sum(map(len, tables)), sum(map(_tokens, tables)), cut, errors, share)


def _tokens(table: pa.Table) -> int:
    return sum(len(chunk.flatten()) for chunk in table["tokens"].chunks)


def run(
    inputs: Inputs, manifest: Manifest, start: Callable[[], AbstractContextManager[WorkerPool]]
) -> Generator[BatchDone, None, None]:
    """Parse what is not finished. Raises FormatError if the input of what is finished has changed.

    start: starts the workers, when there is something to do
    """
    unfinished, options = _Unfinished(inputs, manifest), inputs.options
    batches = unfinished.batches()
    if (first := next(batches, None)) is not None:
        with start() as pool:
            scheduler = Scheduler(
                pool,
                retried,
                # The batches of about one shard may wait for a slow one.
                3 * pool.size + options.shard_size // options.batch_size,
                ready=WorkerTask(),
                patience=options.patience,
                weight=lambda batch: max(1.0, batch.size / options.batch_size),
            )
            yield from map(unfinished.finish, scheduler.run(chain([first], batches)))
    manifest.complete(unfinished.shards)


@dataclass(frozen=True, slots=True)
class JobSummary:
    """Counts of a finished job.

    files:   how many files of the input were read; skipped, broken: the others, and why
    errors:  how many sentences could not be parsed
    parts:   how many files the output has
    seconds: those of this run, which may have continued others, as for `words_per_second`
    """

    files: int
    skipped: dict[str, str]
    broken: dict[str, str]
    sentences: int
    words: int
    errors: int
    parts: int
    digest: str
    seconds: float
    words_per_second: float

    @classmethod
    def of(cls, manifest: Manifest, inputs: Inputs, words: int, seconds: float) -> JobSummary:
        """Return the summary of a job; words, seconds: of this run."""
        entries = manifest.entries.values()
        return cls(
            files=inputs.read,
            skipped=inputs.skipped,
            broken=inputs.broken,
            sentences=sum(entry.sentences for entry in entries),
            words=sum(entry.tokens for entry in entries),
            errors=sum(entry.failed for entry in entries),
            parts=len(entries),
            digest=manifest.digest(),
            seconds=round(seconds, 3),
            words_per_second=round(words / seconds, 1) if seconds else 0.0,
        )

    def write(self, directory: Path) -> None:
        """Write the summary beside the output. Raises FormatError where it cannot be written."""
        with open_output(directory / SUMMARY) as stream:
            stream.write(json.dumps(asdict(self), indent=1) + "\n")

    def __str__(self) -> str:
        """Return the summary in two lines."""
        elapsed, speed = timedelta(seconds=round(self.seconds)), many(round(self.words_per_second), "word")
        return (
            f"{many(self.files, 'file')} read, {len(self.skipped):,} skipped, {len(self.broken):,} broken\n"
            f"{many(self.sentences, 'sentence')}, {many(self.words, 'word')}, {many(self.errors, 'error')}; "
            f"{elapsed}, {speed}/s"
        )
