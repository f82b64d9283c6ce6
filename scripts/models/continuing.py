"""A model that learns more: tagger and d-parser of spaCy go on from another one, the route stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

from d2c.dparsers.spacy.parser import SpacyParser
from d2c.dparsers.spacy.tagger import SpacyTagger
from d2c.dparsers.training import DEV_WORDS, thinned
from d2c.models.model import Model
from d2c.training.spec import TrainingSpec
from d2c.training.tagging import retagged
from d2c.treebanks.reading import CLEANED
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.route import Progress

_RATE = 0.001  # half of that of a training from scratch
_ABBREVIATIONS = Path("tagger") / "abbreviations.json"


def go_on(
    base: Path, spec: TrainingSpec, tagger_epochs: float | None, directory: Path, say: Progress
) -> None:
    """Leave in a directory what becomes of the model in another one when it learns from a treebank, too.

    The d-parser learns what the first route of `spec` encodes, from tags that the tagger then predicts.
    """
    model = Model.load(base)
    tagger, dparser = model.tagger, model.dparser
    assert isinstance(tagger, SpacyTagger) and isinstance(dparser, SpacyParser)
    tagger.epochs, dparser.epochs = tagger_epochs, spec.epochs
    train, dev = [*CLEANED(spec.train)], [*CLEANED(spec.dev)]
    dev = [*thinned(dev, DEV_WORDS, lambda ctree: len(ctree.tokens))]
    tokens = [[ctree.tokens for ctree in part] for part in (train, dev)]
    tagger.go_on(tokens[0], tokens[1], directory / "tagger", _RATE, say)
    copyfile(base / _ABBREVIATIONS, directory / _ABBREVIATIONS)
    route = next(iter(spec.new_routes().values()))

    def encoded(ctrees: Sequence[CTree]) -> list[DTree]:
        tags = (one.tags for one in tagger.tag(ctree.tokens.forms for ctree in ctrees))
        return [*map(route.encode, retagged(ctrees, tags, spec.head_rules))]

    dparser.go_on(encoded(train), encoded(dev), directory / "dparser", _RATE, say)
    model.save(directory, directory)
