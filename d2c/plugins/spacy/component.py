"""A spaCy component that finds constituents: `nlp.add_pipe("d2c", config={"model": NAME_OR_DIRECTORY})`.

Once d2c is installed spaCy knows it by this name, through the entry point in `pyproject.toml`. It needs
sentences and tags; `config={"model": DIR, "dparser": "pipeline"}` converts the dependency parse that the
pipeline has made instead of making one, as models trained on the parses of a pipeline do anyway. For what
spans and tokens get, see `d2c.plugins.spacy.attributes`. Spans have no gaps: parts of constituents with gaps
are raised.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, Token

from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.plugins.spacy.attributes import GETTERS, NonConstituentException, register, store
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

if TYPE_CHECKING:  # these are large; spaCy imports this module wherever d2c is installed
    from d2c.parsing.sentence import Sentence
    from d2c.plugins.pipeline_model import PipelineModel

__all__ = ["ConstituencyComponent", "NonConstituentException"]

_ATTRIBUTES = [f"span._.{getter.__name__}" for getter in GETTERS]


class ConstituencyComponent(Pipe):
    """The spaCy component `d2c`. Words without tags get those of the model's tagger.

    Parsing raises ModelError where the model cannot be loaded or the pipeline lacks what must come before,
    and spaCy's ValueError E030 where a document has no sentences. Making a component raises ModelError where
    spans or tokens already have attributes of these names that are not d2c's.
    """

    def __init__(self, name: str, model: PipelineModel, prefix: str = "") -> None:
        register(prefix)
        self.name, self.model, self.prefix, self.warned = name, model, prefix, False

    def __setstate__(self, state: Any) -> None:
        """Take the pickled state, perhaps in another process, where the attributes must be registered."""
        super().__setstate__(state)  # type: ignore[misc]  # Cython's
        register(self.prefix)

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse documents, the sentences of `batch_size` of them at once."""
        handle = self.get_error_handler()
        for docs in batches(stream, batch_size):
            try:
                self._parse(docs)
            except Exception as error:  # of any kind: the pipeline's error handler decides
                if len(docs) > 1:  # only documents that fail themselves count as failed
                    yield from self.pipe(docs, batch_size=1)
                else:
                    handle(self.name, self, docs, error)
            else:
                yield from docs

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Copy the model, so that the pipeline's directory is all that is needed."""
        if path.resolve() != self.model.directory.resolve():
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(self.model.directory, path)

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> ConstituencyComponent:
        """Take the model in the pipeline's directory, not the one that the configuration names."""
        self.model = type(self.model)(path, self.model.dparser, self.model.allow_pipeline)
        self.model.check()
        return self

    def _parse(self, docs: Iterable[Doc]) -> None:
        spans = [span for doc in docs for span in doc.sents if not all(token.is_space for token in span)]
        sentences = [_sentence(span, self.model.converts) for span in spans]
        if not self.warned and self.model.joins_hyphens:
            self._warn_of_hyphens(spans)
        for span, sentence, ctree in zip(spans, sentences, self.model.parse(sentences), strict=True):
            whole = len(span) == len(sentence.tokens)
            words = range(span.start, span.end) if whole else [word.i for word in _words(span)]
            if not all(sentence.tokens.tags):
                for i, tag in zip(words, ctree.tokens.tags, strict=True):
                    span.doc[i].tag_ = span.doc[i].tag_ or tag
            store(span, words, ctree)

    def _warn_of_hyphens(self, spans: Iterable[Span]) -> None:
        """Warn, once, if the pipeline cuts words at hyphens, and the model has learned them whole."""
        inside = (word for span in spans for word in span[1:-1] if word.text == "-" and not word.whitespace_)
        for hyphen in inside:
            before, after = hyphen.nbor(-1), hyphen.nbor(1)
            if before.text[-1:].isalnum() and after.text[:1].isalnum() and not before.whitespace_:
                self.warned = True
                model, word = self.model.directory.name, f"{before}-{after}"
                cut = f"{word} is one word for the model {model}, but three for this pipeline"
                how = "en-clear has learned the words of spaCy's"
                if not hyphen.doc.has_annotation("DEP"):
                    how += f", for pipelines with a dependency parser; d2c.load() cuts text as {model} does"
                warnings.warn(f"{cut}; {how}", stacklevel=4)
                return


@Language.factory(
    "d2c",
    default_config={"model": None, "dparser": None, "allow_pipeline": None, "prefix": ""},
    requires=["doc.sents"],
    assigns=_ATTRIBUTES,
)
def make_component(
    nlp: Language, name: str, model: str | None, dparser: str | None, allow_pipeline: str | None, prefix: str
) -> ConstituencyComponent:
    """Return the component of a configuration.

    model:  a directory or a name (see `d2c.models.names`); None: the default model
    prefix: of the names of the attributes of spans and tokens

    Raises ModelError for a `dparser` other than `model` and `pipeline`, and for a directory without a fitting
    model; the latter not while a pipeline that has the component is loaded, as its model comes with it.
    """
    from d2c.models.names import find
    from d2c.plugins.pipeline_model import PipelineModel

    allowed = allow_pipeline or _package(nlp)
    if name in nlp._meta.get("pipeline", ()):
        return ConstituencyComponent(name, PipelineModel(Path(model or ""), dparser, allowed), prefix)
    try:
        made = PipelineModel(find(model), dparser, allowed)
        made.check()
        made.warn_of_language(str(nlp.lang))
    except ModelError as error:
        raise ModelError(f'the component {name}, "model": {error}') from None
    return ConstituencyComponent(name, made, prefix)


def _package(nlp: Language) -> str | None:
    """Return `spacy:PACKAGE` for a pipeline loaded from an installed package; None for any other."""
    name = f"{nlp.lang}_{nlp._meta.get('name')}"
    spec = find_spec(name) if name.isidentifier() else None  # imports nothing
    inside = spec and spec.origin and nlp.path and Path(spec.origin).parent in Path(nlp.path).parents
    return f"spacy:{name}" if inside else None


def _words(span: Span) -> list[Token]:
    return [token for token in span if not token.is_space]


def _sentence(span: Span, parsed: bool) -> Sentence:
    """Return a sentence's words and tags; if `parsed`, with the pipeline's parse, if there is one."""
    from d2c.parsing.sentence import Sentence

    words = _words(span)
    tokens = Tokens(tuple([word.text for word in words]), tuple([word.tag_ for word in words]))
    if not parsed or not span.doc.has_annotation("DEP"):
        return Sentence(tokens)
    number = {word.i: i for i, word in enumerate(words, 1)}
    heads = tuple([_head(word, number) for word in words])
    return Sentence(tokens, dtree=DTree(tokens, heads, labels=tuple([word.dep_ for word in words])))


def _head(word: Token, number: dict[int, int]) -> int:
    """Return the number of the nearest ancestor that is no token of blanks, 0 where there is none."""
    while word.head.i != word.i:
        word = word.head
        if word.i in number:
            return number[word.i]
    return 0
