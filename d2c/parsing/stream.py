"""Sentences of any kind through a model, in batches, in the order of the input.

A batch is parsed apart from all others: it makes no difference which process parses it, or whether the batch
before it was parsed in another run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, tee
from math import exp
from statistics import fmean
from typing import NamedTuple, TypeVar

from threadpoolctl import threadpool_limits

from d2c.base.batches import batches
from d2c.base.errors import FormatError, ModelError
from d2c.base.workers import in_order
from d2c.models.letters import spelled
from d2c.models.model import NO_TAGGER, Model
from d2c.parsing.input import InputSentence
from d2c.parsing.options import JSON, TAGGED, TEXTS, ParseOptions
from d2c.parsing.output import FORMATS
from d2c.parsing.parsed import Parsed, failed
from d2c.protocols.route import Confidences, Route
from d2c.routes.voting.constituents import Parse, combine, ranked_by_votes
from d2c.routes.voting.weights import weighted_votes
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import UPOS
from d2c.trees.repair import Repairs
from d2c.trees.transforms import collapse

_IN_ORDER = "the d-parser {} has its d-trees in a file, in order; leave out {}"

Made = TypeVar("Made")


class Batch(NamedTuple):
    """Some sentences of the input; first: the number of the first one; digest: of all up to the last one."""

    sentences: list[InputSentence]
    first: int = 1
    digest: str = ""


class ParsedBatch(NamedTuple):
    """The sentences of a batch, its digest, and what was repaired as they were decoded."""

    sentences: list[Parsed]
    digest: str
    repairs: Repairs


class Done(NamedTuple):
    """A batch as text.

    text:   in an output format, of so many sentences with so many tokens
    errors: of those that could not be parsed, or not be held by the format
    digest: of the batch
    """

    text: str
    sentences: int
    tokens: int
    errors: Sequence[FormatError]
    repairs: Repairs
    digest: str


def batched(sentences: Iterable[InputSentence], size: int) -> Iterator[Batch]:
    """Cut the input into batches."""
    first, digest = 1, hashlib.sha256()
    for taken in batches(sentences, size):
        for sentence in taken:
            digest.update(repr(sentence).encode("utf-8", "backslashreplace"))
        yield Batch(taken, first, digest.hexdigest())
        first += len(taken)


def parse_batches(
    load: Callable[[], Sequence[Model]],
    options: ParseOptions,
    given: Iterable[Batch],
    finish: Callable[[ParsedBatch], Made],
    jobs: int = 1,
) -> Generator[Made, None, None]:
    """Yield finish(batch) for each parsed batch, on so many processes, each of which loads the models.

    finish, load: are pickled, unless there is one job

    Several models vote on the constituents. Raises ModelError as `BatchParser`, where the d-parser cannot
    take batches apart, and where several models are to give d-trees.
    """
    if jobs > 1:
        yield from in_order(partial(_finishing, load, options, finish), given, jobs, fresh=True)
        return
    parse = _Voters(load(), options)
    yield from map(finish, parse.over(given))


def _finishing(
    load: Callable[[], Sequence[Model]], options: ParseOptions, finish: Callable[[ParsedBatch], Made]
) -> Callable[[Batch], Made]:
    parse = _Voters(load(), options, alone=False)
    return lambda batch: finish(next(parse.over([batch])))


class _Voters:
    """Models that parse the same batches and vote on constituents, as `combine`.

    Votes are what the routes say, before calibration, and count by 1 / (100 - F1)³, with the mean F1 of the
    parts that all cards name; all alike where there are none. The exponent was chosen with a look at
    silver trees of GUM that no model has learned from, and at masc-dev. Alternatives are those of the models,
    ranked by the votes for their constituents.
    """

    def __init__(self, models: Sequence[Model], options: ParseOptions, alone: bool = True) -> None:
        self._options = options
        if len(models) > 1:
            if options.functions or not options.ctrees:
                raise ModelError("several models vote on c-trees; d-trees and function tags are of one model")
            models = [replace(model, calibration=None) for model in models]
            options = replace(options, min_confidence=0.0, confidences=True)
        self._parsers = [BatchParser(model, options, alone) for model in models]
        parts = sorted(set[str].intersection(*({*model.f1} for model in models)))
        errors = [max(1.0, fmean([100 - model.f1[part] for part in parts] or [1.0])) for model in models]
        self._support = weighted_votes([error**-3 for error in errors])

    def over(self, given: Iterable[Batch]) -> Iterator[ParsedBatch]:
        """Parse batches in order."""
        if len(self._parsers) == 1:
            return self._parsers[0].over(given)
        streams = zip(self._parsers, tee(given, len(self._parsers)), strict=True)
        return map(self._voted, zip(*[parser.over(own) for parser, own in streams], strict=True))

    def _voted(self, parsed: Sequence[ParsedBatch]) -> ParsedBatch:
        """Return what models make of a batch together; what one of them cannot parse has no c-tree."""
        repairs, sentences = Repairs(), list[Parsed]()
        for batch in parsed:
            repairs.add(batch.repairs)
        repairs.sentences, repairs.tokens = parsed[0].repairs.sentences, parsed[0].repairs.tokens
        for row in zip(*(batch.sentences for batch in parsed), strict=True):
            sentences.append(next((one for one in row if one.sentence.error), None) or self._vote(row))
        return ParsedBatch(sentences, parsed[0].digest, repairs)

    def _vote(self, row: Sequence[Parsed]) -> Parsed:
        parses = [Parse(one.ctree, one.confidences) for one in row if one.ctree]
        voted, shares = combine(parses, self._support)
        assert shares is not None, "all constituents have votes"
        ctree, shares = without_weak(voted, shares, self._options.min_confidence)
        if wanted := row[0].sentence.wanted:  # what must be there is not too weak
            voted, _ = obeying(voted, wanted)
            ctree, shares = obeying(ctree, wanted, shares)
        others = [other for one in row for other, _ in one.alternatives]
        several = [voted, *ranked_by_votes(parses, voted, others, self._support)] if others else []
        alternatives = tuple([(one, None) for one in several[: self._options.best]])
        return replace(row[0], dtree=None, ctree=ctree, confidences=shares, alternatives=alternatives)


class BatchParser:
    """Parses batches of sentences, each apart from all others.

    alone: no other process parses batches of the same input

    Raises ModelError where the input is text and the model has no tagger, where weak constituents are to be
    collapsed and the route does not say which are, where function tags are wanted and the model has none,
    and where the d-parser needs to be alone.
    """

    def __init__(self, model: Model, options: ParseOptions, alone: bool) -> None:
        if options.kind == JSON:
            model = replace(model, tags="gold")  # given tags are used
        if options.best > 1 and model.route.abilities.k_best_arcs and model.dparser.gives_arcs:
            model = replace(model, arcs="packed")
        self._model, self._options = model, options
        if options.kind in TEXTS and model.tagger is None:
            raise ModelError(NO_TAGGER)
        if options.min_confidence > 0 and not model.route.abilities.confidences:
            raise ModelError(f"the route {model.route_name} does not say how sure it is of constituents")
        if options.functions and model.functions is None:
            raise ModelError("this model has no function tags; en-ud has them")
        if model.dparser.reads_along and not alone:
            raise ModelError(_IN_ORDER.format(model.dparser_name, "--jobs"))

    def __call__(self, batch: Batch) -> ParsedBatch:
        """Parse a batch."""
        if self._model.dparser.takes_given and self._options.kind == TAGGED:
            sentences = [_checked(sentence, self._model.route) for sentence in batch.sentences]
            return self._parsed(batch._replace(sentences=sentences), iter(_dtrees(sentences)))
        return self._parsed(batch, self._model.parse_dependencies(_tokens(batch)))

    def over(self, given: Iterable[Batch]) -> Iterator[ParsedBatch]:
        """Parse batches in order."""
        return self._along(given) if self._model.dparser.reads_along else map(self, given)

    def _along(self, given: Iterable[Batch]) -> Iterator[ParsedBatch]:
        """Parse batches for a d-parser that must be given all sentences of the input as one stream."""
        ahead, behind = tee(given)
        dtrees = self._model.parse_dependencies(chain.from_iterable(map(_tokens, ahead)))
        for number, batch in enumerate(behind):
            if number == 0 and batch.first > 1:
                raise ModelError(_IN_ORDER.format(self._model.dparser_name, "--resume"))
            yield self._parsed(batch, dtrees)
        for _ in dtrees:  # the d-parser finds out that nothing is left
            raise AssertionError("more d-trees than sentences")

    def _parsed(self, batch: Batch, dtrees: Iterator[DTree]) -> ParsedBatch:
        """Take the d-trees of a batch from a stream; sentences with an error have none."""
        repairs = Repairs()
        # Sums may depend on the number of threads that share them; so does speed, but jobs are for that.
        with threadpool_limits(1):
            taken = [*map(self._model.read, islice(dtrees, len(_tokens(batch))))]
            wanted = [sentence.wanted for sentence in batch.sentences if sentence.error is None]
            trees = zip(taken, wanted, self._ctrees(taken, wanted, repairs), strict=True)
            sentences = [
                Parsed(sentence, number) if sentence.error else self._one(sentence, number, *next(trees))
                for number, sentence in enumerate(batch.sentences, batch.first)
            ]
        return ParsedBatch(sentences, batch.digest, repairs)

    def _one(
        self,
        sentence: InputSentence,
        number: int,
        dtree: DTree,
        wanted: SpanConstraints | None,
        found: tuple[CTree | None, Confidences],
    ) -> Parsed:
        """Return a sentence with its trees. found: its c-tree, if it has one, with confidences"""
        (ctree, shares), options, route = found, self._options, self._model.route
        alternatives = list[tuple[CTree, float | None]]()
        if ctree is not None and options.best > 1:
            for log, other in route.decode_k_best(dtree, options.best, wanted):
                alternatives.append((other, None if log is None else exp(log)))
            # All derivations of a tree that were found count, the best one says where it comes among them.
            alternatives[1:] = sorted(alternatives[1:], key=lambda one: one[1] or 0.0, reverse=True)
        if ctree is not None and shares is not None:
            if self._model.calibration is not None:
                shares = self._model.calibration(ctree, shares)
            ctree, shares = without_weak(ctree, shares, options.min_confidence)
            if wanted is not None:
                ctree, shares = obeying(ctree, wanted, shares)
        if ctree is not None and options.functions and (tag := self._model.functions):
            ctree, alternatives = tag(ctree, dtree), [(tag(one, dtree), share) for one, share in alternatives]
        forms = sentence.tokens.forms  # the route may have read others, see `Model.read`
        ctree = ctree and spelled(ctree, forms)
        several = tuple([(spelled(one, forms), share) for one, share in alternatives])
        return Parsed(sentence, number, spelled(dtree, forms), ctree, shares, alternatives=several)

    def _ctrees(
        self, dtrees: list[DTree], wanted: Sequence[SpanConstraints | None], repairs: Repairs
    ) -> Iterator[tuple[CTree | None, Confidences]]:
        """Yield the c-tree of each d-tree, with confidences if these are asked for and known; those without
        constraints are decoded together."""
        route, options = self._model.route, self._options
        if not options.ctrees:
            yield from ((None, None) for _ in dtrees)
            return
        sure = route.abilities.confidences and (options.confidences or options.min_confidence > 0)
        free = (dtree for dtree, own in zip(dtrees, wanted, strict=True) if own is None)
        if sure:
            decoded = route.confidences_all(free, repairs)
        else:
            decoded = ((ctree, None) for ctree in route.decode_all(free, repairs))
        for dtree, own in zip(dtrees, wanted, strict=True):
            yield next(decoded) if own is None else route.within(dtree, own, repairs)


def _tokens(batch: Batch) -> list[Tokens]:
    return [sentence.tokens for sentence in batch.sentences if sentence.error is None]


def _dtrees(sentences: Iterable[InputSentence]) -> list[DTree]:
    """Return the d-trees that sentences without an error have come with."""
    given = ((one.tokens, one.arcs) for one in sentences if one.arcs and not one.error)
    return [DTree(tokens, tuple(arcs[0]), labels=tuple(arcs[1])) for tokens, arcs in given]


def _checked(sentence: InputSentence, route: Route) -> InputSentence:
    """Return the sentence, or, where its d-tree cannot be converted, one that says why."""
    if sentence.error:
        return sentence
    tags = [*dict.fromkeys(filter(None, sentence.tokens.tags))]
    if sentence.arcs is None:
        message = "there is no d-tree, and no pipeline that parses: --allow-pipeline spacy:NAME"
    elif not tags:
        message = "there are no tags; XPOS needs those that the model has learned"
    elif UPOS.issuperset(tags) and not route.knows(tags):
        message = f"the tags are UPOS's ({', '.join(tags[:3])}); XPOS needs those that the model has learned"
    else:
        return sentence
    return replace(
        sentence, tokens=Tokens((), ()), error=FormatError(sentence.file, sentence.line, 0, message)
    )


def format_batch(to: str, file: str, batch: ParsedBatch) -> Done:
    """Return a batch as text; what cannot be parsed, or written, has its place as a marked empty tree.

    to: one of `output.FORMATS`; file: what errors name where sentences do not say their own
    """
    form, texts, errors, tokens = FORMATS[to], list[str](), list[FormatError](), 0
    for parsed in batch.sentences:
        sentence, error = parsed.sentence, parsed.sentence.error
        tokens += len(sentence.tokens)
        if error is None:
            try:
                texts.append(form.text(parsed))
                continue
            except ValueError as fault:
                error = FormatError(sentence.file, sentence.line, 0, str(fault))
        errors.append(error if error.file else FormatError(file, error.line, error.sentence, error.message))
        texts.append(form.text(failed(parsed, error.message)))
    return Done("".join(texts), len(texts), tokens, errors, batch.repairs, batch.digest)


def without_weak(ctree: CTree, confidences: Sequence[float], least: float) -> tuple[CTree, tuple[float, ...]]:
    """Return the c-tree without nodes of less confidence, but with its root, and the others' confidences."""
    kept = [share >= least for share in confidences[:-1]] + [True] * len(confidences[-1:])
    return collapse(ctree, kept), tuple(share for share, stay in zip(confidences, kept, strict=True) if stay)
