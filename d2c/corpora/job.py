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
from d2c.corpora.attempts import Tables, attempts
from d2c.corpora.inputs import Inputs
from d2c.corpora.manifest import Manifest
from d2c.corpora.options import CorpusOptions
from d2c.corpora.rows import write_parquet
from d2c.corpora.shards import Portion, Shard, cut
from d2c.corpora.work import WorkerTask


class PortionDone(NamedTuple):
    """What one more portion has brought; share: of what this run has to do, how much is done, about."""

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

    def schedule(self, crew: Crew) -> Schedule[Portion, list[pa.Table]]:
        """Return the schedule of portions; those of about one shard may wait for one that takes long."""
        options = self.options
        return Schedule(
            crew,
            attempts_of,
            3 * crew.size + options.shard_size // options.batch_size,
            ready=WorkerTask(),
            patience=options.patience,
            weight=lambda portion: max(1.0, portion.size / options.batch_size),
        )


def attempts_of(portion: Portion) -> Tables:
    """Attempt a portion."""
    return attempts(WorkerTask(portion.records))


class _Unread:
    """The shards that are to be parsed, and how much of the input they are, for an estimate of the time."""

    def __init__(self, inputs: Inputs) -> None:
        self.shards = 0
        self._inputs, self._begun = inputs, deque[tuple[Shard, float]]()
        self._read, self._skipped, self._done = 0, 0, 0.0

    def portions(self, plan: Plan, manifest: Manifest) -> Iterator[Portion]:
        """Yield all portions that are not finished. Raises FormatError where finished input has changed."""
        for shard in cut(self._inputs, self._inputs.kind, plan.options.shard_size, plan.options.batch_size):
            self.shards += 1
            size, self._read = self._inputs.position - self._read, self._inputs.position
            if (entry := manifest.entries.get(shard.number)) is None:
                self._begun.append((shard, size / len(shard.portions)))
                yield from shard.portions
            elif entry.given == shard.digest:
                self._skipped += size
            else:
                where = shard.portions[0].records[0]
                raise FormatError(where.file, where.line, 0, f"is not what {entry.file} was made of")

    def finish(self) -> tuple[Shard, float]:
        """Count one more portion; return its shard, and the share of all portions that is done."""
        shard, size = self._begun[0]
        self._done += size
        return shard, min(1.0, self._done / max(1, self._inputs.total - self._skipped))

    def finish_shard(self) -> None:
        """Go on to the next shard."""
        self._begun.popleft()


def run(plan: Plan, manifest: Manifest) -> Generator[PortionDone, None, None]:
    """Parse what is not finished. Raises FormatError where the input of what is finished has changed."""
    if manifest.shards is not None:
        return
    unread, tables = _Unread(plan.inputs), list[list[pa.Table]]()
    portions = unread.portions(plan, manifest)
    if (first := next(portions, None)) is not None:
        with plan.crew() as crew:
            for made in plan.schedule(crew).run(chain([first], portions)):
                tables.append(made)
                shard, share = unread.finish()
                if len(tables) == len(shard.portions):
                    _write([*chain.from_iterable(tables)], shard, manifest)
                    unread.finish_shard()
                    tables = []
                yield _progress(made, share)
    manifest.complete(unread.shards)


def _write(tables: list[pa.Table], shard: Shard, manifest: Manifest) -> None:
    def put(stream: BinaryIO) -> tuple[int, int, int]:
        table = write_parquet(tables, stream)
        return table.num_rows, _tokens(table), table.num_rows - table["error"].null_count

    manifest.add(shard.number, shard.digest, put)


def _tokens(table: pa.Table) -> int:
    return sum(len(chunk.flatten()) for chunk in table["tokens"].chunks)


def _progress(tables: list[pa.Table], share: float) -> PortionDone:
    errors = []
    for table in tables:
        bad = table.filter(table["error"].is_valid()).select(["file", "line", "error"])
        errors += [FormatError(row["file"], row["line"], 0, row["error"]) for row in bad.to_pylist()]
    rows = sum(table.num_rows for table in tables)
    return PortionDone(rows, sum(map(_tokens, tables)), errors, share)
