"""The dependency parser of a pipeline that exists already: `spacy:NAME` or `stanza:LANGUAGE`.

Its d-trees follow its own convention, ClearNLP's or UD's, and keep their labels. Words and sentences
are those given, and the pipeline finds tags by itself; it can cut and tag text, too.

Loading a pipeline may run code that it brings with it. So a model names an installed package of spaCy's kind
or a language of Stanza's, never a path, and whoever loads the model must allow that pipeline by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, Self, cast

from d2c.base.batches import batches
from d2c.base.errors import ModelError, needing
from d2c.base.progress import log
from d2c.base.temporary import whole_directory
from d2c.dparsers.settings import PipelineSettings
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import EMPTY_FORM, Arcs, DependencyParser, Report, TextRules, with_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

_WINDOW = 1024  # sentences that are parsed and held at a time
_NAME = re.compile(r"spacy:[a-z]{2,3}(_[A-Za-z0-9]+)+|stanza:[a-z]+(-[a-z]+)*")  # what a model may say


class Annotation(NamedTuple):
    """Of the words of a sentence: heads and labels, and tags, which are empty where a pipeline has none."""

    arcs: Arcs
    tags: tuple[str, ...]


class Pipeline(TextRules, Protocol):
    """A pipeline, which cuts text and annotates the words of sentences, of which each has at least one."""

    def annotated(self, sentences: Sequence[list[str]]) -> list[Annotation]:
        """Return what it finds of each sentence."""
        ...


class PipelineParser(DependencyParser):
    """A pipeline's parser. Without a pipeline it converts d-trees of the input."""

    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "pipeline", 1)
    abilities = DParserAbilities(foreign=True, text=True, given=True)

    def __init__(self, settings: PipelineSettings) -> None:
        self.settings, self.pipeline = settings, settings.pipeline
        self.pipeline_: Pipeline | None = None
        self._last: tuple[Sequence[list[str]], Sequence[Annotation]] = [], []  # tags, then arcs are asked for

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn nothing, load the pipeline. Raises ModelError where it or the directory cannot be used."""
        log.info("%s: loading", self.pipeline)
        self._load_pipeline()
        with whole_directory(Path(directory), SETTINGS) as staging:
            self.FORMAT.write(staging, {"pipeline": self.pipeline if _is_package(self.pipeline) else None})
        return self

    @classmethod
    def load(cls, directory: Path, allow_pipeline: str | None = None) -> Self:
        """Load the pipeline that `train` was given, if it is the allowed one; none where none was named and
        none is allowed: then there are d-trees given alone. Raises ModelError."""
        named = cls.FORMAT.read(directory).get("pipeline")
        if named is not None and not _is_package(named):
            raise ModelError(f"{directory}: names no installed package of spaCy's kind: {str(named)[:60]!r}")
        if named not in (None, allow_pipeline):
            message = f"uses the pipeline {named}, which may run code of its own; allow it"
            raise ModelError(f"{directory}: {message}: --allow-pipeline {named}")
        parser = cls(PipelineSettings(pipeline=allow_pipeline or ""))
        if allow_pipeline is not None:
            parser._load_pipeline()
        return parser

    def _load_pipeline(self) -> None:
        self.pipeline_ = _load(self.pipeline)
        self.abilities = replace(self.abilities, given=False)

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; about a thousand sentences are held at a time."""
        for window in batches(sentences, _WINDOW, len):
            found = self._annotated(tokens.forms for tokens in window)
            yield from with_arcs(window, (one.arcs for one in found), self.pipeline)

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with the pipeline's tags, as of a `Tagger`.

        Raises ModelError where the pipeline has none for a word, or cuts words in two.
        """
        for window in batches(sentences, _WINDOW, len):
            found = iter(self._annotated(window))
            for forms in window:
                tags = next(found).tags if forms else ()
                if len(tags) != len(forms) or not all(tags):
                    message = f"cannot tag {' '.join(forms)!r}; train with --tagger spacy or --tagger stanza"
                    raise ModelError(f"{self.pipeline}: {message}")
                yield Tokens(tuple(forms), tags)

    def rules(self) -> Pipeline:
        """Return the pipeline, which cuts text. Raises ModelError where nothing was trained or loaded yet."""
        if self.pipeline_ is None:
            message = "say which pipeline parses, as a name or a directory of spaCy's kind"
            raise ModelError(f"{message}: --allow-pipeline spacy:NAME; or give it CoNLL-U that has d-trees")
        return self.pipeline_

    def _annotated(self, sentences: Iterable[Sequence[str]]) -> Sequence[Annotation]:
        """Return what the pipeline finds of each sentence that has words."""
        pipeline = self.rules()
        words = [[form or EMPTY_FORM for form in forms] for forms in sentences if forms]
        last, found = self._last
        if words != last:
            found = pipeline.annotated(words)
            self._last = words, found
        return found


def _load(pipeline: str) -> Pipeline:
    """Load a pipeline. Raises ModelError."""
    kind, _, name = pipeline.partition(":")
    if kind not in _PIPELINES or not name:
        raise ModelError(f"the pipeline {pipeline!r} is not of the form spacy:NAME or stanza:LANGUAGE")
    module, made, extra = _PIPELINES[kind]
    # Fails for want of such a model, of the network, of another version, ...
    with loading(pipeline), needing(f"{pipeline}:", extra):
        return cast(Pipeline, getattr(import_module(module), made)(name))


def _is_package(pipeline: object) -> bool:
    """Return whether it is the name of a language of Stanza's, or of an installed package of spaCy's kind."""
    if not isinstance(pipeline, str) or not _NAME.fullmatch(pipeline):
        return False
    kind, _, name = pipeline.partition(":")
    if kind != "spacy":
        return True
    from spacy.util import is_package

    return is_package(name)


# By kind: where its class is, and which extra to install for it.
_PIPELINES = {
    "spacy": ("d2c.dparsers.spacy.pipeline", "SpacyPipeline", "spacy"),
    "stanza": ("d2c.dparsers.stanza.pipeline", "StanzaPipeline", "stanza"),
}
