"""A trained model in one directory: `model.json` beside `route/`, `dparser/` and, in some, `tagger/`,
`calibration/`, `functions/` and `words/`."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, tee
from pathlib import Path
from typing import Any, Self, cast

from d2c.base import model_files
from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.models.calibration import Calibration, Judged
from d2c.models.functions import FunctionTagger
from d2c.models.names import SETTINGS, hides, scores_of
from d2c.models.spelling import as_learned, as_read, spelled
from d2c.models.word_cuts import WordCuts, WordParts, load_cuts
from d2c.packed.arcs import LEAST
from d2c.protocols.dparser import DependencyParser, Tagger
from d2c.protocols.route import Route
from d2c.protocols.training import DEV_WORDS, thinned
from d2c.routes.compatibility import check_arcs
from d2c.routes.dparsers import DPARSERS, load_dparser, load_tagger
from d2c.routes.registry import ROUTES, route_class
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.refinement import visible
from d2c.trees.repair import Repairs

MODEL_FORMAT = 2  # of the model directory
_OTHERS = {  # what people take for a model, by a file in it
    "meta.json": "a pipeline of spaCy's; `d2c train --dparser pipeline:spacy:NAME` makes a model of it",
    "dparser.json": "the d-parser of a model; the model is the directory above",
    "tagger.json": "the tagger of a model; the model is the directory above",
    "reduction.json": "the route of a model; the model is the directory above",
    "cky.json": "the route of a model; the model is the directory above",
    "rules.json": "the route of a model; the model is the directory above",
}
_WINDOW = 1024  # sentences that are tagged at a time
TAGS, ARCS = ("gold", "predicted"), ("single", "packed")
_FUNCTIONS, CUTS = "functions", "words"
_PARTS = "route", "dparser", "tagger", "calibration", _FUNCTIONS, CUTS
_CALIBRATION = Path("calibration") / "calibration.json"
_ABBREVIATIONS = "abbreviations.json"  # beside what tags
_ABBREVIATION = re.compile(r"(?=.*[^\W\d_].*).{2,40}\.")
NO_TAGGER = "words need a tagger, and this model has none; train it with --tagger spacy or --tagger stanza"


@dataclass(frozen=True)
class ModelSettings:
    """What `model.json` says: names of route, d-parser and tagger; other fields as in `Model`.

    files: digest of each file of the model, by its path; None: not known
    """

    route: str
    dparser: str
    tagger: str | None = None
    tags: str | None = None
    language: str | None = None
    arcs: str = ARCS[0]
    small_letters: bool = False
    files: dict[str, object] | None = None

    def __post_init__(self) -> None:
        if self.arcs not in ARCS:
            raise ValueError(f"unknown arcs {self.arcs!r}")
        if self.tags not in (*TAGS, None) or (self.tagger is None) != (self.tags is None):
            raise ValueError("tagger and tags do not fit together")

    def named(self) -> dict[str, object]:
        """Return the settings that are not at their defaults, without the digests."""
        default = {one.name: one.default for one in fields(self)}
        said = vars(self).items()
        return {name: value for name, value in said if value != default[name] and name != "files"}


@dataclass
class Model:
    """A fitted route and a trained d-parser, with the names under which they are registered.

    tagger: a trained tagger and its name, where the model has one
    tags:   what route and d-parser were trained on, `gold` or `predicted` by the tagger. A d-parser that
            finds tags predicts its own; tags that are given (`gold`) are then for the route alone
    language: whose rules cut text, as spaCy calls it; None: English, or what the d-parser's pipeline does
    arcs:   one of ARCS: whether the route looks at one d-tree or among all likely arcs
    calibration: makes probabilities of the route's confidences, where it was learned
    functions: adds function tags to c-trees, where it was learned
    cuts:   what was learned of where words are cut, beyond the rules of the language
    small_letters: whether tagger, d-parser and route read sentences in capitals as if in small letters, and
            typographic marks and `"` as the Penn Treebank's; their trees have the words as given. All models
            read -LRB- and -RRB- as brackets
    f1:     in percent, by the part of a treebank, as the model's card says; only for models that vote

    A d-parser that comes with tags of its own is the tagger of a model that has no other.
    """

    route_name: str
    route: Route
    dparser_name: str
    dparser: DependencyParser
    tagger_name: str | None = None
    tagger: Tagger | None = None
    tags: str = "gold"
    language: str | None = None
    arcs: str = ARCS[0]
    calibration: Calibration | None = None
    functions: FunctionTagger | None = None
    cuts: WordCuts | WordParts | None = None
    small_letters: bool = False
    f1: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tagger is None and (self.dparser.abilities.text or self.dparser.abilities.tags):
            self.tagger = cast(Tagger, self.dparser)
            self.tags = TAGS[self.dparser.abilities.tags]

    @classmethod
    def load(
        cls,
        directory: Path,
        device: str | None = None,
        parse_command: str | None = None,
        allow_pipeline: str | None = None,
        timeout: float | None = None,
        arcs: str | None = None,
    ) -> Self:
        """Return the model that `train` left in a directory.

        parse_command: the command of a d-parser `cmd`
        allow_pipeline: the name of a d-parser `pipeline`, `spacy:NAME` or `stanza:LANGUAGE`: loading one may
                        run code that it brings with it
        timeout:        seconds after which a run of the command is ended
        arcs:           one of ARCS, in place of the model's own

        The first two must be given where the model has such a d-parser, and only there. Raises ModelError.
        """
        file = read_model_settings(directory, _PARTS)
        given: dict[str, Any] = {"device": device, "parse_command": parse_command}
        given |= {"allow_pipeline": allow_pipeline, "timeout": timeout}
        dparser = load_dparser(file.dparser, directory / "dparser", given)
        model = cls(file.route, _load_route(directory / "route", file.route), file.dparser, dparser)
        model.language, model.arcs = file.language, arcs or file.arcs
        model.small_letters = file.small_letters
        check_arcs(model.arcs == "packed", {file.route: model.route}, dparser, file.dparser)
        if file.tagger is not None:
            model.tagger_name, model.tags = file.tagger, file.tags or TAGS[0]
            model.tagger = load_tagger(file.tagger, directory / "tagger", device)
        if (directory / _CALIBRATION).is_file():
            model.calibration = Calibration.load(directory / _CALIBRATION)
        if (directory / _FUNCTIONS).is_dir():
            model.functions = FunctionTagger.load(directory / _FUNCTIONS)
        model.cuts = load_cuts(directory / CUTS)
        return model

    def save(self, directory: Path, trained: Path) -> None:
        """Write the model into a directory; d-parser and tagger are copied from where they were trained."""
        for part in ("dparser", "tagger") if self.tagger_name else ("dparser",):
            if directory != trained:
                shutil.copytree(trained / part, directory / part)
        self.route.save(directory / "route")
        if self.calibration is not None:
            self.calibration.save(directory / _CALIBRATION)
        if self.functions is not None:
            self.functions.save(directory / _FUNCTIONS)
        if self.cuts is not None:
            self.cuts.save(directory / CUTS)
        tags = self.tags if self.tagger_name else None
        file = ModelSettings(
            self.route_name,
            self.dparser_name,
            self.tagger_name,
            tags,
            self.language,
            self.arcs,
            self.small_letters,
        )
        settings = file.named() | {"files": model_files.digests(directory, _PARTS)}
        model_files.write_settings(directory / SETTINGS, MODEL_FORMAT, settings)

    def calibrate(self, ctrees: Iterable[CTree], learned: Iterable[CTree]) -> None:
        """Learn from parses of held-out sentences how far confidences can be trusted; from some of the
        sentences, where they are very many.

        ctrees:  gold ones, from which neither d-parser nor route has learned, though they may have chosen
                 among states
        learned: those that d-parser and route have learned from
        """
        if not self.route.abilities.confidences or self.dparser.abilities.in_order:
            return
        gold = thinned([*ctrees], DEV_WORDS)
        given = (ctree.tokens for ctree in gold)
        if self.tagger is not None and not self.dparser.abilities.foreign:  # as untagged words will be parsed
            given = (Tokens.untagged(tokens.forms) for tokens in given)
        dtrees = map(self.read, self.parse_dependencies(given, self.least))
        parses = zip(gold, self.route.confidences_all(dtrees), strict=True)
        judged = (Judged(visible(one), ctree, shares) for one, (ctree, shares) in parses if shares)
        self.calibration = Calibration.fit(judged, map(visible, learned))

    def parse(self, sentences: Iterable[Tokens], repairs: Repairs | None = None) -> Iterator[CTree]:
        """Yield the c-tree of each sentence; tags as for `parse_dependencies`."""
        given, dtrees = tee(self.parse_dependencies(sentences, self.least))
        ctrees = self.route.decode_all(map(self.read, dtrees), repairs)
        return (spelled(ctree, dtree.tokens.forms) for dtree, ctree in zip(given, ctrees, strict=True))

    def read(self, dtree: DTree) -> DTree:
        """Return a d-tree with its words in the spelling in which the route reads them."""
        return as_read(dtree, self.small_letters)

    @property
    def least(self) -> float:
        """Return how probable an arc must be for the route to look at it."""
        abilities = self.route.abilities
        looks = self.arcs == "packed" and abilities.packed_arcs and not abilities.k_best_arcs
        return self.route.arcs_.least if looks else LEAST

    def parse_dependencies(self, sentences: Iterable[Tokens], least: float = LEAST) -> Iterator[DTree]:
        """Yield the d-tree of each sentence; its packed arcs, if any, are of this probability or more.

        Sentences with words that have no tag (an empty one) are tagged by the model's tagger; if route and
        d-parser were trained on its tags, all are. Raises ModelError where there is no tagger.
        """
        given, seen = tee(sentences)
        small = self.small_letters
        learned = (replace(one, forms=as_learned(one.forms, small)) for one in seen)
        dtrees = self._parsed(learned, least)
        return (spelled(dtree, tokens.forms) for tokens, dtree in zip(given, dtrees, strict=True))

    def _parsed(self, sentences: Iterable[Tokens], least: float) -> Iterator[DTree]:
        parse = parsing(self.dparser, self.arcs == "packed", least)
        if not self.dparser.abilities.tags:
            return parse(chain.from_iterable(map(self._tagged, batches(sentences, _WINDOW, len))))
        given, seen = tee(sentences)
        pairs = zip(given, parse(seen), strict=True)
        if self.tags == "predicted":
            return (dtree for _, dtree in pairs)
        return (replace(dtree, tokens=one) if all(one.tags) else dtree for one, dtree in pairs)

    def _tagged(self, sentences: list[Tokens]) -> Iterator[Tokens]:
        every = self.tags == "predicted"
        untagged = [tokens.forms for tokens in sentences if every or not all(tokens.tags)]
        if untagged and self.tagger is None:
            raise ModelError(NO_TAGGER)
        tagged = iter(self.tagger.tag(untagged) if self.tagger and untagged else ())
        for tokens in sentences:
            if every:
                yield next(tagged)  # without lemmas and morphology, as in training
            else:
                yield tokens if all(tokens.tags) else replace(tokens, tags=next(tagged).tags)


def load_models(directories: Sequence[Path], **given: Any) -> list[Model]:
    """Load models that parse together, each as `Model.load` does. An argument that only some d-parsers take
    (`allow_pipeline`, ...) is for these. Raises ModelError."""
    names = [read_model_settings(directory).dparser for directory in directories]
    said = [key for key, value in given.items() if value is not None]
    known = {name: DPARSERS[name].loaded for name in names if name in DPARSERS}
    takers = {key: {name for name, loaded in known.items() if key in loaded} for key in said}
    models = [
        Model.load(directory, **{key: given[key] for key in said if name in (takers[key] or names)})
        for directory, name in zip(directories, names, strict=True)
    ]
    if len(models) > 1:  # by which votes count
        for model, directory in zip(models, directories, strict=True):
            model.f1 = scores_of(directory)
    return models


def load_route(directory: Path) -> Route:
    """Return the route of a model directory, without its d-parser. Raises ModelError."""
    return _load_route(directory / "route", read_model_settings(directory, ("route",)).route)


def _load_route(path: Path, name: str) -> Route:
    if name not in ROUTES:
        raise ModelError(f"{path.parent}: has the route {name!r}, which this version of d2c does not know")
    return route_class(name).load(path)


def read_model_settings(directory: Path, parts: Sequence[str] = ()) -> ModelSettings:
    """Return what `model.json` of a model directory says. Raises ModelError.

    parts: folders whose files must be those that `save` wrote, if there are digests; models of version 0.2.0
           have none. Digests do not protect against deliberate changes, as a digest can be changed along with
           its file; so no loader relies on them
    """
    path = Path(directory) / SETTINGS
    if not path.is_file():
        for file, what in _OTHERS.items():
            if (Path(directory) / file).is_file():
                raise ModelError(f"{directory}: is {what}")
        raise ModelError(f"{directory}: is no model of d2c's: {path} is no file")
    try:
        settings = model_files.read_as(path, MODEL_FORMAT, ModelSettings)
    except ModelError as error:
        raise ModelError(f"{error}{hides(Path(directory))}") from None
    if parts and settings.files is not None:
        model_files.check_digests(Path(directory), parts, settings.files)
    return settings


def parsing(
    dparser: DependencyParser, packed: bool, least: float = LEAST
) -> Callable[[Iterable[Tokens]], Iterator[DTree]]:
    """Return how a d-parser parses: with packed arcs of this probability or more, where these are wanted and
    it gives them, or without."""
    packs = packed and dparser.abilities.packed_arcs
    return partial(dparser.parse_packed, least=least) if packs else dparser.parse


@dataclass(frozen=True)
class AbbreviationFile:
    """Abbreviations of a tagger's treebank: where text is cut, they end no sentence."""

    abbreviations: tuple[str, ...]


def save_abbreviations(sentences: Iterable[Tokens], directory: Path) -> None:
    """Write the abbreviations of a treebank: words that it has more than once, and more often with a full
    stop than without.

    Where cats are written of, `cat.` of a catalogue is none. Single letters and numbers are left to rules.
    """
    counts = Counter(form for tokens in sentences for form in tokens.forms)
    words = Counter[str]()
    for form, count in counts.items():
        words[form.lower()] += count
    known = sorted(
        form
        for form, count in counts.items()
        if count > 1 and _ABBREVIATION.fullmatch(form) and words[form.lower()] > words[form[:-1].lower()]
    )
    model_files.write_settings(directory / _ABBREVIATIONS, 1, AbbreviationFile(tuple(known)))


def load_abbreviations(directory: Path) -> tuple[str, ...]:
    """Return what `save_abbreviations` wrote; nothing if it has written nothing. Raises ModelError."""
    if not (directory / _ABBREVIATIONS).is_file():
        return ()
    return model_files.read_as(directory / _ABBREVIATIONS, 1, AbbreviationFile).abbreviations
