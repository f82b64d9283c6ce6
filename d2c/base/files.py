"""Opening the files that users name: `-` is standard input or output, `.gz` is read and written packed."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import UnsupportedOperation
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast
from weakref import WeakSet

from d2c.base.errors import FormatError, printable
from d2c.base.temporary import staged_file, why_unwritable

AnyPath = str | os.PathLike[str]

NOT_UTF8 = "not UTF-8 text; iconv converts it"  # what to do about a line, or a file, in another encoding

_MARKS = {  # byte order marks, the longer ones first
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_READ = WeakSet[TextIO]()  # standard inputs that were read
_READ_TO = dict[str, Callable[[], int]]()  # returns how many bytes of a file are read, by the file's path
_WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")  # with which the names of such encodings begin
_PACKED = {  # with which packed files begin, and the program that packs them
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\3\4": "zip",
}
_DOCUMENTS = (".docx", ".odt", ".pptx", ".xlsx", ".epub")  # zip archives that nobody should unpack
_NO_TEXT = {  # with which other files begin, what they are, and what to do
    b"%PDF": "a PDF; pdftotext makes plain text of it",
    b"{\\rtf": "RTF; save it as plain text, in UTF-8, where it is written",
    b"\xd0\xcf\x11\xe0": "a document of an office program; save it as plain text, in UTF-8, there",
}


def digest_of_file(path: AnyPath) -> str:
    """Return the SHA-256 of a file's bytes. Raises OSError."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_name(path: AnyPath) -> str:
    """Return the name of a path in messages and data: characters that cannot be printed are escaped."""
    return "<stdin>" if str(path) == "-" else printable(os.fspath(path))


@contextmanager
def open_input(path: AnyPath, encoding: str | None = None, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text stream over a file, by default in UTF-8; a byte order mark is then no part of the text.

    Raises FormatError for what cannot be opened or decoded, and for encodings that are not known.
    """
    encoding = encoding or "utf-8-sig"
    try:
        stream = cast(TextIO, _open(path, "r", encoding, errors))
    except UnsupportedOperation:  # also raised by standard input when some of it has been read
        raise FormatError(file_name(path), 0, 0, "is read several times; name a file instead") from None
    except OSError as error:
        raise FormatError(file_name(path), 0, 0, f"cannot be read: {error.strerror or error}") from None
    except LookupError as error:
        raise FormatError(file_name(path), 0, 0, str(error)) from None
    try:
        _refuse_unreadable(stream, file_name(path), encoding)
        with followed(path, lambda: os.lseek(stream.fileno(), 0, os.SEEK_CUR)):
            yield stream
    except UnicodeDecodeError as error:
        wrong = NOT_UTF8 if error.encoding.startswith("utf-8") else f"not {encoding} text"
        raise FormatError(file_name(path), 0, 0, f"{wrong} ({error.reason})") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FormatError(file_name(path), 0, 0, f"broken gzip file ({error})") from None
    except OSError as error:
        if error.filename is None:  # of the stream, which has no name for itself
            raise FormatError(file_name(path), 0, 0, f"cannot be read: {error.strerror or error}") from None
        raise
    finally:
        if stream is sys.stdin:
            _READ.add(stream)
        else:
            stream.close()


@contextmanager
def followed(path: AnyPath, read_to: Callable[[], int]) -> Iterator[None]:
    """Let `bytes_read` say how far a file is read."""
    _READ_TO[os.fspath(path)] = read_to
    try:
        yield
    finally:
        _READ_TO.pop(os.fspath(path), None)


def bytes_read() -> dict[str, int]:
    """Return how many bytes of each open file are read; of packed files packed bytes, of pipes nothing."""
    found = dict[str, int]()
    for path, read_to in [*_READ_TO.items()]:
        with suppress(OSError, ValueError):
            found[path] = read_to()
    return found


def first_characters(path: AnyPath, count: int) -> str:
    """Return the first characters of a file, as Latin-1. Standard input keeps them for its reader; a pipe
    that has a name, where they would be lost, is not read."""
    if str(path) != "-" and not Path(path).is_file():
        return ""
    with open_input(path, "latin-1") as stream:
        if str(path) != "-":
            start = stream.read(count)
        else:
            peek = getattr(stream.buffer, "peek", None)
            start = peek(1)[:count].decode("latin-1") if peek else ""
    _READ.discard(stream)
    return start.replace("\0", "")  # of UTF-16


def _refuse_unreadable(stream: TextIO, name: str, encoding: str) -> None:
    """Raise FormatError for documents, for packed files, which iconv would only make worse, and for text of
    two or four bytes a character (many are 0 in English), unless that is its encoding or it is XML."""
    peek = getattr(stream.buffer, "peek", None)
    start = peek(1)[:1024] if peek else b""
    known = (what for mark, what in _NO_TEXT.items() if start.startswith(mark))
    last = [*_NO_TEXT.values()][-1] if start.startswith(b"PK\3\4") and name.endswith(_DOCUMENTS) else None
    if what := next(known, last):
        raise FormatError(name, 0, 0, f"is {what}")
    packed = next((program for mark, program in _PACKED.items() if start.startswith(mark)), None)
    if packed and not start.isascii():  # a text may begin with BZh
        message = f"is packed by {packed}; unpack it first (only names that end in .gz are unpacked here)"
        raise FormatError(name, 0, 0, message)
    if start.replace(b"\0", b"").lstrip(b"\xff\xfe").startswith(b"<") or encoding.startswith(_WIDE):
        return  # XML says its encoding itself
    marks = (wide for mark, wide in _MARKS.items() if start.startswith(mark))
    if wide := next(marks, "UTF-16" if 4 * start.count(0) > len(start) else None):
        message = f"{wide}, not UTF-8 text: convert it with iconv -f {wide} -t UTF-8"
        raise FormatError(name, 0, 0, message)


def lines_in_utf8_or_latin1(path: AnyPath, charset: str | None = None) -> Iterator[str]:
    """Yield the lines of a file in a given charset; without one, in UTF-8 if the first line that is not ASCII
    is UTF-8, and otherwise in Latin-1.

    A byte order mark is a sign of UTF-8, and no part of the text. Raises FormatError for what cannot be
    opened or decoded.
    """
    if charset:
        with open_input(path, charset) as stream:
            yield from stream
        return
    utf8: bool | None = None  # not known before the first line that is not ASCII
    with open_input(path, "latin-1") as stream:
        for number, line in enumerate(stream):
            if not line.isascii() and utf8 is None:
                utf8 = _is_utf8(line)
            codec = "utf-8-sig" if number == 0 else "utf-8"
            yield line.encode("latin-1").decode(codec) if utf8 and not line.isascii() else line


def _is_utf8(line: str) -> bool:
    """Return whether a line that was read as Latin-1 is UTF-8."""
    try:
        line.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def open_output(path: AnyPath) -> AbstractContextManager[TextIO]:
    """Open a UTF-8 text stream that becomes the file `path` at its end; after an error, `path` is unchanged.

    Raises FormatError where it cannot be written, but BrokenPipeError where its reader has gone.
    """
    return _written(path, "w")


def check_output(path: AnyPath) -> None:
    """Raise FormatError for a file that `open_output` could not write, before hours of work for it."""
    if str(path) != "-":
        with suppress(_Given), _written(path, "w"):
            raise _Given


class _Given(Exception):
    """Ends the writing of a file that was only tried."""


def open_binary_output(path: AnyPath) -> AbstractContextManager[BinaryIO]:
    """Open a stream of bytes that becomes a file as that of `open_output` does."""
    return _written(path, "wb")


@contextmanager
def _written(path: AnyPath, mode: str) -> Iterator[Any]:
    if str(path) == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        with writing("<stdout>"):
            yield sys.stdout.buffer if "b" in mode else sys.stdout
            sys.stdout.flush()
        return
    name = os.fspath(path)
    target = Path(os.path.realpath(path))  # through a link, the file it leads to is replaced
    if target.exists() and not target.is_file():  # a device or a pipe is written, never replaced
        try:
            stream = _open(target, mode)
        except OSError as error:
            raise FormatError(name, 0, 0, f"cannot be written: {error.strerror or error}") from None
        with writing(name), stream:
            yield stream
        return
    with writing(name), staged_file(target) as staged, _open(staged, mode) as stream:
        yield stream


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Turn errors of writing into a FormatError that has this name."""
    try:
        yield
    except OSError as error:
        if (reason := why_unwritable(error)) is None:
            raise
        raise FormatError(name, 0, 0, f"cannot be written: {reason}") from None


def _open(path: AnyPath, mode: str, encoding: str = "utf-8", errors: str = "strict") -> IO[Any]:
    if str(path) == "-":
        if sys.stdin in _READ:
            raise UnsupportedOperation
        # newline=None: any line break, as in files; Python's standard input has those of the system
        sys.stdin.reconfigure(encoding=encoding, errors=errors, newline=None)  # type: ignore[union-attr]
        return sys.stdin
    text: dict[str, Any] = {} if "b" in mode else {"encoding": encoding, "errors": errors}
    if str(path).endswith(".gz"):
        return cast(IO[Any], gzip.open(path, mode if "b" in mode else mode + "t", **text))
    return open(path, mode, **text)
