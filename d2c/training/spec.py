"""What is to be trained: one value, nested as the parts are, from the command line to the estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from d2c.base.counting import many
from d2c.base.errors import each_located
from d2c.base.files import file_name
from d2c.base.inputs import Paths, names_of, of_each
from d2c.base.progress import log
from d2c.base.settings import Settings, set_by, setting
from d2c.models.model import ARCS
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Route
from d2c.protocols.settings import SharedSettings
from d2c.routes.dparsers import DPARSERS, form_of, make_dparser
from d2c.routes.registry import RouteSettings, make_route
from d2c.training.tagging import TaggerChoice
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import CLEANED, Read, Reading

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Data(Settings):
    """The treebank: files to learn from, and files that choose among what was learned; how they are read."""

    train: Paths
    dev: Paths
    reading: Read = CLEANED

    def source(self, part: str) -> Paths:
        """Return the files of a part, `train` or `dev`."""
        return self.train if part == "train" else self.dev

    def trees(self, part: str) -> Iterable[CTree]:
        """Return the trees of a part. Raises FormatError."""
        return self.reading(self.source(part))

    def each(self, work: Callable[[CTree], Made], part: str) -> Iterator[Made]:
        """Yield what `work` makes of each tree of a part.

        Raises FormatError, which names file and sentence, for trees that `work` refuses.
        """
        read = of_each(lambda path: each_located(work, self.reading(path), file_name(path)))
        return read(self.source(part))


@dataclass
class TreebankSize:
    """How large a treebank is, told once all its d-trees were seen."""

    sentences: int = 0
    words: int = 0
    labels: set[str] = field(default_factory=set)

    def add(self, dtree: DTree) -> DTree:
        """Count a d-tree, and return it."""
        self.sentences, self.words = self.sentences + 1, self.words + len(dtree.heads)
        self.labels.update(dtree.labels or ())
        return dtree

    def tell(self, treebank: Paths) -> None:
        """Say to the log what was counted."""
        size = f"{many(self.sentences, 'sentence')}, {many(self.words, 'word')}"
        log.info("%s", f"{names_of(treebank)}: {size}, {many(len(self.labels), 'label')} of arcs")


@dataclass(frozen=True, kw_only=True)
class DParserChoice(SharedSettings):
    """The d-parser: what `make_dparser` takes.

    unlabelled: whether it learns no labels (section 4.2 of "Parsing as Reduction")
    """

    name: str = set_by(
        "dparser",
        setting(
            "stanza",
            f"One of {', '.join(map(form_of, DPARSERS))}; some parameters may be left out. cmd: takes two "
            "commands, for training and for parsing. `train --route cky` also learns from d-trees in any "
            "convention, by a parser that is already trained: pipeline:spacy:NAME, pipeline:stanza:LANGUAGE, "
            "or 'file:TRAIN.conllu;DEV.conllu'.",
            metavar="NAME[:...]",
        ),
    )
    unlabelled: bool = setting(
        False,
        "Let the d-parser learn only heads, as the first of two stages (labeler, cky, combined).",
    )

    @property
    def kind(self) -> str:
        """Return the name without the d-parser's own settings, one of DPARSERS."""
        return self.name.partition(":")[0]

    def make(self) -> DependencyParser:
        """Return the d-parser, untrained. Raises ModelError."""
        return make_dparser(self.name, self)


@dataclass(frozen=True, kw_only=True)
class TrainingSpec(Settings):
    """What is to be trained, on which treebank; made by `of`.

    routes:    names of `d2c.routes.registry.ROUTES`; the d-parser learns what the first one encodes
    arcs:      one of ARCS: whether routes look at one d-tree or, if they can, among all likely arcs
    jackknife: number of folds. With it routes learn from d-trees that the d-parser predicts; without it, from
               gold ones only
    language:  of text, kept in the model; see `Model`
    overwrite: whether the new models, when they are whole, replace those that are there already
    """

    data: Data
    routes: tuple[str, ...] = ("reduction",)
    route: RouteSettings = RouteSettings()
    dparser: DParserChoice = DParserChoice()
    tagger: TaggerChoice = TaggerChoice()
    arcs: str = setting(
        ARCS[0],
        "Use the d-parser's single best d-tree, or all its likely arcs, packed. Over these, cky finds the "
        "best c-tree, and labeler the d-tree whose labels are most certain.",
        choices=ARCS,
    )
    jackknife: int | None = setting(
        None,
        "The number of folds: routes learn from d-trees that the d-parser predicts for each fold after "
        "training on the others. Also the number of folds for --tags predicted (otherwise 10).",
        least=2,
    )
    language: str | None = setting(
        None,
        "The language of text (de, zh, ...). It is split by spaCy's rules or, if it is written without "
        "blanks, into words like the treebank's.",
        metavar="CODE",
    )
    overwrite: bool = setting(False, "Replace existing models in -o once the new ones are complete.")

    @classmethod
    def of(
        cls,
        train: Paths,
        dev: Paths,
        routes: tuple[str, ...] = ("reduction",),
        reading: Read | None = None,
        **options: Any,
    ) -> Self:
        """Return what is to be trained on a treebank, with settings by the names of their options."""
        read = reading or Reading(marked=options.get("head_rules") == "marked")
        return cls(data=Data(train=train, dev=dev, reading=read), routes=routes).changed(**options)

    def __str__(self) -> str:
        tagger = f"tagger {self.tagger.name}, " if self.tagger.name else ""
        routes = f"route{'s' * (len(self.routes) > 1)} {', '.join(self.routes)}"
        trained = f"{tagger}d-parser {self.dparser.kind}, {routes}"
        on = self.dparser.transformer
        preset = f"finetune of {on}" if on else self.dparser.preset
        files = f"training on {names_of(self.data.train)}, choosing on {names_of(self.data.dev)}"
        return f"{files}: {trained}; preset {preset}"

    @property
    def packed(self) -> bool:
        """Return whether arcs are packed."""
        return self.arcs == ARCS[1]

    def over_arcs(self, route: Route) -> bool:
        """Return whether a route learns over the packed arcs of jackknifed d-trees."""
        return self.packed and bool(self.jackknife) and route.abilities.packed_arcs

    def new_routes(self, **changes: Any) -> dict[str, Route]:
        """Return the routes, untrained; changes: of their settings, by option. Raises ModelError."""
        settings = self.route.changed(**changes)
        return {name: make_route(name, settings) for name in self.routes}
