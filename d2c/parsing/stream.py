"""`d2c parse`: sentences of any kind through a model, in batches, in the order of the input.

A batch is parsed apart from all others, so it makes no difference which process parses it, or whether the
one before it was parsed in another run.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from threadpoolctl import threadpool_limits

from d2c.base.errors import FormatError, ModelError
from d2c.base.files import file_name
from d2c.base.workers import in_order
from d2c.models.model import NO_TAGGER, Model
from d2c.parsing.input import KINDS, Sentence
from d2c.parsing.output import FORMATS, Parsed, failed
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.repair import Repairs
from d2c.trees.transforms import collapse

_IN_ORDER = "the d-parser {} has its d-trees in a file, in order; leave out {}"
BATCH_SIZE = 512  # sentences


@dataclass(frozen=True, slots=True)
class Request:
    """What is parsed, and what into.

    path, kind: a file (`-`: standard input), one of `input.KINDS`
    to:         one of `output.FORMATS`
    least:      constituents of less confidence are collapsed, but the root
    size:       of a batch, in sentences
    """

    path: Path
    kind: str
    to: str
    least: float = 0.0
    size: int = BATCH_SIZE


class Batch(NamedTuple):
    """Some sentences of the input; first: the number of the first one; digest: of all up to the last one."""

    sentences: list[Sentence]
    first: int
    digest: str


class Done(NamedTuple):
    """A batch that was parsed.

    text:   in the format, of so many sentences with so many tokens
    errors: of those that could not be parsed, or not be held by the format
    digest: of the batch
    """

    text: str
    sentences: int
    tokens: int
    errors: Sequence[FormatError]
    repairs: Repairs
    digest: str


Made = TypeVar("Made")
# What is made of the sentences of a batch, with its digest and what was repaired.
Finish = Callable[[Sequence[Parsed], Request, str, Repairs], Made]


def batched(sentences: Iterable[Sentence], size: int) -> Iterator[Batch]:
    """Cuts the input into batches."""
    first, digest = 1, hashlib.sha256()
    for taken in batches(sentences, size):
        for sentence in taken:
            digest.update(repr(sentence).encode("utf-8", "backslashreplace"))
        yield Batch(taken, first, digest.hexdigest())
        first += len(taken)


def parse_batches(
    load: Callable[[], Model], request: Request, given: Iterable[Batch], jobs: int = 1
) -> Generator[Done, None, None]:
    """Parses batches and writes each in the request's format; otherwise as `finished_batches`."""
    yield from finished_batches(_done, load, request, given, jobs)


def finished_batches(
    finish: Finish[Made], load: Callable[[], Model], request: Request, given: Iterable[Batch], jobs: int = 1
) -> Generator[Made, None, None]:
    """Parses batches on so many processes, each of which loads the model, and finishes them there.

    finish, load: are pickled, unless there is one job

    Raises ModelError where the input is text and the model has no tagger, where weak constituents are to be
    collapsed and the route does not say which are, and where the d-parser cannot take batches apart.
    """
    if jobs > 1:
        yield from in_order(partial(batch_worker, finish, load, request), given, jobs, fresh=True)
        return
    model = _checked(load(), request)
    if model.dparser.reads_along:
        yield from _along(finish, model, request, given)
    else:
        yield from map(partial(_finished, finish, model, request), given)


def parse_batch(model: Model, request: Request, batch: Batch) -> Done:
    """Parses a batch and writes it."""
    return _finished(_done, model, request, batch)


def _finished(finish: Finish[Made], model: Model, request: Request, batch: Batch) -> Made:
    repairs = Repairs()
    # Sums may depend on the number of threads that share them; so does their speed, but jobs are for that.
    with threadpool_limits(1):
        parsed = [*parse_all(model, batch.sentences, request, repairs, batch.first)]
    return finish(parsed, request, batch.digest, repairs)


def batch_worker(
    finish: Finish[Made], load: Callable[[], Model], request: Request
) -> Callable[[Batch], Made]:
    """What a process does with batches, apart from all others; arguments and errors as `finished_batches`."""
    model = _checked(load(), request)
    if model.dparser.reads_along:
        raise ModelError(_IN_ORDER.format(model.dparser_name, "--jobs"))
    return partial(_finished, finish, model, request)


def _checked(model: Model, request: Request) -> Model:
    if not KINDS[request.kind].tagged and model.tagger is None:
        raise ModelError(NO_TAGGER)
    if request.least > 0 and not model.route.gives_confidences:
        raise ModelError(f"the route {model.route_name} does not say how sure it is of constituents")
    return model


def _along(finish: Finish[Made], model: Model, request: Request, given: Iterable[Batch]) -> Iterator[Made]:
    """Parses all batches as one stream, for a d-parser that needs it."""
    stream, digests, repairs = iter(given), deque[str](), Repairs()
    first = [*islice(stream, 1)]
    if first and first[0].first > 1:
        raise ModelError(_IN_ORDER.format(model.dparser_name, "--resume"))

    def sentences(batch: Batch) -> list[Sentence]:
        digests.append(batch.digest)
        return batch.sentences

    parsed = parse_all(model, chain.from_iterable(map(sentences, chain(first, stream))), request, repairs)
    for taken in batches(parsed, request.size):
        yield finish(taken, request, digests.popleft(), Repairs())
    yield finish((), request, "", repairs)


def _done(taken: Sequence[Parsed], request: Request, digest: str, repairs: Repairs) -> Done:
    """Writes what was parsed; what cannot be, has its place as a marked empty tree."""
    form, texts, errors, tokens = FORMATS[request.to], list[str](), list[FormatError](), 0
    for parsed in taken:
        sentence, error = parsed.sentence, parsed.sentence.error
        tokens += len(sentence.tokens)
        if error is None:
            try:
                texts.append(form.text(parsed))
                continue
            except ValueError as fault:
                error = FormatError(file_name(request.path), sentence.line, 0, str(fault))
        errors.append(error)
        texts.append(form.text(failed(parsed, error.message)))
    return Done("".join(texts), len(texts), tokens, errors, repairs, digest)


def parse_all(
    model: Model, sentences: Iterable[Sentence], request: Request, repairs: Repairs, first: int = 1
) -> Iterator[Parsed]:
    """Each sentence, numbered from `first`, with its d-tree and, where its format shows it, its c-tree; with
    neither where it has an error.

    Those that the d-parser reads ahead are held.
    """
    held, form, number = deque[Sentence](), FORMATS[request.to], count(first)
    passed = deque[DTree]()  # to the route, which reads ahead, too

    def tokens() -> Iterator[Tokens]:
        for sentence in sentences:
            held.append(sentence)
            if sentence.error is None:
                yield sentence.tokens

    def unparsed() -> Iterator[Parsed]:
        while held and held[0].error:
            yield Parsed(held.popleft(), next(number))

    def passing(dtrees: Iterable[DTree]) -> Iterator[DTree]:
        for dtree in dtrees:
            passed.append(dtree)
            yield dtree

    route, dtrees = model.route, passing(model.parse_dependencies(tokens()))
    made: Iterable[tuple[CTree | None, tuple[float, ...] | None]]
    if not form.ctrees:
        made = ((None, None) for _ in dtrees)
    elif (form.confidences or request.least > 0) and route.gives_confidences:
        sure = route.confidences_all(dtrees, repairs)
        made = (without_weak(ctree, shares or (), request.least) for ctree, shares in sure)
    else:
        made = ((ctree, None) for ctree in route.decode_all(dtrees, repairs))
    for one in made:
        yield from unparsed()
        yield Parsed(held.popleft(), next(number), passed.popleft(), *one)
    yield from unparsed()


def without_weak(ctree: CTree, confidences: Sequence[float], least: float) -> tuple[CTree, tuple[float, ...]]:
    """The c-tree without nodes of less confidence, the root excepted; the confidence of those that it has."""
    kept = [share >= least for share in confidences[:-1]] + [True] * len(confidences[-1:])
    return collapse(ctree, kept), tuple(share for share, stay in zip(confidences, kept, strict=True) if stay)
