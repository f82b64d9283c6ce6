"""A model for Python users: `load` one, then parse text, words, or a stream of lines.

It is `d2c parse` in Python: the same batches, rules for text and processes (`d2c.parsing`), the same trees.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from d2c.api.document import Document, Sentence
from d2c.base.errors import FormatError, ModelError
from d2c.models.model import Model, load_models, read_model_settings
from d2c.models.names import find
from d2c.parsing import input as given
from d2c.parsing.options import INPUTS, TAGGED, ParseOptions
from d2c.parsing.rules import rules_of
from d2c.parsing.sentence import Sentence as ParsedSentence
from d2c.parsing.sentence import refused
from d2c.parsing.stream import batched, parse_batches
from d2c.parsing.text import PENN
from d2c.protocols.dparser import TextRules
from d2c.training.warm_up import warmed_up_for
from d2c.trees.formats.brackets import escape

Context = TypeVar("Context")
Kind = Literal["text", "tokenized", "split", "conllu", "json"]
Words = tuple[str, ...]
Spans = Sequence[tuple[int, int] | tuple[int, int, str]]
_TEXT = "<text>"  # the file that errors name
_BATCH = ParseOptions.batch_size


def load(
    model: str | Path | Sequence[str | Path] | None = None,
    *,
    device: str | None = None,
    allow_pipeline: str | None = None,
) -> Parser:
    """Load a model.

    model:          its name or directory, or a list of models, which vote on the constituents; None: `en`,
                    or `en-small` if the packages for `en` are missing
    device:         cpu, cuda, ...; None: cuda if there is one
    allow_pipeline: the pipeline that may be loaded, `spacy:NAME` or `stanza:LANGUAGE`, for a model trained
                    on one: loading a pipeline may run code that it contains

    Raises ModelError if there is no such model or it cannot be used, TypeError for what is not a name.
    """
    names = [*model] if isinstance(model, Iterable) and not isinstance(model, str) else [model]
    takes = "load() takes a name or a directory, or a list of some"
    if not names:
        raise ModelError(f"no model is named: {takes}")
    for name in names:
        if not isinstance(name, str | Path | None):
            raise TypeError(f"{takes}, not {type(name).__name__}")
    parser = Parser([*map(find, names)], device, allow_pipeline)
    with warmed_up_for(map(read_model_settings, parser.directories)):
        _ = parser.models
    return parser


class Parser:
    """One model, or several that vote; `load` makes it.

    Pickling stores only the models' paths; the other process loads the models from there.
    """

    def __init__(
        self, directories: Sequence[Path], device: str | None = None, allow_pipeline: str | None = None
    ) -> None:
        self.directories, self.device, self.allow_pipeline = directories, device, allow_pipeline

    def __call__(self, text: str, *, best: int = 1) -> Document:
        """Parse free text, which is split into sentences and words; offsets are indices of `text`.

        best: if more than 1, the number of alternatives for each sentence, at most

        An empty line ends a sentence; other line breaks do so only in lists, headings and dialogues.
        """
        if not isinstance(text, str):
            other = "pipe takes several texts, parse_tokens takes words"
            raise TypeError(f"a text is a str, not {type(text).__name__}; {other}")
        return Document([*self._parse(self._sentences_of(text), _SPLIT, best=best)])

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        as_tuples: Literal[False] = False,
        batch_size: int = _BATCH,
        jobs: int = 1,
    ) -> Iterator[Document]: ...

    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, Context]],
        *,
        as_tuples: Literal[True],
        batch_size: int = _BATCH,
        jobs: int = 1,
    ) -> Iterator[tuple[Document, Context]]: ...

    def pipe(
        self, texts: Iterable[Any], *, as_tuples: bool = False, batch_size: int = _BATCH, jobs: int = 1
    ) -> Iterator[Any]:
        """Parse many texts, each as by `parser(text)`; documents come in order, as they are parsed.

        as_tuples:  take pairs of a text and anything else, yield pairs of a document and that, as in spaCy
        batch_size: the number of sentences, of however many texts, that are parsed at once
        jobs:       as in `stream`
        """
        if isinstance(texts, str | bytes):
            raise TypeError("pipe takes several texts; one text is for the parser itself: parser(text)")
        _check_sizes(jobs, batch_size)
        pairs = self._documents(texts if as_tuples else zip(texts, repeat(None)), batch_size, jobs)
        return pairs if as_tuples else (document for document, _ in pairs)

    def parse_tokens(
        self,
        sentences: Iterable[Iterable[str]] | Iterable[str],
        *,
        require: Spans | None = None,
        forbid: Spans | None = None,
        best: int = 1,
    ) -> Document:
        """Parse sentences that are split into words, or one such sentence; the model's tagger tags them.

        require, forbid: spans that must be constituents, or must not, as (first word, the one after the last)
                         or (first word, the one after the last, label); only with one sentence
        best:            if more than 1, the number of alternatives for each sentence, at most

        Raises ValueError if no tree can obey.
        """
        columns = ((words, ()) for words in map(_words, _one(sentences, _is_word, require, forbid)))
        return self._parse_words(columns, require, forbid, best, self.models)

    def parse_tagged(
        self,
        sentences: Iterable[Iterable[tuple[str, str]]] | Iterable[tuple[str, str]],
        *,
        require: Spans | None = None,
        forbid: Spans | None = None,
        best: int = 1,
    ) -> Document:
        """Parse sentences of words with tags, or one such sentence: `[("They", "PRP"), ("slept", "VBD")]`.

        The d-parser and the route use these tags. A sentence with an empty tag is tagged by the model's
        tagger; one with a tag that the tagger does not know cannot be parsed; `(` is read as -LRB-. Other
        parameters are those of `parse_tokens`.
        """
        columns = map(_columns, _one(sentences, _is_pair, require, forbid))
        models = [replace(model, tags="gold") for model in self.models]
        return self._parse_words(columns, require, forbid, best, models)

    def stream(
        self,
        lines: Iterable[str],
        *,
        kind: Kind = "text",
        jobs: int = 1,
        batch_size: int = _BATCH,
        best: int = 1,
    ) -> Iterator[Sentence]:
        """Parse lines, such as an open file; the sentences come in order, as they are parsed.

        kind:       `text`: each line is a sentence; `tokenized`: the same, with blanks between words;
                    `split`: free text; `conllu`: words, and tags in XPOS; `json`: JSON lines with words and,
                    optionally, tags and constraints
        jobs:       the number of processes; each loads the model and takes one core. The trees are the same
        batch_size: the number of sentences that are read and parsed at once; memory grows with it, but not
                    with the number of lines
        best:       as in `parse_tokens`

        Empty lines are skipped. Offsets count a line break after each line, even if it has none.
        """
        if isinstance(lines, str | bytes):
            raise TypeError("stream takes lines; one text is for the parser itself: parser(text)")
        if kind not in INPUTS:
            raise ValueError(f"kind {kind!r} is none of {', '.join(INPUTS)}")
        _check_sizes(jobs, batch_size)
        rules = self.rules if given.KINDS[kind].cut else PENN
        sentences = given.sentences_of(map(_line, lines), kind, rules, _TEXT)
        return self._parse(sentences, _options(kind, batch_size), best, jobs)

    @cached_property
    def models(self) -> list[Model]:
        """Return the models, each with its route, d-parser and tagger, loaded when they are first needed."""
        return load_models(self.directories, device=self.device, allow_pipeline=self.allow_pipeline)

    @cached_property
    def rules(self) -> TextRules:
        """Return the first model's rules, which split text."""
        return rules_of(self.directories[0], lambda: self.models[0])

    def __repr__(self) -> str:
        return f"<Parser {' '.join(map(str, self.directories))}>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("directories", "device", "allow_pipeline")}

    def _sentences_of(self, text: str) -> Iterator[ParsedSentence]:
        # newline="": lines end as in files, and keep their line breaks, which offsets count
        return given.sentences_of(io.StringIO(text, newline=""), "split", self.rules, _TEXT)

    def _documents(
        self, pairs: Iterable[tuple[str, Any]], batch_size: int, jobs: int
    ) -> Iterator[tuple[Document, Any]]:
        """Yield the document of each text, with the context that came with the text."""
        read = deque[tuple[int, Any]]()  # for each text: its number of sentences, its context
        waiting: list[Sentence] = []

        def sentences() -> Iterator[ParsedSentence]:
            for number, pair in enumerate(pairs, 1):
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    raise TypeError(
                        f"as_tuples takes pairs (text, anything); number {number} is {pair!r:.40}"
                    )
                text, context = pair
                if not isinstance(text, str):
                    raise TypeError(f"a text is a str; number {number} is a {type(text).__name__}")
                cut = [*self._sentences_of(text)]
                read.append((len(cut), context))
                yield from cut

        def complete() -> Iterator[tuple[Document, Any]]:
            while read and len(waiting) >= read[0][0]:
                count, context = read.popleft()
                yield Document(waiting[:count]), context
                del waiting[:count]

        with closing(self._parse(sentences(), _options("split", batch_size), jobs=jobs)) as parsed:
            for sentence in parsed:
                waiting.append(sentence)
                yield from complete()
        yield from complete()

    def _parse_words(
        self,
        sentences: Iterable[tuple[Words, Words]],
        require: Spans | None,
        forbid: Spans | None,
        best: int,
        models: list[Model],
    ) -> Document:
        """Parse sentences given as columns of words and tags.

        models: those that parse; given tags are checked by the first one's tagger
        Raises ValueError for a sentence that cannot be parsed under its constraints.
        """
        known = {"", *getattr(models[0].tagger, "tags_", ())}

        def numbered() -> Iterator[ParsedSentence]:
            for number, (words, tags) in enumerate(sentences, 1):
                sentence = given.sentence_of_words(_TEXT, number, words, tags, require, forbid)
                sentence = _with_known_tags(sentence, known) if len(known) > 1 else sentence
                if sentence.error and (require or forbid):
                    raise ValueError(sentence.error.message)
                yield sentence

        return Document([*self._parse(numbered(), _options(TAGGED), best, models=models)])

    def _parse(
        self,
        sentences: Iterable[ParsedSentence],
        options: ParseOptions,
        best: int = 1,
        jobs: int = 1,
        models: list[Model] | None = None,
    ) -> Generator[Sentence, None, None]:
        """Yield the sentences parsed. models: used instead of the parser's own, in this process"""
        options = options if best == 1 else replace(options, best=best)
        load = partial(attrgetter("models"), self) if models is None else lambda: models
        batches = parse_batches(load, options, batched(sentences, options.batch_size), jobs=jobs)
        with closing(batches):  # ends the processes if nobody wants the rest
            for batch in batches:
                yield from map(Sentence, batch.sentences)


def _options(kind: str, batch_size: int = _BATCH) -> ParseOptions:
    return ParseOptions(kind=kind, confidences=True, batch_size=batch_size)


_SPLIT = _options("split")


def _is_word(one: object) -> bool:
    return isinstance(one, str)


def _is_pair(one: object) -> bool:
    """Return whether an item is a word and a tag, not a sentence of such pairs."""
    return isinstance(one, tuple | list) and len(one) == 2 and all(map(_is_word, one))


def _one(sentences: Iterable[Any], is_word: Callable[[object], bool], *spans: Spans | None) -> Iterable[Any]:
    """Return sentences as a list; for the words of one sentence, a list with that sentence.

    is_word: whether an item is a word of a sentence, not a sentence. Words with blanks are taken for texts if
             there are no constraints
    spans:   constraints. Raises ValueError if there are any and the sentences are several
    """
    if isinstance(sentences, str):
        return [sentences]  # one sentence that is no list of words, as its error says
    listed = [*sentences]
    texts = any(isinstance(one, str) and one.split()[1:] for one in listed)
    if any(map(is_word, listed)) and (not texts or any(spans)):
        return [listed]
    if len(listed) != 1 and any(spans):
        raise ValueError("constraints are of one sentence; stream(lines, kind='json') has those of many")
    return listed


def _with_known_tags(sentence: ParsedSentence, known: Collection[str]) -> ParsedSentence:
    """Return a sentence with brackets in tags written as in treebanks; a refused one for an unknown tag."""
    tags = tuple([tag if tag in known else escape(tag) for tag in sentence.tokens.tags])
    if unknown := [tag for tag in tags if tag not in known]:
        listed = " ".join(sorted(known)).strip()
        message = f"{unknown[0]!r} is no tag of the model's: {listed}"
        return refused(FormatError(_TEXT, sentence.line, 0, message))
    return replace(sentence, tokens=replace(sentence.tokens, tags=tags))


def _check_sizes(jobs: int, batch_size: int) -> None:
    if min(jobs, batch_size) < 1:
        raise ValueError("jobs and batch_size are at least 1")


def _line(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a line is a str, not {type(text).__name__}")
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _columns(sentence: Iterable[tuple[str, str]]) -> tuple[Words, Words]:
    """Return words and tags. Raises TypeError for items that are no pairs, such as letters of a string."""
    pairs = [*sentence]
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"a sentence is a list of pairs of word and tag; {pair!r} is none")
    return _words(word for word, _ in pairs), _words(tag for _, tag in pairs)


def _words(words: object) -> Words:
    """Return words as plain strings, which Cython needs, even if they are numpy's. Raises TypeError for an
    item that is no string, and for a single string, whose letters are no words."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        kind = type(words).__name__
        others = "pipe takes texts, and [[...]] is one sentence, whose words may have blanks"
        raise TypeError(f"a sentence is a list of words, not {kind}: {words!r:.40}; {others}")
    listed = tuple(words)
    for word in listed:
        if not isinstance(word, str):
            raise TypeError(f"words and tags are str, not {type(word).__name__}")
    return tuple(map(str, listed))
