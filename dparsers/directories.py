"""Model directories of d-parsers and taggers: they appear whole or not at all, and say what they hold."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from d2c.trees.errors import ModelError
from d2c.trees.files import read_json

SETTINGS, TAGGER_SETTINGS = "dparser.json", "tagger.json"


@contextmanager
def whole_directory(directory: Path, marker: str = SETTINGS) -> Iterator[Path]:
    """A fresh directory to fill, which becomes `directory` at the end, or, after an error, disappears.

    A model that is there already, told by the file `marker` in it, is replaced. Raises ModelError where
    `directory` is anything else that is not empty, and where it cannot be written.
    """
    directory = Path(directory)
    if directory.exists() and not (directory / marker).is_file():
        if not directory.is_dir():
            raise ModelError(f"{directory}: cannot become a model: it is a file")
        if any(directory.iterdir()):
            raise ModelError(f"{directory}: cannot become a model: it holds other files")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise ModelError(f"{directory}: cannot be written: {error.strerror or error}") from None
    try:
        new = staging / "new"
        new.mkdir()
        yield new
        if directory.exists():
            os.replace(directory, staging / "old")
        try:
            os.replace(new, directory)
        except BaseException:
            if (staging / "old").exists():
                os.replace(staging / "old", directory)
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write_settings(
    directory: Path, kind: str, version: int, settings: Mapping[str, object], file: str = SETTINGS
) -> None:
    """Writes which parser (or tagger) the directory holds, the version of its format, and its settings."""
    role = file.removesuffix(".json")
    text = json.dumps({role: kind, "format": version, **settings}, indent=2, ensure_ascii=False)
    (directory / file).write_text(text + "\n", encoding="utf-8")


def read_settings(directory: Path, kind: str, version: int, file: str = SETTINGS) -> dict[str, object]:
    """The settings of a model directory. Raises ModelError unless it holds such a parser in this format."""
    path = Path(directory) / file
    settings = read_json(path)
    if settings.get(file.removesuffix(".json")) != kind:
        raise ModelError(f"{path}: holds no {kind} {'parser' if file == SETTINGS else 'tagger'}")
    if settings.get("format") != version:
        raise ModelError(f"{path}: has format {settings.get('format')}; this version of d2c reads {version}")
    return settings
