"""Files and directories that exist only while something is made, and are removed after it, whatever happens.

Only a process that is killed leaves them behind. Each process keeps its own locked while it lives, so the
next one that makes the same thing can tell which are abandoned, and removes those. What becomes a file or
directory that users name is claimed, too: of two processes that would make the same one, one is refused.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from d2c.base.errors import ModelError

_MARK = ".d2c-"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EBADF}
_AGE = 60.0  # seconds; what is younger may not be locked yet


@contextmanager
def scratch(parent: Path | None = None, prefix: str = "d2c-scratch-") -> Iterator[Path]:
    """Make a new directory in another one, by default the system's for temporary files. Raises OSError."""
    parent = parent or Path(tempfile.gettempdir())
    _sweep(parent, prefix)
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        with _held(directory):
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def staged_file(target: Path) -> Iterator[Path]:
    """Make a new file, with the permissions that the umask gives, which takes the place of `target` when the
    block is done.

    An error in the block leaves `target` as it was. Raises OSError, at once where it is `claimed` already.
    """
    with claimed(target):
        prefix = beside(target)
        _sweep(target.parent, prefix)
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=target.suffix, dir=target.parent)
        os.umask(mask := os.umask(0))  # the only way to read it
        os.fchmod(handle, 0o666 & ~mask)
        os.close(handle)
        staged = Path(name)
        try:
            with _held(staged):
                yield staged
                staged.replace(target)
        finally:
            staged.unlink(missing_ok=True)


@contextmanager
def claimed(target: Path, wait: Callable[[], object] | None = None) -> Iterator[None]:
    """Keep others from making a file or directory during the block, where the file system has locks.

    wait: called before waiting for another process, or thread, that is making it; None: do not wait

    Raises BlockingIOError where another one is making it and there is no `wait`, and other OSErrors.
    """
    path = target.with_name(f"{beside(target)}lock")
    while True:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "rb") as file:
            try:
                lock(file)
            except BlockingIOError:
                if wait is None:
                    problem = "another process is writing it"
                    raise BlockingIOError(errno.EWOULDBLOCK, problem, str(path)) from None
                wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_at(file, path):  # whoever had it has removed it
                continue
            try:
                yield
                return
            finally:
                path.unlink(missing_ok=True)


@contextmanager
def whole_directory(directory: Path, marker: str) -> Iterator[Path]:
    """Yield a new directory to fill, which becomes `directory` at the end or, after an error, disappears.

    A model that is there already, known by the file `marker` in it, is replaced; where `directory` is a link,
    the model that it leads to. Raises ModelError where `directory` is anything else that is not empty, where
    it cannot be written or another process is writing it, where no other directory can take its place, and
    where it has changed by the end: the new directory is then kept beside it.
    """
    directory = Path(os.path.realpath(directory) if os.path.islink(directory) else directory)
    before = _content(directory)
    if os.path.ismount(directory) or (directory.is_dir() and directory.samefile(".")):
        what = "a mount point" if os.path.ismount(directory) else "the working directory"
        raise ModelError(f"{directory}: cannot become a model: it is {what}; name a directory in it")
    if directory.exists() and not (directory / marker).is_file():
        if not directory.is_dir():
            raise ModelError(f"{directory}: cannot become a model: it is a file")
        if any(directory.iterdir()):
            raise ModelError(f"{directory}: cannot become a model: it holds other files")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"{directory}: cannot be written: {error.strerror or error}") from None
    try:
        with claimed(directory), scratch(directory.parent, beside(directory)) as staging:
            new = staging / "new"
            new.mkdir()
            yield new
            _exchange(directory, before, new, staging / "old")
    except OSError as error:
        reason = why_unwritable(error)
        if reason is None or is_staged(directory):  # one that is part of another: that one has a name
            raise
        reason += f", there or in {tempfile.gettempdir()}" if error.errno == errno.ENOSPC else ""
        raise ModelError(f"{directory}: cannot be written: {reason}") from None


def _content(path: Path) -> dict[Path, tuple[int, int, int]]:
    """Return a value that changes with a directory and all in it, or with a file. Raises OSError."""
    inside = path.rglob("*") if path.is_dir() else [path] if os.path.lexists(path) else []
    found = {one: one.lstat() for one in inside}
    return {one: (stat.st_ino, stat.st_size, stat.st_mtime_ns) for one, stat in found.items()}


def _exchange(directory: Path, before: object, new: Path, old: Path) -> None:
    """Put `new` in the place of a directory, which becomes `old`.

    before: its content when `new` was begun. If this has changed since, `new` is kept beside it

    Raises ModelError.
    """
    try:
        if _content(directory) != before:
            raise FileExistsError(errno.EEXIST, "it has changed since this one was begun")
        if directory.exists():
            os.replace(directory, old)
        try:
            os.replace(new, directory)
        except BaseException:
            if old.exists():
                os.replace(old, directory)
            raise
    except OSError as error:
        kept = tempfile.mkdtemp(prefix=f"{directory.name}-", dir=directory.parent)
        os.replace(new, kept)
        problem = f"was not replaced: {error.strerror}; the new one is {kept}"
        raise ModelError(f"{directory}: {problem}") from None


def beside(target: Path) -> str:
    """Return the beginning of the names of what is made beside a file or directory to become it."""
    return f".{target.name}{_MARK}"


def why_unwritable(error: OSError) -> str | None:
    """Return what keeps a stream or a staged file from being written; None for errors of other things."""
    if isinstance(error, shutil.Error):  # holds those of several files
        return str(error.args[0][0][2])
    staged = is_staged(os.fsdecode(error.filename or ""))
    return error.strerror if staged or error.errno in _FULL else None


def is_staged(path: str | Path) -> bool:
    """Return whether a path belongs to what is made here beside a file or directory."""
    return _MARK in str(path)


def lock(file: BinaryIO) -> None:
    """Hold a lock on a file until it is closed, where there are locks. Raises BlockingIOError."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # not all file systems have locks
        if isinstance(error, BlockingIOError):
            raise


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Return whether a path is that of an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold a lock on a file or directory."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # not on all file systems
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _sweep(parent: Path, prefix: str) -> None:
    """Remove what begins with the prefix, is older than _AGE, and is held by no process."""
    with suppress(OSError):
        for path in [path for path in parent.iterdir() if path.name.startswith(prefix)]:
            with suppress(OSError):
                if time.time() - path.stat().st_mtime >= _AGE:
                    _remove_unheld(path)


def _remove_unheld(path: Path) -> None:
    """Remove a file or directory. Raises OSError where a process holds it."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would wait for a writer
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(handle)
