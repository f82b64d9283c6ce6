"""The dependency parser of a pipeline that exists already: `spacy:NAME` or `stanza:LANGUAGE`.

Its d-trees follow its own convention, ClearNLP's or UD's, and keep their labels. The words and sentences are
those given, and the pipeline finds tags by itself; it can also cut and tag text.

Loading a pipeline may run code that comes with it. So a model names an installed spaCy package or a language
of Stanza's, never a path, and whoever loads the model must allow that pipeline by its name.
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
_NAME = re.compile(r"spacy:[a-z]{2,3}(_[A-Za-z0-9]+)+|stanza:[a-z]+(-[a-z]+)*")  # what a model may name


class Annotation(NamedTuple):
    """The heads and labels of a sentence's words, and their tags; a tag that the pipeline lacks is empty."""

    arcs: Arcs
    tags: tuple[str, ...]


class Pipeline(TextRules, Protocol):
    """A pipeline: it cuts text, and annotates the words of sentences, each of at least one word."""

    def annotated(self, sentences: Sequence[list[str]]) -> list[Annotation]:
        """Return the annotation of each sentence."""
        ...


class PipelineParser(DependencyParser):
    """The parser of a pipeline. Without a pipeline, d-trees must come with the input."""

    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "pipeline", 1)
    abilities = DParserAbilities(foreign=True, text=True, given=True)

    def __init__(self, settings: PipelineSettings) -> None:
        self.settings, self.pipeline = settings, settings.pipeline
        self.pipeline_: Pipeline | None = None
        self._last: tuple[Sequence[list[str]], Sequence[Annotation]] = [], []  # kept from `tag` to `parse`

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn nothing; load the pipeline. Raises ModelError where it, or the directory, cannot be used."""
        log.info("%s: loading", self.pipeline)
        self._load_pipeline()
        with whole_directory(Path(directory), SETTINGS) as staging:
            self.FORMAT.write(staging, {"pipeline": self.pipeline if _is_package(self.pipeline) else None})
        return self

    @classmethod
    def load(cls, directory: Path, allow_pipeline: str | None = None) -> Self:
        """Return the parser in a directory, with the pipeline that is allowed; without one, d-trees must come
        with the input. Raises ModelError, also where the model names a pipeline that is not allowed."""
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
        """Yield each sentence's words with the pipeline's tags, as `Tagger.tag` does.

        Raises ModelError where the pipeline gives a word no tag, or cuts a word in two.
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
        """Return the pipeline, which cuts text. Raises ModelError where none has been loaded."""
        if self.pipeline_ is None:
            message = "say which pipeline parses, as a name or a directory of spaCy's kind"
            raise ModelError(f"{message}: --allow-pipeline spacy:NAME; or give it CoNLL-U that has d-trees")
        return self.pipeline_

    def _annotated(self, sentences: Iterable[Sequence[str]]) -> Sequence[Annotation]:
        """Return the pipeline's annotations of the sentences that have words."""
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
    # This may fail: there is no such model, no network, another version, ...
    with loading(pipeline), needing(f"{pipeline}:", extra):
        return cast(Pipeline, getattr(import_module(module), made)(name))


def _is_package(pipeline: object) -> bool:
    """Return whether this names a language of Stanza's or an installed spaCy package."""
    if not isinstance(pipeline, str) or not _NAME.fullmatch(pipeline):
        return False
    kind, _, name = pipeline.partition(":")
    if kind != "spacy":
        return True
    from spacy.util import is_package

    return is_package(name)


# For each kind of pipeline its module, its class, and the extra to install for it.
_PIPELINES = {
    "spacy": ("d2c.dparsers.spacy.pipeline", "SpacyPipeline", "spacy"),
    "stanza": ("d2c.dparsers.stanza.pipeline", "StanzaPipeline", "stanza"),
}
