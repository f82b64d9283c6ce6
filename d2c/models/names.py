"""Models by name: those that come with d2c, and those in the directories that $D2C_MODELS names.

A model's card says what it was trained on and how good it is: `card.json` in its directory, and for people
`README.md`. `scripts/build_models.py` writes both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import ModelError
from d2c.base.model_files import read_json

DEFAULTS = "en", "en-small"  # the first one whose packages are installed
DIRECTORIES = "D2C_MODELS"  # names directories of models, with os.pathsep between them
CARD = "card.json"
SETTINGS = "model.json"  # what makes a directory a model


class Available(NamedTuple):
    """A model that has a name.

    card: what `card.json` says; empty where there is none that can be read
    """

    name: str
    directory: Path
    card: Mapping[str, Any]


_ONE_SENTENCE = "a sentence is read from a file or from standard input: echo ... | d2c parse --text"


def find(name: str | Path | None = None) -> Path:
    """Return the directory of a model: of the default one, of that name, or the one that is given.

    The default is `en`, or `en-small` where packages that `en` needs are missing.

    A directory that is a model comes before a name. Raises ModelError for what is neither.
    """
    wanted = str(name or default())
    if directory := known(name) if name else _named().get(wanted):
        return directory
    if name and Path(wanted).is_dir():
        return Path(wanted)  # loading it will report what is wrong
    names = ", ".join(sorted(_named())) or "none"
    problem = f"{wanted}: is no model: neither a directory nor a name; known names: {names}"
    text = [_ONE_SENTENCE] if " " in wanted else []
    meant = [f"did you mean {one}?"] if (one := nearest(wanted)) else []
    raise ModelError("; ".join([problem, *meant, *text, *unreadable()]))


def default() -> str:
    """Return the name of the model that is taken where none is named."""
    named = _named()
    names = (name for name in DEFAULTS if name in named and not missing(named[name]))
    return next(names, DEFAULTS[0])


def missing(directory: Path) -> list[str]:
    """Return the packages that a model's card says it was built with, and that are not installed."""
    versions = _card(directory).get("versions")
    packages = versions if isinstance(versions, dict) else {}
    return [name for name in packages if name != "python" and not find_spec(name.replace("-", "_"))]


def scores_of(directory: Path) -> dict[str, float]:
    """Return the F1, in percent, that a model's card says, by the part of a treebank."""
    said = _card(directory).get("f1")
    pairs = said.items() if isinstance(said, dict) else ()
    return {part: float(f1) for part, f1 in pairs if isinstance(f1, float | int) and 0 <= f1 <= 100}


def unreadable() -> list[str]:
    """Say which folders of $D2C_MODELS are passed over, and why."""
    lines = []
    for folder in _folders():
        try:
            _models(folder)
        except OSError as error:
            lines.append(f"{folder} in ${DIRECTORIES} cannot be read: {error.strerror}")
    return lines


def hides(directory: Path) -> str:
    """Return what is to be said of a broken model that has the name of one that comes with d2c, or ""."""
    bundled = _bundled() / directory.name
    if not is_model(bundled) or bundled.resolve() == directory.resolve():
        return ""
    return f"; it hides the model {directory.name} that comes with d2c: move or rename it"


def available() -> list[Available]:
    """Return all models that have names, in the order of names."""
    return [Available(name, directory, _card(directory)) for name, directory in sorted(_named().items())]


def is_model(directory: Path) -> bool:
    """Return whether a directory is a model, broken perhaps."""
    return (directory / SETTINGS).is_file()


def known(name: str | Path) -> Path | None:
    """Return the directory of a model, broken perhaps, of which it or the name is given, if it is one."""
    return Path(name) if is_model(Path(name)) else _named().get(str(name))


def nearest(name: str) -> str:
    """Return the name of the model that is spelt most like this, or "" where none is like it."""
    from difflib import get_close_matches  # only here: it is for what is misspelt

    return next(iter(get_close_matches(name, _named(), 1, 0.7)), "")


def _named() -> dict[str, Path]:
    """Return the first directory of each name: those of $D2C_MODELS come before those that are bundled."""
    found: dict[str, Path] = {}
    for folder in _folders():
        with suppress(OSError):  # see `unreadable`
            for directory in _models(folder):
                found.setdefault(directory.name, directory)
    return found


def _models(folder: Path) -> list[Path]:
    """Return the models in a folder; none where there is no such folder. Raises OSError."""
    return [one for one in sorted(folder.iterdir()) if is_model(one)] if folder.is_dir() else []


def _folders() -> Iterator[Path]:
    yield from map(Path, filter(None, os.environ.get(DIRECTORIES, "").split(os.pathsep)))
    yield _bundled()


def _bundled() -> Path:
    return Path(str(resources.files("d2c.data") / "models"))


def _card(directory: Path) -> Mapping[str, Any]:
    try:
        return read_json(directory / CARD)
    except ModelError:
        return {}
