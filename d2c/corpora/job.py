"""A job: what is not finished of the input goes to a crew; what comes back becomes files, shard by shard."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from d2c.base.errors import FormatError
from d2c.corpora.crew import Crew, Schedule
from d2c.corpora.inputs import Inputs
from d2c.corpora.manifest import Manifest
from d2c.corpora.rows import write_parquet
from d2c.corpora.shards import Portion, cut

if TYPE_CHECKING:
    import pyarrow as pa


class Progress(NamedTuple):
    """What one more portion has brought; share: of what this run has to do, how much is done, about."""

    sentences: int
    tokens: int
    errors: list[FormatError]
    share: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How a job is done.

    shard_size, batch_size: in sentences, about: of a file, of what a worker gets at a time
    patience: seconds after which a batch of this size hangs
    crew:     starts the workers, when there is something to do
    """

    inputs: Inputs
    shard_size: int
    batch_size: int
    patience: float
    crew: Callable[[], AbstractContextManager[Crew]]


class _Unfinished(NamedTuple):
    """A shard, its portions' tables, and the bytes of the input that each of them stands for."""

    digest: str
    tables: list[list[pa.Table] | None]
    bytes: float


def run(plan: Plan, manifest: Manifest) -> Generator[Progress, None, None]:
    """Does what is not finished yet. Raises FormatError where the input of what is finished has changed."""
    if manifest.shards is not None:
        return
    progress = _Bytes(plan.inputs)
    unfinished: dict[int, _Unfinished] = {}
    shards = 0

    def portions() -> Iterator[Portion]:
        nonlocal shards
        for shard in cut(plan.inputs, plan.inputs.kind, plan.shard_size, plan.batch_size):
            shards += 1
            if (entry := manifest.entries.get(shard.number)) is None:
                size = progress.read() / len(shard.portions)
                unfinished[shard.number] = _Unfinished(shard.digest, [None] * len(shard.portions), size)
                yield from shard.portions
            elif entry.given == shard.digest:
                progress.skip()
            else:
                where = shard.portions[0].records[0]
                raise FormatError(where.file, where.line, 0, f"is not what {entry.file} was made of")

    stream = portions()
    if (first := next(stream, None)) is not None:
        with plan.crew() as crew:
            schedule = Schedule(crew, plan.patience, plan.batch_size)
            for portion, tables in schedule.run(chain([first], stream)):
                shard = unfinished[portion.shard]
                shard.tables[portion.number] = tables
                progress.finish(shard.bytes)
                if None not in shard.tables:
                    _write(unfinished.pop(portion.shard), portion.shard, manifest)
                yield _progress(tables, progress.share())
    manifest.complete(shards)


def _write(shard: _Unfinished, number: int, manifest: Manifest) -> None:
    def put(stream: BinaryIO) -> tuple[int, int, int]:
        table = write_parquet([*chain.from_iterable(filter(None, shard.tables))], stream)
        return table.num_rows, _tokens(table), table.num_rows - table["error"].null_count

    manifest.add(number, shard.digest, put)


def _tokens(table: pa.Table) -> int:
    return sum(len(chunk.flatten()) for chunk in table["tokens"].chunks)


def _progress(tables: list[pa.Table], share: float) -> Progress:
    errors = []
    for table in tables:
        bad = table.filter(table["error"].is_valid()).select(["file", "line", "error"])
        errors += [FormatError(row["file"], row["line"], 0, row["error"]) for row in bad.to_pylist()]
    rows = sum(table.num_rows for table in tables)
    return Progress(rows, sum(map(_tokens, tables)), errors, share)


class _Bytes:
    """How much of the input is read and done: the rest is what the time left is estimated from."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._read = self._skipped = 0
        self._done = 0.0

    def read(self) -> int:
        """The bytes that were read since it was asked last."""
        before, self._read = self._read, self._inputs.position
        return self._read - before

    def skip(self) -> None:
        """What was read is finished from before."""
        self._skipped += self.read()

    def finish(self, size: float) -> None:
        """So many bytes are done."""
        self._done += size

    def share(self) -> float:
        """Of what is not skipped."""
        return min(1.0, self._done / max(1, self._inputs.total - self._skipped))
