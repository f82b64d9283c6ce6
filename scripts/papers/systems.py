"""Other c-parsers on the same data, as rows beside ours: some are trained here, some come as files of trees.

Those trained here learn from the same trees and tags as d-parsers and routes. Each is a class and a row of
SYSTEMS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, Self

from d2c.base.errors import FormatError
from d2c.routes.rows import RegistryRow, class_of
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.discbracket import write_discbracket
from d2c.trees.formats.reading import Reading
from experiments.timing import timed
from papers.experiment import PaperExperiment
from papers.scores import Scored

SYSTEMS = {
    "shift-reduce": RegistryRow(path="papers.shift_reduce:ShiftReduce"),
    "Stanza's c-parser": RegistryRow(path="papers.stanza_constituency:StanzaConstituency", extra="stanza"),
}
EXACT = {"search": "exact"}  # shift-reduce: the best tree of the chart, not the greedy one


class ConstituentParser(Protocol):
    """A c-parser that needs no d-parser; its parameters are some of preset, epochs, device and seed."""

    def fit(self, train: Sequence[CTree], dev: Sequence[CTree]) -> Self:
        """Learn; select the model on dev. Raises ModelError for trees that it cannot learn from."""

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[CTree]:
        """Yield the c-tree of each sentence over exactly its tokens, in order, over any stream."""

    def save(self, directory: Path) -> None:
        """Write a model directory."""

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser of a model directory. Raises ModelError."""


def other_systems(experiment: PaperExperiment, part: str) -> dict[str, Scored]:
    """Return the figures of all systems on a part of the treebank, except those that cannot be had.

    Files, which are of the part that is reported on, come first, then SYSTEMS. Raises FormatError for files
    with other tokens.
    """
    found = dict[str, Scored]()
    if part == experiment.treebank.reported:
        found = {name: of_file(experiment, path, part) for name, path in experiment.treebank.systems.items()}
    return found | trained_systems(experiment, part)


def trained_systems(experiment: PaperExperiment, part: str) -> dict[str, Scored]:
    """Return the figures of the SYSTEMS that can be had."""
    return experiment.had(SYSTEMS, lambda name: trained(experiment, name, part))


def trained(experiment: PaperExperiment, name: str, part: str, **changes: Any) -> Scored:
    """Return the figures of one of SYSTEMS, trained here; its trees stay in the step. Raises ModelError.

    changes: new values of the trained parser's attributes that say how it parses
    """
    kind, settings = class_of("c-parser", SYSTEMS, name), experiment.spec.dparser
    given = {"preset": settings.preset, "epochs": settings.epochs, "seed": settings.seed}
    made_of = {**experiment.made_of, "system": name, **given, **experiment.on_device}

    def fit(directory: Path) -> Mapping[str, Any]:
        parser: ConstituentParser = kind(device=settings.device, **given)
        parser.fit(experiment.trees("train"), experiment.trees("dev")).save(directory / "cparser")
        return {}

    step = experiment.store.step("system", made_of, fit)

    def parse(directory: Path) -> Mapping[str, Any]:
        parser: ConstituentParser = kind.load(step.directory / "cparser")
        for attribute, value in changes.items():
            setattr(parser, attribute, value)
        sentences = [ctree.tokens for ctree in experiment.trees(part)]
        guess, seconds = timed(parser.parse, sentences, f"parsing {part}", cpu=1)
        with open(directory / "trees.discbracket", "w", encoding="utf-8") as stream:
            write_discbracket(guess, stream)
        return asdict(_scored(experiment, guess, part, seconds))

    made_of = {"system": step.key, "part": part, **changes}
    return Scored(**experiment.store.step("system-trees", made_of, parse).facts)


def of_file(experiment: PaperExperiment, path: Path, part: str) -> Scored:
    """Return the figures of trees in a file of any format; their speed is not known.

    Raises FormatError unless they are over the tokens of the part, in its order.
    """
    gold, guess, file = (
        experiment.gold(part),
        list(Reading(unparsed=True)(path)),
        experiment.treebank.files[part],
    )
    for number, (a, b) in enumerate(zip(gold, guess, strict=False), 1):
        if a.tokens.forms != b.tokens.forms:
            raise FormatError(str(path), 0, number, f"is of other tokens than those of {file}")
    if len(guess) != len(gold):
        raise FormatError(str(path), 0, 0, f"has {len(guess)} sentences, {file} {len(gold)}")
    return _scored(experiment, guess, part)


def _scored(experiment: PaperExperiment, guess: Sequence[CTree], part: str, seconds: float = 0.0) -> Scored:
    return Scored(
        brackets=experiment.figures(guess, part),
        attachment=None,
        by_heads=experiment.uas_by_heads(guess, part),
        sentences=len(guess),
        tokens=sum(len(ctree.tokens) for ctree in guess),
        parsing=seconds,
        converting=0.0,
    )
