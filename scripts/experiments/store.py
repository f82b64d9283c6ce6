"""The steps of experiments, kept in files: a stopped run goes on where it was, and parallel runs share steps.

A *step* is something that takes long: a trained model, d-trees of a d-parser, figures. It is kept in a
directory that is named by a digest of all that it is made of (the contents of treebank files, settings, other
steps, the version of d2c), so whatever needs the same step finds it, and nothing else does.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from d2c import __version__
from d2c.base import model_files
from d2c.base.files import digest_of_file
from d2c.base.inputs import Paths, files_of
from d2c.base.progress import log
from d2c.base.temporary import claimed, whole_directory

FORMAT = 1  # of the file with a step's facts
_FACTS = "step.json"
_SHOWN = 12  # digits of a digest in the name of a directory


@dataclass(frozen=True)
class FactsFile:
    """The file of a finished step: its facts, and the seconds that it took."""

    facts: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class StoredStep:
    """A step that was made.

    directory: of its files
    facts:     what `make` returned, as JSON holds it
    key:       the digest of what it is made of, for steps that depend on it
    seconds:   that making it took, without those of other steps
    """

    directory: Path
    facts: Mapping[str, Any]
    key: str
    seconds: float


@dataclass
class Store:
    """Steps in the folders of a directory.

    used: the steps that were asked for since it was last emptied, by key
    """

    directory: Path
    used: dict[str, StoredStep] = field(default_factory=dict)
    _others: float = 0.0  # seconds of steps made while another one is

    def step(
        self, name: str, made_of: Mapping[str, Any], make: Callable[[Path], Mapping[str, Any]]
    ) -> StoredStep:
        """Return the step of that name, made by `make` unless it is there.

        made_of: all that it depends on, as JSON holds it
        make:    fills a fresh directory and returns the facts; nothing is kept where it raises an error
        """
        key = self.key(name, made_of)
        directory = self.directory / f"{name}-{key[:_SHOWN]}"
        before, start = self._others, time.perf_counter()
        if not (directory / _FACTS).is_file():
            self.directory.mkdir(parents=True, exist_ok=True)
            said = partial(log.info, "%s: another process makes it", directory.name)
            with claimed(directory.with_name(f"{directory.name}.step"), said):
                if not (directory / _FACTS).is_file():
                    self._make(directory, made_of, make)
            self._others = before + time.perf_counter() - start
        made = model_files.read_as(directory / _FACTS, FORMAT, FactsFile)
        step = self.used[key] = StoredStep(directory, made.facts, key, made.seconds)
        return step

    @staticmethod
    def key(name: str, made_of: Mapping[str, Any]) -> str:
        """Return the key of a step, whether it is there or not."""
        return digest({"name": name, "version": __version__, **made_of})

    def _make(
        self, directory: Path, made_of: Mapping[str, Any], make: Callable[[Path], Mapping[str, Any]]
    ) -> None:
        log.info("%s: %s", directory.name, described(made_of))
        self._others, start = 0.0, time.perf_counter()
        with whole_directory(directory, _FACTS) as staging:
            facts = make(staging)
            seconds = time.perf_counter() - start - self._others
            own = {"made of": made_of, "facts": facts, "seconds": round(seconds, 3)}
            model_files.write_settings(staging / _FACTS, FORMAT, own)

    @property
    def seconds(self) -> float:
        """The seconds that all steps in `used` took when they were made."""
        return sum(step.seconds for step in self.used.values())


def digest(value: object) -> str:
    """Return the SHA-256 of a value, written as JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def digest_of_files(paths: Paths) -> str:
    """Return `digest_of_file` of one file, or the SHA-256 of the digests of several. Raises OSError."""
    first, *others = map(digest_of_file, files_of(paths))
    return digest([first, *others]) if others else first


def described(made_of: Mapping[str, Any]) -> str:
    """Return what tells a step from others of its name, in one line, without digests."""
    shown = {name: value for name, value in made_of.items() if not _is_digest(value)}
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64
