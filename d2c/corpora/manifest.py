"""What is finished of a job: DIR/.manifest.jsonl, the one place that says it.

Its first line has the settings, on which the output depends beside the input. A line for each shard follows
when its file is whole: written beside its place, put on the disk, renamed. So whenever a run is killed, what
whole lines name is there; any other file of the job is written again, with the same bytes. The last line says
how many shards there are.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from d2c.base.errors import FormatError
from d2c.base.files import writing
from d2c.base.temporary import beside, lock

NAME = ".manifest.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A shard that is finished.

    given:  the digest of its input; sha256, length: of its file, in bytes
    failed: how many of its sentences could not be parsed
    """

    shard: int
    given: str
    sha256: str
    length: int
    sentences: int
    tokens: int
    failed: int

    @property
    def file(self) -> str:
        """The name of its file."""
        return file_of(self.shard)


def file_of(shard: int) -> str:
    """The name of a shard's file."""
    return f"part-{shard:06}.parquet"


@dataclass
class Manifest:
    """What is finished; shards: how many there are, once all are finished."""

    directory: Path
    entries: dict[int, Entry] = field(default_factory=dict)
    shards: int | None = None
    _log: BinaryIO | None = None

    def add(self, shard: int, given: str, put: Callable[[BinaryIO], tuple[int, int, int]]) -> Entry:
        """Writes a shard's file, then its line.

        put: writes into a stream; returns how many sentences, tokens and failed sentences there are
        Raises FormatError where the directory cannot be written.
        """
        target = self.directory / file_of(shard)
        staged = target.with_name(beside(target) + "part")  # nobody else writes: the manifest is locked
        with writing(str(target)):
            with open(staged, "w+b") as stream:
                counts = put(stream)
                stream.flush()
                os.fsync(stream.fileno())
                length = stream.seek(0, os.SEEK_END)
                stream.seek(0)
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            os.replace(staged, target)
            _sync(self.directory)
        self.entries[shard] = entry = Entry(shard, given, digest, length, *counts)
        self._say(asdict(entry))
        return entry

    def complete(self, shards: int) -> None:
        """Says that there are no more shards than these, which are finished."""
        self.shards = shards
        self._say({"shards": shards})

    def digest(self) -> str:
        """Of the whole output: of the digests of its files, in order."""
        files = "".join(self.entries[shard].sha256 for shard in sorted(self.entries))
        return hashlib.sha256(files.encode()).hexdigest()

    def _say(self, line: Mapping[str, Any]) -> None:
        assert self._log is not None
        with writing(str(self.directory / NAME)):
            self._log.write(json.dumps(line).encode() + b"\n")
            self._log.flush()
            os.fsync(self._log.fileno())


@contextmanager
def opened(directory: Path, settings: Mapping[str, Any], resume: bool) -> Iterator[Manifest]:
    """The manifest of a job in a directory, which is made; locked.

    Raises FormatError for what cannot be written, for a directory with other files in it, for a job of other
    settings, and for any job where nobody said `resume`.
    """
    path = directory / NAME
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists() and any(directory.glob("*.parquet")):
            raise FormatError(str(directory), 0, 0, "has Parquet files that are not of this job; move them")
        with open(path, "ab") as log:
            lock(log)
            first = json.dumps(settings).encode() + b"\n"
            lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            manifest = Manifest(directory, _log=log)
            if lines:
                _read(manifest, lines, first, resume)
            log.truncate(sum(map(len, lines)))
            if not lines:
                log.write(first)
                log.flush()
                os.fsync(log.fileno())
                _sync(directory)
            yield manifest
    except BlockingIOError:
        raise FormatError(str(directory), 0, 0, "is being written by another process") from None
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)) not in (path, directory):
            raise
        raise FormatError(str(directory), 0, 0, f"cannot be written: {error.strerror or error}") from None


def _read(manifest: Manifest, lines: list[bytes], first: bytes, resume: bool) -> None:
    """What lines of a manifest say. Raises FormatError where a job cannot go on from there."""
    directory = str(manifest.directory)
    if not resume:
        problem = "has a job, finished or not; say --resume to go on with it, or delete the directory"
        raise FormatError(directory, 0, 0, problem)
    if lines[0] != first:
        problem = f"was made {_difference(lines[0], first)}; delete the directory to begin anew"
        raise FormatError(directory, 0, 0, problem)
    try:
        for line in lines[1:]:
            said = json.loads(line)
            if "shards" in said:
                manifest.shards = int(said["shards"])
            else:
                manifest.entries[said["shard"]] = Entry(**said)
    except (ValueError, TypeError, KeyError):
        problem = f"its {NAME} is damaged; delete the directory to begin anew"
        raise FormatError(directory, 0, 0, problem) from None
    for entry in [*manifest.entries.values()]:
        file = manifest.directory / entry.file
        if not file.is_file() or file.stat().st_size != entry.length:  # somebody took it away
            del manifest.entries[entry.shard]
            manifest.shards = None


def _difference(before: bytes, now: bytes) -> str:
    """Which settings are others."""
    with suppress(ValueError, AttributeError):
        old, new = json.loads(before), json.loads(now)
        names = [name for name in new if old.get(name) != new[name]]
        return f"with other settings ({', '.join(names)})"
    return "by something else"


def _sync(directory: Path) -> None:
    """Puts the names in a directory on the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
