"""Files of learned things: settings in JSON with a format number, and what is wrong with broken ones.

Whatever learns writes its settings here and its arrays with `d2c.linear.weights`, and checks both as it reads
them, so that a broken or hostile directory leads to a ModelError and to nothing else.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from d2c.trees.errors import ModelError

BROKEN = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MemoryError),
    *(EOFError, OSError, zipfile.BadZipFile, zlib.error),
)


def write_settings(path: Path, version: int, settings: Mapping[str, object]) -> None:
    """Writes settings and the version of their format into a file, its directory made if absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": version, **settings}, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


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


def read_settings(path: Path, version: int) -> dict[str, Any]:
    """What `write_settings` wrote. Raises ModelError for what is no such file, or of another format."""
    settings = read_json(path)
    if settings.get("format") != version:
        found = settings.get("format")
        raise ModelError(f"{path}: has format {found}; this version of d2c reads {version}")
    return settings


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns whatever broken settings and arrays lead to into a ModelError that names `path`."""
    try:
        yield
    except ModelError:
        raise
    except BROKEN as error:
        raise ModelError(f"{path}: is broken ({error}); train the model again") from None
