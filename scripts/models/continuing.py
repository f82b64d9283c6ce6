"""A model that learns more: tagger and d-parser of spaCy, or a network of Stanza's on an encoder, go on from
another one; the route stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

from d2c.dparsers.spacy.parser import SpacyParser
from d2c.dparsers.spacy.tagger import SpacyTagger
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.models.model import Model
from d2c.protocols.route import Progress
from d2c.protocols.training import DEV_WORDS, thinned
from d2c.training.spec import TrainingSpec
from d2c.training.tagging import retagged
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.reading import CLEANED

_RATES = {"spacy": 0.001, "stanza": 0.0015}  # halves of those of trainings from scratch
_ABBREVIATIONS = "abbreviations.json"


def go_on(base: Path, spec: TrainingSpec, directory: Path, say: Progress) -> None:
    """Leave in a directory what becomes of the model in another one when it learns from a treebank, too.

    The d-parser learns what the first route of `spec` encodes, from tags that the tagger then predicts, if
    there is one.
    """
    model = Model.load(base)
    tagger, dparser, words = model.tagger, model.dparser, "dparser"  # or the part that finds tags
    assert isinstance(dparser, SpacyParser | StanzaParser)
    own: dict[str, Any] = {"epochs": spec.dparser.epochs, "checkpoints": spec.dparser.checkpoints}
    dparser.settings = replace(dparser.settings, **own)
    train, dev = [*CLEANED(spec.data.train)], [*CLEANED(spec.data.dev)]
    dev = [*thinned(dev, DEV_WORDS)]
    if isinstance(tagger, SpacyTagger):
        own = {"epochs": spec.tagger.epochs, "checkpoints": spec.tagger.checkpoints}
        tagger.settings = replace(tagger.settings, **own)
        words = "tagger"
        tokens = [[ctree.tokens for ctree in part] for part in (train, dev)]
        tagger.go_on(tokens[0], tokens[1], directory / words, _RATES["spacy"], say)
    route = next(iter(spec.new_routes().values()))

    def encoded(ctrees: Sequence[CTree]) -> list[DTree]:
        tokens: Iterable[Tokens] = (ctree.tokens for ctree in ctrees)
        if isinstance(tagger, SpacyTagger):
            tokens = tagger.tag(one.forms for one in tokens)
        return [*map(route.encode, retagged(ctrees, (one.tags for one in tokens), spec.route.head_rules))]

    rate = _RATES[model.dparser_name.partition(":")[0]]
    dparser.go_on(encoded(train), encoded(dev), directory / "dparser", rate, say)
    copyfile(base / words / _ABBREVIATIONS, directory / words / _ABBREVIATIONS)
    model.save(directory, directory)
