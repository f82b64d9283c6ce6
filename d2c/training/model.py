"""A trained model in one directory: `model.json` beside `route/`, `dparser/` and, in some, `tagger/`.

Another route adds its name to ROUTES and its class to `route_class`; d-parsers are in
`d2c.dparsers.registry`.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeGuard, cast, runtime_checkable

from d2c.dparsers.directories import whole_directory
from d2c.dparsers.protocol import DependencyParser, ForeignParser
from d2c.dparsers.registry import check, dparser_class
from d2c.dparsers.taggers import Tagger
from d2c.reduction.reduction import Reduction
from d2c.training.jackknife import jackknife_dtrees
from d2c.training.tagging import Tagging, load_abbreviations, load_tagger
from d2c.treebanks.reading import Read, Reading
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.errors import FormatError, ModelError
from d2c.trees.files import read_json
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.repair import Repairs

FORMAT = 1  # of the model directory
CLEANED = Reading()
NO_TAGGER = "words need a tagger, and this model has none; train it with --tagger stanza or --tagger spacy"
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

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        """The same c-trees, each with a number for each of its nodes [K]: how sure the route is of it."""
        ...

    def save(self, directory: Path) -> None:
        """Writes plain files."""
        ...

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote."""
        ...


@runtime_checkable
class Relabels(Protocol):
    """A route that reads other labels than those of the d-parser."""

    def relabel(self, dtrees: Iterable[DTree]) -> list[DTree]:
        """The d-trees whose labels decoding reads."""
        ...


ROUTES = ("reduction", "labeler", "cky", "combined")


@dataclass
class Model:
    """A fitted route and a trained d-parser, with the names under which they are registered.

    tagger: the same of a tagger, where the model has one
    tags:   what route and d-parser were trained on, `gold` or `predicted` by the tagger
    abbreviations: words of the tagger's treebank that end in a full stop
    """

    route_name: str
    route: Route
    dparser_name: str
    dparser: DependencyParser
    tagger_name: str | None = None
    tagger: Tagger | None = None
    tags: str = "gold"
    abbreviations: tuple[str, ...] = ()

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
        reading: Read = CLEANED,
        tagging: Tagging | None = None,
        folds: int = 0,
    ) -> Self:
        """Fits both on treebank files, as `reading` reads them, into a directory.

        tagging: trains a tagger first, and may make it say the tags that all else learns from
        folds:   of jackknifing d-trees, 0 for none: the route learns from gold d-trees only, or, where the
                 d-parser is a foreign one, from its d-trees

        The directory appears whole or, after an error or an interruption, not at all. Raises FormatError
        for treebanks that cannot be read or encoded, ModelError where the route cannot learn from foreign
        d-trees.
        """
        if is_foreign(dparser) and (route_name != "cky" or folds):
            message = "is trained elsewhere; only the route cky learns from its d-trees, without jackknifing"
            raise ModelError(f"the d-parser {dparser_name} {message}")
        with whole_directory(directory, _SETTINGS) as new, tempfile.TemporaryDirectory() as scratch:
            tagger = None
            if tagging is not None:
                tagger, reading = tagging.train(train, dev, new / "tagger", reading, progress)
            if is_foreign(dparser):
                from d2c.training.conventions import fit_to_convention  # slow to import: numba

                dparser.train(train, dev, new / "dparser", progress)  # it reads neither
                fit_to_convention(cast(Any, route), dparser, train, dev, progress, reading)
            else:
                files = write_encoded(route, train, dev, Path(scratch), reading)
                dtrees = jackknife_dtrees(dparser, *files, folds, progress) if folds else None
                fit(route, train, dev, progress, reading, dtrees)
                dparser.train(*files, new / "dparser", progress)
            model = cls(route_name, route, dparser_name, dparser)
            if tagging is not None:
                model.take_tagger(tagging, tagger, new / "tagger")
            model._save_route(new)
        return model

    @classmethod
    def load(cls, directory: Path, device: str | None = None, parse_template: str | None = None) -> Self:
        """What `train` left; parse_template: the command of a d-parser `cmd`. Raises ModelError."""
        settings = read_settings(directory)
        route_name, dparser_name = str(settings["route"]), str(settings["dparser"])
        load = dparser_class(dparser_name).load
        given = {"device": device, "parse_template": parse_template}
        options = {key: value for key, value in given.items() if value is not None}
        check(dparser_name, load, options)
        model = cls(route_name, load_route(directory), dparser_name, load(directory / "dparser", **options))
        if "tagger" in settings:
            model.tagger_name, model.tags = str(settings["tagger"]), str(settings.get("tags", "gold"))
            model.tagger = load_tagger(model.tagger_name, directory / "tagger", device)
            model.abbreviations = load_abbreviations(directory / "tagger")
        return model

    def take_tagger(self, tagging: Tagging, tagger: Tagger | None, directory: Path) -> None:
        """Has the tagger from now on that `Tagging.train` trained into a directory."""
        self.tagger_name, self.tagger = tagging.name, tagger
        self.tags = "predicted" if tagging.folds else "gold"
        self.abbreviations = load_abbreviations(directory)

    def save_with(self, trained: Path, directory: Path) -> None:
        """Writes this route, with d-parser and tagger of another model's directory, as a model of its own."""
        with whole_directory(directory, _SETTINGS) as new:
            for part in ("dparser", "tagger") if self.tagger_name else ("dparser",):
                shutil.copytree(trained / part, new / part)
            self._save_route(new)

    def _save_route(self, directory: Path) -> None:
        self.route.save(directory / "route")
        settings = {"format": FORMAT, "route": self.route_name, "dparser": self.dparser_name}
        if self.tagger_name is not None:
            settings |= {"tagger": self.tagger_name, "tags": self.tags}
        (directory / _SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")

    def parse(self, sentences: Iterable[Tokens], repairs: Repairs | None = None) -> Iterator[CTree]:
        """The c-tree of each sentence."""
        return self.route.decode_all(self.parse_dependencies(sentences), repairs)

    def parse_dependencies(self, sentences: Iterable[Tokens], words: bool = False) -> Iterator[DTree]:
        """The d-tree of each sentence.

        words: the sentences have no tags of their own. They are tagged then, as they are where route and
        d-parser were trained on predicted tags. Raises ModelError where the model has no tagger.
        """
        if words or self.tags == "predicted":
            if self.tagger is None:
                raise ModelError(NO_TAGGER)
            sentences = self.tagger.tag(tokens.forms for tokens in sentences)
        return self.dparser.parse(sentences)


def is_foreign(dparser: DependencyParser) -> TypeGuard[ForeignParser]:
    """Whether a d-parser is trained elsewhere, on d-trees of a convention of its own."""
    return isinstance(dparser, ForeignParser) and dparser.foreign


def load_route(directory: Path) -> Route:
    """The route of a model directory, without its d-parser. Raises ModelError."""
    name = str(read_settings(directory)["route"])
    if name not in ROUTES:
        raise ModelError(f"{directory}: has the route {name!r}, which this version of d2c does not know")
    return route_class(name).load(directory / "route")  # type: ignore[no-any-return]


def route_class(name: str) -> type[Any]:
    """The estimator of one of ROUTES."""
    if name == "reduction":
        return Reduction
    if name == "labeler":
        from d2c.reduction.labeler.two_stage import TwoStage  # slow to import: numba

        return TwoStage
    if name == "combined":
        from d2c.training.combined import Combined  # slow to import: numba

        return Combined
    from d2c.cky.constrained_cky import ConstrainedCKY

    return ConstrainedCKY


def make_route(name: str, encoding: str, head_rules: str, seed: int, **of_chart: Any) -> Route:
    """An untrained route; of_chart: parameters of ConstrainedCKY."""
    if name in ("reduction", "labeler"):
        return cast(Route, route_class(name)(encoding, head_rules, seed=seed))
    reduction = Reduction(encoding, head_rules, seed=seed)
    chart = route_class("cky")(head_rules, labels=name == "combined", seed=seed, **of_chart)
    route: Route = route_class(name)(reduction, chart) if name == "combined" else chart
    return route


def fit(
    route: Route,
    train: Path,
    dev: Path,
    progress: Callable[[object], None] | None = None,
    reading: Read = CLEANED,
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
    route: Route, train: Path, dev: Path, directory: Path, reading: Read = CLEANED
) -> tuple[Path, Path]:
    """Writes what a d-parser learns from into a directory: train.conllu and dev.conllu."""
    files = directory / "train.conllu", directory / "dev.conllu"
    for treebank, file in zip((train, dev), files, strict=True):
        with open(file, "w", encoding="utf-8") as stream:
            write_conllu(encode_treebank(route, treebank, reading), stream)
    return files


def encode_treebank(route: Route, treebank: Path, reading: Read = CLEANED) -> Iterator[DTree]:
    """The d-trees of a treebank file. Raises FormatError naming the sentence that cannot be encoded."""
    for number, ctree in enumerate(reading(treebank), 1):
        try:
            yield route.encode(ctree)
        except FormatError:
            raise
        except ValueError as error:
            raise FormatError(str(treebank), 0, number, str(error)) from None
