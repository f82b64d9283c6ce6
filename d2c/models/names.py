"""Models by name: those in the directories of $D2C_MODELS, those that come with d2c, installed ones.

An installed distribution offers a model as an entry point `NAME = "PACKAGE"` of the group `d2c.models`: the
package's folder is the model's directory. Nothing of it is imported, and it needs no Python file.

A model's card says what it was trained on and how good it is: `card.json` in its directory, and for people
`README.md`. `scripts/build_models.py` writes both for the models that come with d2c.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import ModelError
from d2c.base.model_files import read_json
from d2c.dparsers.graph.directory import OF_OPENVINO, OF_TORCH, absent, is_compiled

DEFAULTS = "en", "en-small"  # the first one whose packages are installed
DIRECTORIES = "D2C_MODELS"  # names directories of models, with os.pathsep between them
CARD = "card.json"
SETTINGS = "model.json"  # the file that makes a directory a model
ENTRY_POINTS = "d2c.models"  # the group of entry points that name models
BUNDLED = "d2c"
_PACKAGES = "spacy", *OF_TORCH  # that a model may need


class Available(NamedTuple):
    """A model that has a name.

    source: `d2c`, a folder of $D2C_MODELS, or the distribution that has the model, with its version
    """

    name: str
    directory: Path
    source: str


_ONE_SENTENCE = "a sentence is read from a file or from standard input: echo ... | d2c parse --text"


def find(name: str | Path | None = None) -> Path:
    """Return the directory of a model: of the default one, of the one with this name, or the one given.

    The default is `en`, or `en-small` where packages that `en` needs are missing.

    A directory that is a model comes before a name. Raises ModelError for neither a directory nor a name.
    """
    wanted = str(name or default())
    if directory := known(name) if name else _named().get(wanted):
        return directory
    if name and os.path.isdir(wanted):  # False, too, for what is too long for a name
        return Path(wanted)  # loading it will report what is wrong
    names = ", ".join(sorted(_named())) or "none"
    problem = f"{wanted}: is no model: neither a directory nor a name; known names: {names}"
    text = [_ONE_SENTENCE] if " " in wanted else []
    meant = [f"did you mean {one}?"] if (one := nearest(wanted)) else []
    raise ModelError("; ".join([problem, *meant, *text, *passed_over()]))


def default() -> str:
    """Return the name of the model that is taken where none is named."""
    named = _named()
    names = (name for name in DEFAULTS if name in named and not missing(named[name]))
    return next(names, DEFAULTS[0])


def missing(directory: Path) -> list[str]:
    """Return the packages that a model's card says it was built with, and that are not installed.

    Only `_PACKAGES` are looked for: to look for others would import what a card names. Those of torch are not
    needed where OpenVINO computes the d-parser.
    """
    versions = card_of(directory).get("versions")
    packages = versions if isinstance(versions, dict) else {}
    compiled = not absent(OF_OPENVINO) and _is_compiled(directory)
    needed = (name for name in _PACKAGES if name in packages and not (compiled and name in OF_TORCH))
    return absent(needed)


def extra_of(directory: Path) -> str:
    """Return the extra of d2c with what a model with a network over an encoder needs in parsing."""
    return "fast" if _is_compiled(directory) else "transformers"


def _is_compiled(directory: Path) -> bool:
    """Return whether OpenVINO computes a model's d-parser; no where its files are broken."""
    try:
        return is_compiled(directory / "dparser")
    except ModelError:
        return False


def scores_of(directory: Path) -> dict[str, float]:
    """Return the F1, in percent, that a model's card says, by the part of a treebank."""
    said = card_of(directory).get("f1")
    pairs = said.items() if isinstance(said, dict) else ()
    return {part: float(f1) for part, f1 in pairs if isinstance(f1, float | int) and 0 <= f1 <= 100}


def passed_over() -> list[str]:
    """Return messages that say which folders of $D2C_MODELS and installed models are passed over, and why."""
    return _found()[1]


def hides(directory: Path) -> str:
    """Return what to say of a broken model that has the name of one that comes with d2c, or ""."""
    bundled = _bundled() / directory.name
    if not is_model(bundled) or bundled.resolve() == directory.resolve():
        return ""
    return f"; it hides the model {directory.name} that comes with d2c: move or rename it"


def available() -> list[Available]:
    """Return all models that have names, in the order of names."""
    return [model for _, model in sorted(_found()[0].items())]


def is_model(directory: Path) -> bool:
    """Return whether a directory is a model, broken perhaps."""
    return os.path.isfile(directory / SETTINGS)


def known(name: str | Path) -> Path | None:
    """Return the directory of the model at a path or with a name, broken perhaps; None if there is none."""
    return Path(name) if is_model(Path(name)) else _named().get(str(name))


def nearest(name: str) -> str:
    """Return the name of the model that is spelt most like this, or "" where none is similar."""
    from difflib import get_close_matches  # only here: it is for what is misspelt

    return next(iter(get_close_matches(name, _named(), 1, 0.7)), "")


def _named() -> dict[str, Path]:
    return {name: model.directory for name, model in _found()[0].items()}


def _found() -> tuple[dict[str, Available], list[str]]:
    """Return the first model of each name, and messages about those that are passed over.

    Models of $D2C_MODELS hide those that come with d2c; those of installed distributions hide none.
    """
    models, lines = dict[str, Available](), list[str]()
    for source, folder in _folders():
        try:
            for directory in _models(folder):
                models.setdefault(directory.name, Available(directory.name, directory, source))
        except OSError as error:
            lines.append(f"{folder} in ${DIRECTORIES} cannot be read: {error.strerror}")
    for name, source, package in sorted(_offered()):
        directories = [one for one in _places(package) if is_model(one)]
        wrong = f"no {SETTINGS} in its package {package}" if not directories else ""
        if name in models:
            wrong = f"{models[name].source} has one of that name"
        if wrong:
            lines.append(f"the model {name} of {source} is passed over: {wrong}")
        else:
            models[name] = Available(name, directories[0], source)
    return models, lines


def _offered() -> Iterator[tuple[str, str, str]]:
    """Yield name, distribution and package of each model that is installed."""
    for entry in entry_points(group=ENTRY_POINTS):
        source = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"
        yield entry.name, source, entry.value


def _places(package: str) -> list[Path]:
    """Return the folders of a package, without importing it: `find_spec` imports what an inner one is in."""
    top, *inner = package.split(".")
    try:
        spec = find_spec(top)
    except ValueError:  # no name
        spec = None
    return [Path(place, *inner) for place in (spec and spec.submodule_search_locations) or ()]


def _models(folder: Path) -> list[Path]:
    """Return the models in a folder; none where there is no such folder. Raises OSError."""
    return [one for one in sorted(folder.iterdir()) if is_model(one)] if folder.is_dir() else []


def _folders() -> Iterator[tuple[str, Path]]:
    """Yield the folders with models, and what each is called."""
    for folder in filter(None, os.environ.get(DIRECTORIES, "").split(os.pathsep)):
        yield folder, Path(folder)
    yield BUNDLED, _bundled()


def _bundled() -> Path:
    return Path(str(resources.files("d2c.data") / "models"))


def card_of(directory: Path) -> Mapping[str, Any]:
    """Return what a model's card says; nothing where there is none that can be read."""
    try:
        return read_json(directory / CARD)
    except ModelError:
        return {}
