"""Model directories of d-parsers and taggers: they appear whole or not at all, and say what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base import model_files
from d2c.base.errors import ModelError

SETTINGS, TAGGER_SETTINGS = "dparser.json", "tagger.json"


class ModelFormat(NamedTuple):
    """What a model directory holds: a `dparser` or a `tagger`, of which name, in which format.

    parameters: those of the estimator's settings that are kept; the others say how it was trained, or where
                it runs
    """

    role: str
    name: str
    version: int
    parameters: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Return the name of the file with the settings."""
        return f"{self.role}.json"

    def write(self, directory: Path, said: Mapping[str, object], settings: object = None) -> None:
        """Write which parser or tagger it is, its settings, and `said`, what else is to be kept of it."""
        own = {name: getattr(settings, name) for name in self.parameters}
        written = {self.role: self.name, **own, **said}
        model_files.write_settings(directory / self.file, self.version, written)

    def read(self, directory: Path) -> dict[str, Any]:
        """Return what `write` wrote, under today's names. Raises ModelError for another kind of directory."""
        path = Path(directory) / self.file
        settings = model_files.read_settings(path, self.version)
        if settings.get(self.role) != self.name:
            raise ModelError(f"{path}: holds no {self.name} {self.role.removeprefix('d')}")
        return settings

    def parameters_in(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the estimator's settings among what `read` returned. Raises KeyError, msgspec's errors."""
        given = {name: settings[name] for name in self.parameters}
        return model_files.as_type(given, dict[str, str | int | float | None])


def loading(source: Path | str, what: str = "cannot be loaded") -> AbstractContextManager[None]:
    """Turn whatever a library raises when it reads someone else's data into a ModelError of one line."""
    return model_files.reading(source, f"{what}: {{}}")
