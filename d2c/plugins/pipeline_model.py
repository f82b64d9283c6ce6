"""A model inside another library's pipeline, which has found words and tags, and perhaps a d-tree."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from d2c.base.errors import ModelError
from d2c.base.locks import SharedLock, one_thread
from d2c.models.model import Model, ModelSettings, load_route, read_model_settings
from d2c.models.spelling import as_read, spelled
from d2c.parsing.options import ParseOptions
from d2c.parsing.sentence import Sentence
from d2c.parsing.stream import BatchParser, batched
from d2c.protocols.dparser import Tagger
from d2c.protocols.route import Route
from d2c.routes.compatibility import check_foreign
from d2c.trees.ctree import CTree
from d2c.trees.transforms import raise_gaps

DTREE_SOURCES = ("model", "pipeline")
_ANY_LANGUAGE = "xx", "multilingual"  # as spaCy and Stanza call it

_LOADING = SharedLock()  # one for all models: these are copied to other processes, which locks cannot be


class PipelineModel:
    """A model directory, loaded when it is first needed.

    dparser:  `model`: the d-parser in the directory parses; `pipeline`: the pipeline's own parse is
              converted; None: the latter where the model was trained on the parses of a pipeline
    allow_pipeline: as for `Model.load`
    """

    def __init__(
        self, directory: Path, dparser: str | None = None, allow_pipeline: str | None = None
    ) -> None:
        if dparser not in (*DTREE_SOURCES, None):
            raise ModelError(
                f"the d-parser {dparser!r} of the pipeline is none of {', '.join(DTREE_SOURCES)}"
            )
        self.directory, self.dparser, self.allow_pipeline = directory, dparser, allow_pipeline

    @cached_property
    def converts(self) -> bool:
        """Return whether the pipeline's own parse is converted. Raises ModelError."""
        if self.dparser is None:
            return self._settings.dparser == "pipeline"
        return self.dparser == "pipeline"

    @cached_property
    def joins_hyphens(self) -> bool:
        """Return whether the model has learned words with hyphens inside, as the rules for English cut them.
        Raises ModelError."""
        settings = self._settings
        return not self.converts and settings.language is None and settings.dparser != "pipeline"

    def warn_of_language(self, language: str) -> None:
        """Warn where a pipeline is for another language (its code) than the model. Raises ModelError."""
        own = self._settings.language or "en"
        if not self.converts and language.partition("-")[0] not in (own, *_ANY_LANGUAGE):
            said = f"the model {self.directory.name} is for {own} text, and this pipeline for {language}"
            warnings.warn(f"{said}; `d2c train --language {language}` makes one for that", stacklevel=4)

    def check(self) -> None:
        """Raise ModelError where there is no such model, or its route cannot convert the pipeline's parse."""
        route = self._settings.route
        if self.converts:
            check_foreign(f"{self.directory}: has the route {route}, but the pipeline's d-parser", [route])

    def parse(self, sentences: Sequence[Sentence]) -> list[CTree]:
        """Return the c-tree of each sentence, gaps raised; its tags are the pipeline's or, without these,
        those of the model's tagger.

        sentences: of n > 0 words, with empty tags where the pipeline has none; their d-tree is the pipeline's
                   dependency parse, None where it has none

        Raises ModelError where the model cannot be loaded, or the pipeline lacks what must come before d2c.
        """
        self._load()
        with one_thread():
            return [
                ctree if ctree.is_continuous() else raise_gaps(ctree) for ctree in self._parsed(sentences)
            ]

    def load(self) -> None:
        """Load now what is needed. Raises ModelError."""
        self.check()
        self._load()

    @property
    def tagger(self) -> Tagger | None:
        """Return the tagger of the model, None where it has none or only its route is loaded."""
        return None if self.converts else self._model.tagger

    def _parsed(self, sentences: Sequence[Sentence]) -> Iterator[CTree]:
        """Yield c-trees as the model makes them, perhaps with gaps."""
        untagged = not all(all(sentence.tokens.tags) for sentence in sentences)
        if untagged and self.tagger is None:
            why = f"{self.directory} has no tagger"
            if self.converts:
                why = "only a pipeline gives those of its own parse"
            raise ModelError(f"some words have no tags, and {why}: let a tagger come before d2c")
        if self.converts:
            if any(sentence.dtree is None for sentence in sentences):
                raise ModelError(
                    "a sentence has no dependency parse: let a dependency parser come before d2c"
                )
            small, dtrees = self._settings.small_letters, [one.dtree for one in sentences if one.dtree]
            decoded = self._route.decode_all(as_read(one, small) for one in dtrees)
            return map(spelled, decoded, (one.tokens.forms for one in sentences))
        return self._made(sentences)

    def _made(self, sentences: Sequence[Sentence]) -> Iterator[CTree]:
        """Yield c-trees that the model makes as `d2c parse` does. Raises ModelError for a sentence that
        cannot be parsed, as where memory is short."""
        options = ParseOptions()
        for batch in BatchParser(self._model, options, alone=True).over(
            batched(sentences, options.batch_size)
        ):
            for sentence in batch.sentences:
                if sentence.error:
                    raise ModelError(sentence.why)
                yield sentence.tree

    def _load(self) -> None:
        with _LOADING:  # once, by the first thread that comes
            _ = self._route if self.converts else self._model

    @cached_property
    def _settings(self) -> ModelSettings:
        return read_model_settings(self.directory)

    @cached_property
    def _model(self) -> Model:
        names_pipeline = self._settings.dparser == "pipeline"
        return Model.load(self.directory, allow_pipeline=self.allow_pipeline if names_pipeline else None)

    @cached_property
    def _route(self) -> Route:
        return load_route(self.directory)
