"""What long work has finished, kept in files from which a later run goes on: the one place that does this.

A *journal* is for work of many pieces: a line of JSON for each that is finished. One process at a time has it
open; its lock ends with that process. A line counts when it is whole: what a killed run left of its last line
is cut off before the next one is written. The first line may be a header that says what the journal is about,
so that a run with other settings does not go on from it.

A *checkpoint* is for one piece that takes long, a training: a file that is written anew each time, whole or
not at all, since nearly all of it is arrays that have changed.

SQLite would add nothing: rows are only appended, and are all read at once. But people could not read its
files, its lock ends when anything in the process closes the file, and it does not work on all file systems.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from d2c.base.errors import FormatError, ModelError
from d2c.base.files import writing
from d2c.base.model_files import first_line
from d2c.base.temporary import lock, staged_file

Row = TypeVar("Row")
_NOT_DECODED = (msgspec.ValidationError, ValueError, RecursionError)  # lines of something else


class Journal:
    """A journal that this process writes, open until the end of a `with` block.

    path:    the file, created if absent; opening changes nothing in an existing one
    name:    what messages call it; by default its path
    durable: every line is on the disk when `append` returns, and so is the file's name after `begin`
    begins:  how each line begins; an unfinished last line is taken for a torn one only if it begins so
    lines:   the whole lines [L] that were there when it was opened, each with its line break

    Raises FormatError for a file that cannot be written, or that another process has open.
    """

    def __init__(self, path: Path, name: str = "", durable: bool = False, begins: bytes = b"") -> None:
        self.path, self._name, self._durable = path, name or str(path), durable
        if path.exists() and not path.is_file():  # a pipe would wait for a reader
            raise FormatError(str(path), 0, 0, "is no file; move it")
        try:
            self._stream = open(path, "ab")  # noqa: SIM115 (`close` closes it)
        except OSError as error:
            raise FormatError(self._name, 0, 0, f"cannot be written: {error.strerror or error}") from None
        try:
            lock(self._stream)
            self.lines = path.read_bytes().splitlines(keepends=True)
        except BlockingIOError:
            self.close()
            raise FormatError(self._name, 0, 0, "is being written by another process") from None
        except OSError as error:
            self.close()
            raise FormatError(self._name, 0, 0, f"cannot be read: {error.strerror or error}") from None
        self._torn = bool(self.lines) and not self.lines[-1].endswith(b"\n")
        self._torn = self._torn and self.lines[-1].startswith(begins)
        if self._torn:
            self.lines.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, header: Mapping[str, Any]) -> None:
        """Begin the journal anew, with a header alone. Raises FormatError where it cannot be written."""
        with writing(self._name):
            self._stream.truncate(0)
            self.lines, self._torn = [], False
            self.append(header)
            if self._durable:
                synchronize(self.path.parent)

    def rows(self, shape: type[Row], first: int = 1) -> list[Row]:
        """Return the lines from `first` on, counted from 0, as values of the type `shape`.

        Raises FormatError for lines that are no such values.
        """
        rows = list[Row]()
        for number, line in enumerate(self.lines[first:], first + 1):
            try:
                rows.append(_decoded(line, shape))
            except _NOT_DECODED as error:
                raise FormatError(self._name, number, 0, first_line(error)) from None
        return rows

    def changes(self, header: Mapping[str, Any]) -> dict[str, tuple[Any, Any]] | None:
        """Return the entries in which the journal's header differs from this one: its own value and this
        one's, None for an entry that is missing. None where the journal has no header.
        """
        try:
            before = _decoded(self.lines[0], dict[str, Any]) if self.lines else None
        except _NOT_DECODED:
            return None
        if before is None:
            return None
        after = json.loads(json.dumps(header))  # tuples become lists, as in the file
        pairs = {name: (before.get(name), after.get(name)) for name in {**before, **after}}
        return {name: (then, now) for name, (then, now) in pairs.items() if then != now}

    def append(self, row: Any) -> None:
        """Write a value that JSON can hold, as a line. Raises FormatError where it cannot be written."""
        with writing(self._name):
            if self._torn:
                self._stream.truncate(sum(map(len, self.lines)))
                self._torn = False
            self._stream.write(json.dumps(row).encode() + b"\n")
            self._stream.flush()
            if self._durable:
                os.fsync(self._stream.fileno())

    def remove(self) -> None:
        """Delete the file. Nothing can be appended any more."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file, which ends the lock."""
        with suppress(OSError):  # of a line that could not be written, as `append` has said
            self._stream.close()


def _decoded(line: bytes, shape: type[Row]) -> Row:
    """Return a line as a value of the type `shape`. Raises _NOT_DECODED.

    msgspec's own reader takes no lone surrogates, which names of files may have.
    """
    return msgspec.convert(json.loads(line), shape)


def synchronize(directory: Path) -> None:
    """Write the names in a directory to the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_checkpoint(path: Path, write: Callable[[Path], object]) -> None:
    """Write a checkpoint by `write`, in a directory that is made if absent. Raises ModelError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(path) as staged:
            write(staged)
    except (OSError, RuntimeError) as error:  # the latter is torch's where a disk is full
        raise ModelError(f"{path}: cannot be written: {first_line(error)}") from None


@contextmanager
def reading_checkpoint(path: Path) -> Iterator[None]:
    """Turn whatever error a broken checkpoint leads to into a ModelError that names it."""
    try:
        yield
    except ModelError:
        raise ModelError(f"{path}: is broken; remove it") from None
    except Exception as error:  # of any kind: it is what damaged files led a library to do
        raise ModelError(f"{path}: is broken; remove it ({first_line(error)})") from None
