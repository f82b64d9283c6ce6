"""An append-only journal: a line of JSON for each finished piece of a long run, which a later run continues.

One process at a time has a journal open; its lock ends with that process. A line counts when it is whole:
what a killed run left of its last line is cut off before the next one is written. The first line may be a
header that says what the journal is about, so that a run with other settings does not go on from it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from d2c.base.errors import FormatError
from d2c.base.files import writing
from d2c.base.temporary import lock


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
        """Empty the journal and write a header. Raises FormatError where it cannot be written."""
        with writing(self._name):
            self._stream.truncate(0)
            self.lines, self._torn = [], False
            self.append(header)
            if self._durable:
                synchronize(self.path.parent)

    def changes(self, header: Mapping[str, Any]) -> list[str] | None:
        """Return the names of the entries in which a header differs from this one; None without one."""
        try:
            before = json.loads(self.lines[0]) if self.lines else None
        except (ValueError, RecursionError):
            return None
        if not isinstance(before, dict):
            return None
        after = json.loads(json.dumps(header))  # tuples become lists, as in the file
        same = [name for name in after if name in before and before[name] == after[name]]
        return [name for name in {**after, **before} if name not in same]

    def append(self, row: Any) -> None:
        """Write the line of what JSON can hold. Raises FormatError where it cannot be written."""
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
        self._stream.close()


def synchronize(directory: Path) -> None:
    """Put the names in a directory on the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
