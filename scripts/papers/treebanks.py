"""The file with a section for each treebank, which `python scripts/table.py --treebanks` reads."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from d2c.base.errors import FormatError
from d2c.experiments.treebank import PARTS, Treebank
from d2c.treebanks.reading import Reading
from d2c.trees.formats.treebanks import FORMATS
from d2c.trees.heads import known_head_rules

_OWN = ("head_rules", "sentences")
_OF_READING = ("format_name", "traces", "move_punctuation")


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
