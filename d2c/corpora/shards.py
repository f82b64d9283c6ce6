"""The input cut into shards, each of which becomes a file, and shards into batches for workers.

Where the cuts are depends on the input alone, so that a job can go on from any shard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d2c.corpora.manifest import Given
from d2c.corpora.records import Record


class RecordBatch(NamedTuple):
    """Some records of a shard, of about `size` sentences: what a worker gets at a time."""

    records: tuple[Record, ...]
    size: int


class Shard(NamedTuple):
    """The records of one file of the output; number: from 0."""

    number: int
    batches: list[RecordBatch]

    @property
    def records(self) -> list[Record]:
        """Return the records of all batches."""
        return [record for batch in self.batches for record in batch.records]

    @property
    def given(self) -> Given:
        """Return what the manifest says of its input."""
        records = self.records
        return Given(
            digest_of_records(records), len(records), (*dict.fromkeys(record.file for record in records),)
        )


def digest_of_records(records: Iterable[Record]) -> str:
    """Return the SHA-256 of what records say."""
    digest = hashlib.sha256()
    for record in records:
        digest.update(repr(record).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def cut(records: Iterable[Record], kind: str, shard_size: int, batch_size: int) -> Iterator[Shard]:
    """Cut records, after about so many sentences, into shards and batches; one shard is held at a time.

    kind: one of `input.KINDS`, of the input's text
    """
    number, batches = 0, list[RecordBatch]()
    held, size, total = list[Record](), 0, 0
    for record in records:
        held.append(record)
        more = record.size(kind)
        size, total = size + more, total + more
        if size >= batch_size or total >= shard_size:
            batches.append(RecordBatch(tuple(held), size))
            held, size = [], 0
        if total >= shard_size:
            yield Shard(number, batches)
            number, batches, total = number + 1, [], 0
    if held:
        batches.append(RecordBatch(tuple(held), size))
    if batches:
        yield Shard(number, batches)
