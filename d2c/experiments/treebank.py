"""The treebanks of tables: their files, and how these are read."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from d2c.base.errors import FormatError
from d2c.experiments.store import digest_of_file
from d2c.treebanks.reading import CLEANED, Reading
from d2c.trees.ctree import CTree
from d2c.trees.formats.treebanks import FORMATS
from d2c.trees.heads import known_head_rules

PARTS = ("train", "dev", "test")
_OWN = ("head_rules", "sentences")
_OF_READING = ("format_name", "traces", "move_punctuation")


@dataclass(frozen=True)
class Treebank:
    """A treebank in two or three files.

    name:       as tables show it
    files:      by part; a treebank without `test` is reported on `dev`
    head_rules: its head table
    reading:    how its files are read
    sentences:  the first ones of train, and not all
    """

    name: str
    files: Mapping[str, Path]
    head_rules: str = "collins"
    reading: Reading = CLEANED
    sentences: int | None = None

    @property
    def reported(self) -> str:
        """The part on which the papers report final results."""
        return "test" if "test" in self.files else "dev"

    def trees(self, part: str) -> Iterator[CTree]:
        """Yield the trees of a part. Raises FormatError."""
        return islice(self.reading(self.files[part]), self.sentences if part == "train" else None)

    def first(self, part: str) -> int:
        """Return how many sentences of the part's file come before it."""
        return 0

    def made_of(self) -> dict[str, Any]:
        """Return what its trees depend on, for `Store.step`. Raises OSError."""
        read = {field.name: getattr(self.reading, field.name) for field in fields(Reading)}
        read.pop("faults")
        own_rules = self.head_rules not in known_head_rules()
        rules = digest_of_file(Path(self.head_rules)) if own_rules else self.head_rules
        read |= {"head_rules": rules, "sentences": self.sentences}
        set_apart = {name: value for name, value in read.items() if value}
        return set_apart | {part: digest_of_file(path) for part, path in self.files.items()}


def read_treebanks(path: Path) -> list[Treebank]:
    """The treebanks that a TOML file names, a section each:

        [negra]
        train = "negra-train.export"    # beside this file; or its whole path, or "$NEGRA/train.export"
        dev = "negra-dev.export"
        test = "negra-test.export"      # may be missing
        head-rules = "german"           # or a file, found as treebank files are
        format = "export"               # where the name does not say it
        move-punctuation = true
        traces = false
        sentences = 2000                # the first ones of train

    All but train and dev may be missing. Raises FormatError.
    """
    try:
        sections = tomllib.loads(path.read_text("utf-8-sig"))
        if not sections:
            raise ValueError("names no treebank")
        return [_treebank(name, section, path.parent) for name, section in sections.items()]
    except (ValueError, TypeError) as error:  # TOML's own errors are among them
        raise FormatError(str(path), 0, 0, str(error)) from None


def _treebank(name: str, section: Any, folder: Path) -> Treebank:
    """Raises ValueError, TypeError."""
    if not isinstance(section, dict):
        raise ValueError(f"{name} is not a section with train and dev")
    given = {key.replace("-", "_"): value for key, value in section.items()}
    if "format" in given:
        given["format_name"] = given.pop("format")
    kinds = {"sentences": int, "traces": bool, "move_punctuation": bool}
    for key, value in given.items():
        if key not in (*PARTS, *_OWN, *_OF_READING):
            raise ValueError(f"{name} says {key!r}, which means nothing here")
        if type(value) is not kinds.get(key, str):
            raise ValueError(f"{name}: {key} is of the wrong type")
    if given.get("sentences", 1) < 1:
        raise ValueError(f"{name}: sentences is less than 1")
    if given.get("format_name", "brackets") not in FORMATS:
        raise ValueError(f"{name}: the format is none of {', '.join(FORMATS)}")
    files = {part: _path(given[part], folder) for part in PARTS if part in given}
    for part in PARTS[:2]:
        if part not in files:
            raise ValueError(f"{name} has no {part}")
    if given.get("head_rules", "marked") not in known_head_rules():
        given["head_rules"] = str(_path(given["head_rules"], folder))
    read = {key: given[key] for key in _OF_READING if key in given}
    reading = Reading(marked=given.get("head_rules") == "marked", **read)
    return Treebank(name, files, reading=reading, **{key: given[key] for key in _OWN if key in given})


def _path(file: str, folder: Path) -> Path:
    """With the values of variables of the environment."""
    return folder / os.path.expandvars(file)
