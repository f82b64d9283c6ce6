"""spaCy's tagger, trained from scratch on CoNLL-U, on the CPU.

Each word's tag is chosen independently, from the vector of a convolutional network that sees some words to
either side (whole, prefix, suffix, shape). Every word gets one of the treebank's tags. spaCy learns numbers
in place of tags, since to it a tag that begins with `!` is one that a word does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from spacy.tokens import Doc
from spacy.training import Example

from d2c.dparsers.settings import SpacyTaggerSettings
from d2c.dparsers.spacy.internals import load_weights
from d2c.dparsers.spacy.training import SEEN, SpacyEstimator, forgetting, known_sizes, tok2vec
from d2c.protocols.directories import ModelFormat
from d2c.protocols.dparser import EMPTY_FORM
from d2c.protocols.training import Evaluate, TrainedTagger, Treebanks
from d2c.trees.ctree import Tokens

MOST_TAGS = 1 << 16

SIZES = {"width": 96, "depth": 4, "rows": 5000}  # of the network: spaCy's own


class SpacyTagger(SpacyEstimator, TrainedTagger):
    """spaCy's tagger."""

    # The model directory: the settings and spaCy's file of the component.
    FORMAT: ClassVar[ModelFormat] = ModelFormat("tagger", "spacy", 1, ("preset", "epochs", "seed"))
    WINDOW: ClassVar[int] = 256
    COMPONENT: ClassVar[str] = "tagger"
    WHO: ClassVar[str] = "tagger spacy"
    PRESETS: ClassVar[Mapping[str, int]] = {"default": 10, "small": 5}  # passes over the training treebank

    settings: SpacyTaggerSettings

    @classmethod
    def _of(cls, said: dict[str, Any], device: str | None) -> Self:
        known_sizes(said["sizes"], {cls.COMPONENT: SIZES})
        return cls(SpacyTaggerSettings(**cls.FORMAT.parameters_in(said)))

    def _fit(self, treebanks: Treebanks, evaluate: Evaluate, directory: Path) -> dict[str, Any]:
        self._build(SIZES)
        labels = [f"t{i}" for i in range(len(self.tags_))]
        train, dev = map(list, treebanks)
        self._learn(self._examples(train), evaluate, directory, train, dev, labels=labels)
        return {"sizes": SIZES}

    def _examples(self, train: Sequence[Tokens]) -> list[Example]:
        codes = {tag: f"t{i}" for i, tag in enumerate(self.tags_)}
        gold = (self._doc(tokens.forms, [codes[tag] for tag in tokens.tags]) for tokens in train)
        return [Example(self._doc(tokens.forms), doc) for tokens, doc in zip(train, gold, strict=True)]

    def _restore(self, directory: Path) -> None:
        self._build(SIZES)
        if not 0 < len(self.tags_) <= MOST_TAGS:
            raise ValueError(f"{len(self.tags_)} tags")
        load_weights(self._component, directory / self.COMPONENT, self._doc((EMPTY_FORM,)))

    def _predict(self, sentences: list[list[str]]) -> Sequence[Sequence[str]]:
        with forgetting(self.nlp_):
            rows = self._component.predict([*map(self._doc, sentences)])
            return [[self.tags_[i] for i in row.tolist()] for row in rows]

    def _build(self, sizes: dict[str, int]) -> None:
        """Make an untrained tagger."""
        words = tok2vec(sizes, SEEN)
        model = {"@architectures": "spacy.Tagger.v2", "nO": len(self.tags_), "tok2vec": words}
        self._new_pipeline(model=model)

    def _doc(self, forms: Sequence[str], codes: list[str] | None = None) -> Doc:
        return Doc(self.nlp_.vocab, [form or EMPTY_FORM for form in forms], tags=codes)
