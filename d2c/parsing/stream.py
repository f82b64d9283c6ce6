"""`d2c parse`: sentences of any kind through a model, in constant memory, in the order of the input."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from d2c.parsing.input import KINDS, Refuse, Sentence, read_sentences
from d2c.parsing.output import FORMATS, Parsed, whole_texts
from d2c.parsing.text import PennRules
from d2c.training.model import NO_TAGGER, Model
from d2c.training.routes import GivesConfidences
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.errors import FormatError, ModelError
from d2c.trees.files import file_name
from d2c.trees.repair import Repairs
from d2c.trees.transforms import collapse


@dataclass(frozen=True, slots=True)
class Request:
    """What is parsed, and what into.

    path, kind: a file (`-`: standard input), one of `input.KINDS`
    to:         one of `output.FORMATS`
    least:      constituents of less confidence are collapsed, but the root
    """

    path: Path
    kind: str
    to: str
    least: float = 0.0


def parse_file(
    model: Model,
    request: Request,
    stream: TextIO,
    refuse: Refuse,
    shown: Callable[[Iterable[Sentence]], Iterable[Sentence]] = lambda sentences: sentences,
) -> Repairs:
    """Parses a file into a stream; counts what was repaired.

    refuse: is given what cannot be read, or not be held by the format; shown: watches the sentences go by.
    Raises ModelError where the input is text and the model has no tagger, or where weak constituents are to
    be collapsed and the route does not say which are.
    """
    if not KINDS[request.kind].tagged and model.tagger is None:
        raise ModelError(NO_TAGGER)
    if request.least > 0 and not isinstance(model.route, GivesConfidences):
        raise ModelError(f"the route {model.route_name} does not say how sure it is of constituents")
    repairs, form = Repairs(), FORMATS[request.to]
    sentences = shown(read_sentences(request.path, request.kind, refuse, PennRules(model.abbreviations)))
    with whole_texts(stream) as write:
        write(form.header)
        for parsed in parse_all(model, sentences, request, repairs):
            try:
                text = form.text(parsed)
            except ValueError as error:
                refuse(FormatError(file_name(request.path), parsed.sentence.line, 0, str(error)))
            else:
                write(text)
    return repairs


def parse_all(
    model: Model, sentences: Iterable[Sentence], request: Request, repairs: Repairs
) -> Iterator[Parsed]:
    """Each sentence with what its format shows; those that the d-parser reads ahead are held."""
    held, form = deque[Sentence](), FORMATS[request.to]

    def tokens() -> Iterator[Tokens]:
        for sentence in sentences:
            held.append(sentence)
            yield sentence.tokens

    route, dtrees = model.route, model.parse_dependencies(tokens(), words=not KINDS[request.kind].tagged)
    if not form.ctrees:
        for number, dtree in enumerate(dtrees, 1):
            yield Parsed(held.popleft(), number, dtree)
    elif (form.confidences or request.least > 0) and isinstance(route, GivesConfidences):
        for number, (ctree, shares) in enumerate(route.confidences_all(dtrees, repairs), 1):
            yield Parsed(held.popleft(), number, None, *without_weak(ctree, shares, request.least))
    else:
        for number, ctree in enumerate(route.decode_all(dtrees, repairs), 1):
            yield Parsed(held.popleft(), number, None, ctree)


def without_weak(ctree: CTree, confidences: Sequence[float], least: float) -> tuple[CTree, tuple[float, ...]]:
    """The c-tree without nodes of less confidence, the root excepted; the confidence of those that it has."""
    kept = [share >= least for share in confidences[:-1]] + [True] * len(confidences[-1:])
    return collapse(ctree, kept), tuple(share for share, stay in zip(confidences, kept, strict=True) if stay)
