"""What is to be trained: one value from the command line to the estimators."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from d2c.base.inputs import Paths, names_of
from d2c.base.settings import setting
from d2c.models.model import ARCS
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Route
from d2c.protocols.settings import SharedSettings, shared
from d2c.routes.dparsers import DPARSERS, form_of, make_dparser
from d2c.routes.registry import RouteSettings, make_route
from d2c.training.tagging import Tagging
from d2c.trees.formats.reading import CLEANED, Read

FOLDS = 10  # of jackknifing tags, unless said


@dataclass(frozen=True)
class TrainingSpec(RouteSettings):
    """What is to be trained, on which treebank; the rest is what `RouteSettings` has.

    train, dev:  treebank files
    routes:      of `d2c.routes.registry.ROUTES`; the d-parser learns what the first one encodes
    reading:     how the treebank files are read
    dparser:     as `make_dparser` takes it; preset, epochs, device, vectors, charlm, transformer: of it
    timeout:     of a command or program that the d-parser runs, in seconds
    unlabelled:  whether the d-parser learns no labels (section 4.2 of "Parsing as Reduction")
    overwrite:   models that are there already, when the new ones are whole
    tagger:      one of TAGGERS, or None; preset, device, transformer and checkpoints are for it, too
    tags:        what routes and d-parser learn from: `gold`, or `predicted` by the tagger
    language:    of text, kept in the model; see `Model`
    arcs:        whether routes that can look among all likely arcs, or one d-tree
    folds:       of jackknifing. With it routes learn from d-trees that the d-parser predicts; without it,
                 from gold ones only, and from predicted tags of FOLDS folds
    """

    train: Paths
    dev: Paths
    routes: tuple[str, ...] = ("reduction",)
    reading: Read = CLEANED
    dparser: str = setting(
        "stanza",
        f"One of {', '.join(map(form_of, DPARSERS))}; some parameters may be left out. cmd: has two "
        "commands. `train --route cky` also takes d-trees in any convention, from a parser that is already "
        "trained: pipeline:spacy:NAME, pipeline:stanza:LANGUAGE, or 'file:TRAIN.conllu;DEV.conllu'.",
    )
    preset: str = "default"
    epochs: float | None = shared("epochs")
    device: str | None = shared("device")
    vectors: Path | None = shared("vectors")
    charlm: tuple[Path, Path] | None = shared("charlm")
    transformer: str | None = shared("transformer")
    timeout: float | None = shared("timeout")
    unlabelled: bool = setting(
        False,
        "The d-parser learns only heads, as the first of two stages: for labeler, cky and combined.",
    )
    overwrite: bool = setting(False, "Replace existing models of -o once the new ones are complete.")
    tagger: str | None = setting(None, "Train this tagger on the treebank's tags, for `parse` to read text.")
    tags: str = setting(
        "gold",
        "Tags to learn from: the treebank's, or those that the tagger predicts by jackknifing.",
        choices=("gold", "predicted"),
    )
    language: str | None = setting(None, "Language of the text (de, zh, ...): split it by spaCy's rules.")
    arcs: str = setting(
        ARCS[0],
        "Use the d-parser's single d-tree, or all its likely arcs, packed: over these cky finds the best "
        "c-tree, labeler the d-tree whose labels are most certain.",
        choices=ARCS,
    )
    folds: int | None = setting(
        None,
        "Routes learn from d-trees that the d-parser predicts after training on the other folds. Also the "
        "number of folds for --tags predicted (otherwise 10).",
        least=2,
    )

    def __str__(self) -> str:
        tagger = f"tagger {self.tagger}, " if self.tagger else ""
        routes = f"route{'s' * (len(self.routes) > 1)} {', '.join(self.routes)}"
        trained = f"{tagger}d-parser {self.dparser_name}, {routes}"
        preset = f"finetune of {self.transformer}" if self.transformer else self.preset
        files = f"training on {names_of(self.train)}, choosing on {names_of(self.dev)}"
        return f"{files}: {trained}; preset {preset}"

    @property
    def packed(self) -> bool:
        """Whether arcs are packed."""
        return self.arcs == "packed"

    def over_arcs(self, route: Route) -> bool:
        """Whether a route learns over the packed arcs of jackknifed d-trees."""
        return self.packed and bool(self.folds) and route.abilities.packed_arcs

    @property
    def dparser_name(self) -> str:
        """The d-parser's name, without its own parameters."""
        return self.dparser.partition(":")[0]

    @property
    def tagging(self) -> Tagging | None:
        """How models come by their tagger; None: they have none."""
        if self.tagger is None:
            return None
        folds = self.folds or FOLDS if self.tags == "predicted" else 0
        said = replace(self._said(), epochs=None)  # which are the d-parser's
        return Tagging(self.tagger, said, folds, self.head_rules)

    def new_routes(self) -> dict[str, Route]:
        """The routes, untrained. Raises ModelError."""
        return {name: make_route(name, self) for name in self.routes}

    def new_dparser(self) -> DependencyParser:
        """The d-parser, untrained. Raises ModelError."""
        return make_dparser(self.dparser, self._said())

    def _said(self) -> SharedSettings:
        """What is said of d-parsers and taggers of any kind."""
        return SharedSettings(**{one.name: getattr(self, one.name) for one in fields(SharedSettings)})
