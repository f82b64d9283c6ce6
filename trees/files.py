"""Opening the files that users name: `-` is standard input or output, `.gz` is read and written packed."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from trees.errors import FormatError, ModelError


def file_name(path: str | os.PathLike[str]) -> str:
    """How messages name a path."""
    return "<stdin>" if str(path) == "-" else os.fspath(path)


@contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A UTF-8 text stream over a file. Raises FormatError for what cannot be opened or decoded."""
    try:
        if str(path) == "-":
            sys.stdin.reconfigure(encoding="utf-8", errors="strict")  # type: ignore[union-attr]
            yield sys.stdin
        elif str(path).endswith(".gz"):
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                yield stream
        else:
            with open(path, encoding="utf-8") as stream:
                yield stream
    except UnicodeDecodeError as error:
        raise FormatError(file_name(path), 0, 0, f"not UTF-8 text ({error.reason})") from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise FormatError(file_name(path), 0, 0, f"broken gzip file ({error})") from None
    except BrokenPipeError:
        raise  # concerns the output that is written while this input is read
    except OSError as error:
        raise FormatError(file_name(path), 0, 0, f"cannot be read: {error.strerror or error}") from None


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A UTF-8 text stream that becomes the file `path` whole at the end, or, after an error, not at all."""
    if str(path) == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise FormatError(str(path), 0, 0, f"cannot be written: {error.strerror or error}") from None
    try:
        opened = gzip.open if str(path).endswith(".gz") else open
        with opened(name, "wt", encoding="utf-8") as out:
            yield cast(TextIO, out)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file of a model directory. Raises ModelError."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise ModelError(f"{path}: is not JSON") from None
    if not isinstance(settings, dict):
        raise ModelError(f"{path}: holds no settings")
    return settings


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
