"""The dependency parser of a pipeline that exists already: `spacy:NAME` or `stanza:LANGUAGE`.

What it predicts is of its own convention, ClearNLP's or UD's, with labels as they are. Words and sentences
are those given; the pipeline finds tags by itself.

Loading a pipeline may run code that it brings with it. So a model names an installed package of spaCy's kind
or a language of Stanza's, never a path, and whoever loads the model must allow that pipeline by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from d2c.dparsers.directories import Kind, loading, whole_directory
from d2c.dparsers.protocol import Arcs, Report, with_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.formats.chunks import batches
from d2c.trees.progress import log

KIND = Kind("dparser", "pipeline", 1)
_WINDOW = 1024  # sentences that are parsed and held at a time
_NAME = re.compile(r"spacy:[a-z]{2,3}(_[A-Za-z0-9]+)+|stanza:[a-z]+(-[a-z]+)*")  # what a model may say

Annotate = Callable[[Sequence[list[str]]], list[Arcs]]


class PipelineParser:
    """A pipeline's parser.

    pipeline: `spacy:` with what `spacy.load` takes, or `stanza:` with the language of a `stanza.Pipeline`;
              a model keeps this name, not the pipeline, and nothing where it is a directory
    """

    foreign = True

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline
        self.annotate_: Annotate | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns nothing, loads the pipeline. Raises ModelError where it or the directory cannot be used."""
        log.info("%s: loading", self.pipeline)
        self.annotate_ = _load(self.pipeline)
        with whole_directory(Path(directory)) as staging:
            KIND.write(staging, {"pipeline": self.pipeline if _is_package(self.pipeline) else None})
        return self

    @classmethod
    def load(cls, directory: Path, allow_pipeline: str | None = None) -> Self:
        """Loads the pipeline that `train` was given, if it is the allowed one. Raises ModelError."""
        named = KIND.read(directory).get("pipeline")
        if named is not None and not _is_package(named):
            raise ModelError(f"{directory}: names no installed package of spaCy's kind: {str(named)[:60]!r}")
        if named is None and allow_pipeline is None:
            message = "its pipeline is a directory, which a model does not name; give it again"
            raise ModelError(f"{directory}: {message}: --allow-pipeline spacy:DIRECTORY")
        if named not in (None, allow_pipeline):
            message = f"uses the pipeline {named}, which may run code of its own; allow it"
            raise ModelError(f"{directory}: {message}: --allow-pipeline {named}")
        parser = cls(str(allow_pipeline))
        parser.annotate_ = _load(parser.pipeline)
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """The d-tree of each sentence, in order; about a thousand sentences are held at a time."""
        if self.annotate_ is None:
            raise ModelError("this pipeline is not loaded yet")
        for window in batches(sentences, _WINDOW):
            # No pipeline takes empty sentences or words.
            words = [[form or "_" for form in tokens.forms] for tokens in window if len(tokens)]
            yield from with_arcs(window, self.annotate_(words), self.pipeline)

    parse_training = parse


def _load(pipeline: str) -> Annotate:
    """What gives sentences their arcs. Raises ModelError."""
    kind, _, name = pipeline.partition(":")
    if kind not in _LOADERS or not name:
        raise ModelError(f"the pipeline {pipeline!r} is not of the form spacy:NAME or stanza:LANGUAGE")
    load, package = _LOADERS[kind]
    with loading(pipeline):  # no such model, no network, another version, ...
        try:
            return load(name)
        except ImportError as error:
            raise ModelError(f'{pipeline}: needs a package ({error}): pip install "{package}"') from None


def _is_package(pipeline: object) -> bool:
    """Whether it is the name of a language of Stanza's, or of an installed package of spaCy's kind."""
    if not isinstance(pipeline, str) or not _NAME.fullmatch(pipeline):
        return False
    kind, _, name = pipeline.partition(":")
    if kind != "spacy":
        return True
    from spacy.util import is_package

    return is_package(name)


def _load_spacy(name: str) -> Annotate:
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(name, exclude=["ner", "lemmatizer", "d2c"])  # the parser needs none of these
    if "parser" not in nlp.pipe_names:
        raise ModelError(f"spacy:{name}: has no parser, only {', '.join(nlp.pipe_names) or 'a tokenizer'}")

    def doc(words: list[str]) -> Doc:
        return Doc(nlp.vocab, words, sent_starts=[i == 0 for i in range(len(words))])

    def arcs(parsed: Doc) -> Arcs:
        heads = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in parsed)
        return heads, tuple(token.dep_ for token in parsed)

    def annotate(sentences: Sequence[list[str]]) -> list[Arcs]:
        with nlp.memory_zone():  # else spaCy keeps every word that it ever saw
            return [arcs(parsed) for parsed in nlp.pipe(map(doc, sentences))]

    return annotate


def _load_stanza(language: str) -> Annotate:
    import stanza

    processors = "tokenize,pos,lemma,depparse"
    nlp = stanza.Pipeline(language, processors=processors, tokenize_pretokenized=True, verbose=False)

    def annotate(sentences: Sequence[list[str]]) -> list[Arcs]:
        if not sentences:
            return []
        return [
            (tuple(word.head for word in sentence.words), tuple(word.deprel for word in sentence.words))
            for sentence in nlp([*sentences]).sentences
        ]

    return annotate


# By kind, with what to install for it.
_LOADERS = {"spacy": (_load_spacy, "d2c[spacy]"), "stanza": (_load_stanza, "stanza")}
