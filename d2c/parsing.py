"""`d2c parse`: sentences of any kind through a model, in constant memory, in the order of the input."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from d2c.model import NO_TAGGER, Model
from d2c.output import FORMATS, HEADERS, Parsed, whole_texts
from d2c.parse_input import Refuse, Sentence, read_sentences
from trees.ctree import Tokens
from trees.errors import FormatError, ModelError
from trees.files import file_name
from trees.repair import Repairs


def parse_file(
    model: Model,
    path: Path,
    kind: str,
    to: str,
    stream: TextIO,
    refuse: Refuse,
    shown: Callable[[Iterable[Sentence]], Iterable[Sentence]] = lambda sentences: sentences,
) -> Repairs:
    """Parses a file of one of `parse_input.KINDS` into one of `output.FORMATS`; counts what was repaired.

    refuse: is given what cannot be read, or not be held by the format; shown: watches the sentences go by.
    Raises ModelError where the input is text and the model has no tagger.
    """
    words = kind != "conllu"
    if words and model.tagger is None:
        raise ModelError(NO_TAGGER)
    repairs, form = Repairs(), FORMATS[to]
    sentences = shown(read_sentences(path, kind, refuse, model.abbreviations))
    with whole_texts(stream) as write:
        write(HEADERS.get(to, ""))
        for parsed in parse_all(model, sentences, words, to, repairs):
            try:
                text = form(parsed)
            except ValueError as error:
                refuse(FormatError(file_name(path), parsed.sentence.line, 0, str(error)))
            else:
                write(text)
    return repairs


def parse_all(
    model: Model, sentences: Iterable[Sentence], words: bool, to: str, repairs: Repairs
) -> Iterator[Parsed]:
    """Each sentence with what the format `to` shows; those that the d-parser reads ahead are held."""
    held = deque[Sentence]()

    def tokens() -> Iterator[Tokens]:
        for sentence in sentences:
            held.append(sentence)
            yield sentence.tokens

    dtrees = model.parse_dependencies(tokens(), words)
    confidences = getattr(model.route, "confidences", None)
    if to == "conllu":
        for number, dtree in enumerate(dtrees, 1):
            yield Parsed(held.popleft(), number, dtree)
    elif to == "json" and confidences is not None:
        for number, dtree in enumerate(dtrees, 1):
            ctree, shares = confidences(dtree)
            repairs.sentences += 1
            repairs.tokens += len(ctree.tokens)
            yield Parsed(held.popleft(), number, None, ctree, shares)
    else:
        for number, ctree in enumerate(model.route.decode_all(dtrees, repairs), 1):
            yield Parsed(held.popleft(), number, None, ctree)
