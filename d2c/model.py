"""A trained model: a route and a d-parser in one directory, `model.json` beside `route/` and `dparser/`.

Another route adds its name to ROUTES and its class to `route_class`, another d-parser one line to DPARSERS;
nothing else here knows them.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol, Self

from d2c.jackknife import jackknife
from d2c.treebanks import Reading
from dparsers.directories import whole_directory
from dparsers.protocol import DependencyParser
from reduction.reduction import Reduction
from trees.ctree import CTree, Tokens
from trees.dtree import DTree
from trees.errors import FormatError, ModelError
from trees.files import read_json
from trees.formats.conllu import write_conllu
from trees.repair import Repairs

FORMAT = 1  # of the model directory
CLEANED = Reading()
_SETTINGS = "model.json"


class Route(Protocol):
    """What turns c-trees into d-trees for a d-parser, and its d-trees into c-trees again."""

    @property
    def gaps_(self) -> bool:
        """Whether training trees had gaps."""
        ...

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        progress: Callable[[object], None] | None = None,
    ) -> Self:
        """Learns from gold c-trees; dev selects among what was learned. progress is told what to show.

        dtrees: for each c-tree what the d-parser makes of it without having learned from it (jackknifing)
        """
        ...

    def encode(self, ctree: CTree) -> DTree:
        """The d-tree that the d-parser is trained on."""
        ...

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """Valid c-trees over exactly the tokens of predicted d-trees."""
        ...

    def save(self, directory: Path) -> None:
        """Writes plain files."""
        ...

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote."""
        ...


ROUTES = ("reduction", "labeler", "cky", "combined")
# name: its class, what to install for it, and the parameters that may follow its name, with their values
DPARSERS: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "stanza": (
        "dparsers.stanza_parser:StanzaParser",
        "stanza",
        {"model_type": ("graph", "transition")},
    ),
    "spacy": ("dparsers.spacy_parser:SpacyParser", "d2c[spacy]", {}),
    "udpipe": (
        "dparsers.udpipe_parser:UDPipeParser",
        "d2c[udpipe]",
        {"system": ("projective", "swap", "link2")},
    ),
    "cmd": ("dparsers.command:CommandParser", "d2c", {"train_template": (), "parse_template": ()}),
    "file": ("dparsers.file_parser:FileParser", "d2c", {"path": ()}),
    "gold": ("dparsers.file_parser:GoldParser", "d2c", {}),
}
_FOR_ALL = ("preset", "seed")  # parameters that mean nothing to d-parsers that do not have them


def make_dparser(dparser: str, **parameters: Any) -> DependencyParser:
    """An untrained d-parser.

    dparser:    one of DPARSERS, then perhaps `:` and its own parameters with `;` between them, as in
                `stanza:transition`, `cmd:TRAIN;PARSE` or `file:PREDICTED.conllu`
    parameters: of its class; None leaves the default

    Raises ModelError for unknown d-parsers and parameters, and where a package is not installed.
    """
    name, colon, rest = dparser.partition(":")
    made = _dparser_class(name)
    own = DPARSERS[name][2]
    values = rest.split(";", max(0, len(own) - 1)) if colon else []
    needed = sum(signature(made).parameters[key].default is Parameter.empty for key in own)
    known = all(v in choices if choices else v for v, choices in zip(values, own.values(), strict=False))
    if not needed <= len(values) <= len(own) or not known:
        forms = ["|".join(choices) or key.upper().replace("_", "-") for key, choices in own.items()]
        form = f"{name}:{';'.join(forms)}" if forms else name
        raise ModelError(f"the d-parser {dparser!r} is not of the form {form}")
    given = {key: value for key, value in parameters.items() if value is not None}
    given |= dict(zip(own, values, strict=False))
    for key in _FOR_ALL:
        if key not in signature(made).parameters:
            given.pop(key, None)
    _check(name, made, given)
    return made(**given)  # type: ignore[no-any-return]


def _dparser_class(name: str) -> type[Any]:
    if name not in DPARSERS:
        raise ModelError(f"unknown d-parser {name!r}; known are {', '.join(DPARSERS)}")
    path, package, _ = DPARSERS[name]
    module, class_name = path.split(":")
    try:
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]
    except ImportError as error:
        message = f'the d-parser {name} needs a package ({error}): pip install "{package}"'
        raise ModelError(message) from None


def _check(name: str, function: Callable[..., Any], parameters: Iterable[str]) -> None:
    unknown = [parameter for parameter in parameters if parameter not in signature(function).parameters]
    if unknown:
        raise ModelError(f"the d-parser {name} takes no {unknown[0].replace('_', ' ')}")


@dataclass
class Model:
    """A fitted route and a trained d-parser, with the names under which they are registered."""

    route_name: str
    route: Route
    dparser_name: str
    dparser: DependencyParser

    @classmethod
    def train(
        cls,
        route_name: str,
        route: Route,
        dparser_name: str,
        dparser: DependencyParser,
        train: Path,
        dev: Path,
        directory: Path,
        progress: Callable[[object], None] | None = None,
        reading: Reading = CLEANED,
        folds: int = 0,
    ) -> Self:
        """Fits both on treebank files, as `reading` reads them, into a directory.

        folds: of jackknifing, 0 for none: the route learns from gold d-trees only

        The directory appears whole or, after an error or an interruption, not at all. Raises FormatError
        for treebanks that cannot be read or encoded.
        """
        with whole_directory(directory, _SETTINGS) as new, tempfile.TemporaryDirectory() as scratch:
            files = write_encoded(route, train, dev, Path(scratch), reading)
            dtrees = jackknife(dparser, *files, folds, progress) if folds else None
            fit(route, train, dev, progress, reading, dtrees)
            dparser.train(*files, new / "dparser", progress)
            model = cls(route_name, route, dparser_name, dparser)
            model._save_route(new)
        return model

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """What `train` left. Raises ModelError."""
        settings = read_settings(directory)
        route_name, dparser_name = str(settings["route"]), str(settings["dparser"])
        load = _dparser_class(dparser_name).load
        options = {} if device is None else {"device": device}
        _check(dparser_name, load, options)
        return cls(route_name, load_route(directory), dparser_name, load(directory / "dparser", **options))

    def save_with(self, dparser: Path, directory: Path) -> None:
        """Writes this route, with the directory of a trained d-parser, as a model of its own."""
        with whole_directory(directory, _SETTINGS) as new:
            shutil.copytree(dparser, new / "dparser")
            self._save_route(new)

    def _save_route(self, directory: Path) -> None:
        self.route.save(directory / "route")
        settings = {"format": FORMAT, "route": self.route_name, "dparser": self.dparser_name}
        (directory / _SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")

    def parse(self, sentences: Iterable[Tokens], repairs: Repairs | None = None) -> Iterator[CTree]:
        """The c-tree of each sentence."""
        return self.route.decode_all(self.dparser.parse(sentences), repairs)


def load_route(directory: Path) -> Route:
    """The route of a model directory, without its d-parser. Raises ModelError."""
    name = str(read_settings(directory)["route"])
    if name not in ROUTES:
        raise ModelError(f"{directory}: has the route {name!r}, which this version of d2c does not know")
    return route_class(name).load(directory / "route")  # type: ignore[no-any-return]


def route_class(name: str) -> type[Any]:
    """The estimator of one of ROUTES."""
    if name in ("reduction", "labeler"):
        return Reduction
    if name == "combined":
        from d2c.combined import Combined  # slow to import: numba

        return Combined
    from cky.constrained_cky import ConstrainedCKY

    return ConstrainedCKY


def make_route(name: str, encoding: str, head_rules: str, seed: int, **of_chart: Any) -> Route:
    """An untrained route; of_chart: parameters of ConstrainedCKY."""
    reduction = Reduction(encoding, head_rules, seed=seed, labeler=name == "labeler")
    if name in ("reduction", "labeler"):
        return reduction
    chart = route_class("cky")(head_rules, labels=name == "combined", seed=seed, **of_chart)
    route: Route = route_class(name)(reduction, chart) if name == "combined" else chart
    return route


def fit(
    route: Route,
    train: Path,
    dev: Path,
    progress: Callable[[object], None] | None = None,
    reading: Reading = CLEANED,
    dtrees: Sequence[DTree] | None = None,
) -> None:
    """Fits a route on treebank files; dtrees: jackknifed ones of `train`.

    Raises FormatError for a treebank from which it cannot learn.
    """
    try:
        route.fit(reading(train), reading(dev), dtrees=dtrees, progress=progress)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(str(train), 0, 0, str(error)) from error


def read_settings(directory: Path) -> dict[str, Any]:
    """What `model.json` says. Raises ModelError for anything but a model of this format."""
    path = Path(directory) / _SETTINGS
    settings = read_json(path)
    version = settings.get("format")
    if version != FORMAT or not {"route", "dparser"} <= settings.keys():
        raise ModelError(f"{path}: has format {version}; this version of d2c reads {FORMAT}")
    return settings


def write_encoded(
    route: Route, train: Path, dev: Path, directory: Path, reading: Reading = CLEANED
) -> tuple[Path, Path]:
    """Writes what a d-parser learns from into a directory: train.conllu and dev.conllu."""
    files = directory / "train.conllu", directory / "dev.conllu"
    for treebank, file in zip((train, dev), files, strict=True):
        with open(file, "w", encoding="utf-8") as stream:
            write_conllu(encode_treebank(route, treebank, reading), stream)
    return files


def encode_treebank(route: Route, treebank: Path, reading: Reading = CLEANED) -> Iterator[DTree]:
    """The d-trees of a treebank file. Raises FormatError naming the sentence that cannot be encoded."""
    for number, ctree in enumerate(reading(treebank), 1):
        try:
            yield route.encode(ctree)
        except FormatError:
            raise
        except ValueError as error:
            raise FormatError(str(treebank), 0, number, str(error)) from None
