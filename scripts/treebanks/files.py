"""The file with a section for each treebank, which `python scripts/table.py --treebanks` reads.

The file of the benchmarks is scripts/treebanks.toml.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import click

from d2c.base.errors import FormatError
from d2c.base.inputs import files_of
from d2c.routes.dparsers import DPARSERS, shortest
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS
from d2c.trees.heads import known_head_rules
from experiments.experiment import PARTS, Treebank

SCRIPTS = Path(__file__).resolve().parents[1]
TREEBANKS = SCRIPTS / "treebanks.toml"  # of the benchmarks
KINDS = {**dict.fromkeys((*PARTS, "head_rules", "format", "dparser"), str), "sentences": int, "systems": dict}
KINDS |= dict.fromkeys(("traces", "move_punctuation", "score_punctuation"), bool)


def read_treebanks(path: Path) -> list[Treebank]:
    """Return the treebanks that a TOML file names, a section each:

        [negra]
        train = "negra-train.export"    # beside this file; or its whole path, or "$NEGRA/train.export"
        dev = "negra-dev.export"
        test = "negra-test.export"      # may be missing
        head-rules = "german"           # or a file, found as treebank files are
        format = "export"               # where the file name does not say it
        move-punctuation = true
        traces = false
        score-punctuation = true        # in reduction-4, as for TIGER-SPMRL
        sentences = 2000                # of train, drawn evenly
        dparser = "stanza:graph"        # in tables of many treebanks, instead of the one that all share
        systems = {disco-dop = "negra-test.disco-dop.export"}  # trees of the test part, or dev

    All except train and dev may be missing. Raises FormatError.
    """
    try:
        sections = tomllib.loads(path.read_text("utf-8-sig"))
        if not sections:
            raise ValueError("names no treebank")
        return [_treebank(name, section, path.parent) for name, section in sections.items()]
    except (ValueError, TypeError) as error:  # TOML's own errors are among them
        raise FormatError(str(path), 0, 0, str(error)) from None


def _treebank(name: str, section: Any, folder: Path) -> Treebank:
    """Return the treebank of a section. Raises ValueError, TypeError."""
    if not isinstance(section, dict):
        raise ValueError(f"{name} is not a section with train and dev")
    given = {key.replace("-", "_"): value for key, value in section.items()}
    for key, value in given.items():
        if key not in KINDS:
            raise ValueError(f"{name} says {key!r}, which means nothing here")
        if type(value) is not KINDS[key]:
            raise ValueError(f"{name}: {key} is of the wrong type")
    if given.get("sentences", 1) < 1:
        raise ValueError(f"{name}: sentences is less than 1")
    if given.get("format", "brackets") not in FORMATS:
        raise ValueError(f"{name}: the format is none of {', '.join(FORMATS)}")
    if "dparser" in given and given["dparser"].partition(":")[0] not in DPARSERS:
        raise ValueError(f"{name}: the dparser is none of {', '.join(DPARSERS)}")
    files = {part: folder / os.path.expandvars(given[part]) for part in PARTS if part in given}
    for part in PARTS[:2]:
        if part not in files:
            raise ValueError(f"{name} has no {part}")
    rules = given.get("head_rules", "collins")
    if rules not in known_head_rules():
        rules = str(folder / os.path.expandvars(rules))
    read = {key: given[key] for key in ("traces", "move_punctuation") if key in given}
    reading = Reading(given.get("format"), marked=rules == "marked", **read)
    return Treebank(
        *(name, files, rules, reading, given.get("sentences")),
        punctuation=given.get("score_punctuation", False),
        dparser=shortest(given["dparser"]) if "dparser" in given else None,
        systems={of: folder / os.path.expandvars(file) for of, file in given.get("systems", {}).items()},
    )


def folder() -> Path:
    """Return the folder of the benchmarks' treebanks, whether it exists or not."""
    return Path(os.environ.get("D2C_TREEBANKS", SCRIPTS.parents[1] / "shared" / "treebanks"))


def known_treebanks() -> dict[str, Treebank]:
    """Return the treebanks of the benchmarks by name, with all sentences of train."""
    os.environ.setdefault("D2C_TREEBANKS", str(folder()))
    return {treebank.name: replace(treebank, sentences=None) for treebank in read_treebanks(TREEBANKS)}


def known(name: str, sentences: int | None = None) -> Treebank:
    """Return a treebank of the benchmarks, with so many sentences of train, or all.

    Raises ClickException where one of its files is absent.
    """
    treebank = replace(known_treebanks()[name], sentences=sentences)
    for path in chain.from_iterable(map(files_of, treebank.files.values())):
        if not path.is_file():
            raise click.ClickException(f"{path}: no such file; set D2C_TREEBANKS to the treebanks' folder")
    return treebank
