"""The record of what a job has finished: DIR/.manifest.jsonl, a journal with the job's settings as header.

A row names the files of the input. A row for each shard follows when the shard's file is whole: written
beside its place, flushed to the disk, and renamed. After a kill, the files that rows name are there; any
other file of the job is written again, with the same bytes. The last row says how many shards there are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa

from d2c.base.errors import FormatError
from d2c.base.files import digest_of_file, writing
from d2c.base.numbers import Count
from d2c.base.store import Journal, synchronize
from d2c.base.temporary import beside
from d2c.corpora.rows import read_parquet
from d2c.parsing.options import told_changes

NAME = ".manifest.jsonl"
_FORM = 2  # the version of the manifest and of the output's columns


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished shard.

    given, records, files: the digest of the records of its input, how many they are, and their files
    sha256, length: the digest of its file, and the file's length in bytes
    failed:   how many of its sentences could not be parsed
    portions: if some could not, how many rows each batch has; otherwise empty
    """

    shard: Count
    given: str
    records: Count
    files: tuple[str, ...]
    sha256: str
    length: Count
    sentences: Count
    tokens: Count
    failed: Count
    portions: tuple[Count, ...] = ()

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return file_of(self.shard)


def file_of(shard: int) -> str:
    """Return the name of a shard's file."""
    return f"part-{shard:06}.parquet"


@dataclass
class Manifest:
    """The finished shards by their numbers.

    shards: how many there are in all, once all are finished
    files:  the files of finished shards, in the order in which they were read
    planned: all files that the job was ever given, in the order in which it was given them
    """

    directory: Path
    journal: Journal
    entries: dict[int, Entry] = field(default_factory=dict)
    shards: int | None = None
    files: tuple[str, ...] = ()
    planned: dict[str, None] = field(default_factory=dict)

    def plan(self, files: Iterable[str]) -> None:
        """Write which files the job is given that it was not given before: they are read last."""
        if new := [file for file in files if file not in self.planned]:
            self.planned |= dict.fromkeys(new)
            self.journal.append({"inputs": new})

    def add(self, shard: int, put: Callable[[BinaryIO], object], **said: Any) -> None:
        """Write a shard's file, then its row.

        put: writes the file into a stream; said: the other fields of its `Entry`
        Raises FormatError where the directory cannot be written.
        """
        target = self.directory / file_of(shard)
        staged = target.with_name(beside(target) + "part")  # nobody else writes: the journal is locked
        with writing(str(target)):
            try:
                with open(staged, "wb") as stream:
                    put(stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                length, digest = staged.stat().st_size, digest_of_file(staged)
                os.replace(staged, target)
            finally:
                staged.unlink(missing_ok=True)
            synchronize(self.directory)
        self.entries[shard] = entry = Entry(shard=shard, sha256=digest, length=length, **said)
        self.journal.append(asdict(entry))

    def tables(self, entry: Entry) -> list[pa.Table]:
        """Return the table of each batch of a shard in which sentences failed; none if rows do not fit."""
        table, begin, tables = read_parquet(self.directory / entry.file), 0, []
        for rows in entry.portions:
            tables.append(table.slice(begin, rows))
            begin += rows
        return tables if begin == table.num_rows else []

    def complete(self, shards: int) -> None:
        """Write that the job has so many shards, which are all finished.

        Raises FormatError if more shards are finished: the input has become shorter.
        """
        if more := [entry for entry in self.entries.values() if entry.shard >= shards]:
            raise FormatError(str(self.directory), 0, 0, f"the input has nothing left for {more[0].file}")
        if self.shards != shards:
            self.shards = shards
            self.journal.append({"shards": shards})

    def digest(self) -> str:
        """Return the digest of the whole output: of the digests of its files, in order."""
        files = "".join(self.entries[shard].sha256 for shard in sorted(self.entries))
        return hashlib.sha256(files.encode()).hexdigest()


@contextmanager
def opened(directory: Path, settings: Mapping[str, Any], resume: bool) -> Iterator[Manifest]:
    """Provide the manifest of a job, locked, in a directory, which is made if it is missing.

    Raises FormatError for what cannot be written, for a directory with other files in it, for a job with
    other settings, and, without `resume`, for any job.
    """
    path, new = directory / NAME, not directory.exists()
    settings = {"form": _FORM, **settings}
    if directory.is_file():
        raise FormatError(str(directory), 0, 0, "is a file; name a directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(str(directory), 0, 0, f"cannot be written: {error.strerror or error}") from None
    if not path.exists() and not all(one.name.startswith(".") for one in directory.iterdir()):
        raise FormatError(str(directory), 0, 0, "holds other files; name a new directory, or an empty one")
    with Journal(path, str(directory), durable=True) as journal:
        manifest, finished = Manifest(directory, journal), False
        if journal.lines:
            finished = _read(manifest, settings, resume)
        else:
            journal.begin(settings)
        try:
            yield manifest
        except BaseException:
            if not (finished or manifest.entries):  # nothing to go on from
                journal.remove()
                with suppress(OSError):
                    directory.rmdir() if new else None
            raise


def _read(manifest: Manifest, settings: Mapping[str, Any], resume: bool) -> bool:
    """Take over the rows of a journal; return whether any is of a shard, even if the shard's file is missing.

    Raises FormatError where a job cannot go on from there.
    """
    directory, journal = str(manifest.directory), manifest.journal
    if not resume:
        problem = "has a job, finished or not; say --resume to go on with it, or delete the directory"
        raise FormatError(directory, 0, 0, problem)
    changes = journal.changes(settings)
    if changes and "form" in changes:
        problem = "was made by another version of d2c, with other columns; parse anew into another directory"
        raise FormatError(directory, 0, 0, problem)
    if changes != {}:
        how = f"{told_changes(changes)}; keep to that, or delete" if changes else "by something else; delete"
        raise FormatError(directory, 0, 0, f"was made {how} the directory to begin anew")
    try:
        for row in journal.rows(dict[str, Any]):
            if "shards" in row:
                manifest.shards = msgspec.convert(row["shards"], Count)
            elif "inputs" in row:
                manifest.planned |= dict.fromkeys(msgspec.convert(row["inputs"], list[str]))
            else:
                entry = msgspec.convert(row, Entry)
                manifest.entries[entry.shard] = entry
    except (FormatError, msgspec.ValidationError):
        problem = f"its {NAME} is damaged; delete the directory to begin anew"
        raise FormatError(directory, 0, 0, problem) from None
    entries = [manifest.entries[shard] for shard in sorted(manifest.entries)]
    # Behind a missing shard, the order of the files is not known.
    in_order = (entry for shard, entry in enumerate(entries) if entry.shard == shard)
    manifest.files = (*dict.fromkeys(file for entry in in_order for file in entry.files),)
    for entry in entries:
        if not _is_whole(manifest.directory / entry.file, entry):  # somebody took it away, or changed it
            del manifest.entries[entry.shard]
    return bool(entries)


def _is_whole(file: Path, entry: Entry) -> bool:
    """Return whether a file has the size and digest of its row; a file of another size is not read."""
    try:
        return file.stat().st_size == entry.length and digest_of_file(file) == entry.sha256
    except OSError:
        return False
