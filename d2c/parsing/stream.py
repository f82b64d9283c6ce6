"""The stream of sentences of any kind through a model, in batches, in the order of the input.

Each batch is parsed independently: it makes no difference which process parses it, or whether the batch
before it was parsed in another run. Very long sentences are parsed in pieces (`d2c.parsing.pieces`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice, tee
from math import exp
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from d2c.base.batches import batches
from d2c.base.counting import many
from d2c.base.errors import FormatError, ModelError, is_short_of_memory
from d2c.base.locks import one_thread
from d2c.base.progress import log
from d2c.base.workers import in_order
from d2c.models.calibration import calibrated
from d2c.models.model import NO_TAGGER, Model
from d2c.models.spelling import spelled
from d2c.parsing.options import CUT, JSON, TAGGED, TEXTS, ParseOptions
from d2c.parsing.output import OUTPUTS
from d2c.parsing.pieces import pieces_of, whole_of
from d2c.parsing.sentence import Sentence
from d2c.protocols.route import Confidences, Route
from d2c.routes.compatibility import check_confidences, check_one_stream
from d2c.routes.voting.constituents import Parse, combine, ranked_by_votes
from d2c.routes.voting.weights import weighted_votes
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import UPOS
from d2c.trees.repair import Repairs

Made = TypeVar("Made")
_LONGER = 4  # words of long sentences take this many times as much memory as others
_LESS = "fewer --jobs, a smaller --batch-size and --max-words need less"


@dataclass(frozen=True)
class Batch:
    """Some sentences of the input, before or after they are parsed.

    digest:  the digest of all sentences of the input up to the last one here
    repairs: counts of the repairs made in decoding them
    """

    sentences: list[Sentence]
    digest: str = ""
    repairs: Repairs = field(default_factory=Repairs)


class Done(NamedTuple):
    """A batch as text.

    text:   its sentences in an output format; sentences, tokens: how many it has
    errors: those of sentences that could not be parsed, or that the format cannot hold
    digest: that of the `Batch`
    """

    text: str
    sentences: int
    tokens: int
    errors: Sequence[FormatError]
    repairs: Repairs
    digest: str


def batched(sentences: Iterable[Sentence], size: int) -> Iterator[Batch]:
    """Number the sentences of the input, and cut it into batches of `size`, or fewer if they are long."""
    numbers, digest = count(1), hashlib.sha256()
    for taken in batches(sentences, size, _words):
        numbered = [replace(sentence, number=next(numbers)) for sentence in taken]
        for sentence in numbered:
            digest.update(repr(_given(sentence)).encode("utf-8", "backslashreplace"))
        yield Batch(numbered, digest.hexdigest())


def _given(sentence: Sentence) -> tuple[object, ...]:
    """Return what the input says of a sentence, without what parsing adds."""
    tokens, dtree = sentence.tokens, sentence.dtree
    columns = tokens.forms, tokens.tags, tokens.lemmas, tokens.morphs, tokens.comments, tokens.source
    arcs = dtree and (dtree.heads, dtree.labels)
    return *columns, arcs, sentence.wanted, sentence.offsets, sentence.file, sentence.line, sentence.why


def parse_batches(
    load: Callable[[], Sequence[Model]],
    options: ParseOptions,
    given: Iterable[Batch],
    finish: Callable[[Batch], Made] | None = None,
    jobs: int = 1,
) -> Generator[Any, None, None]:
    """Yield each batch parsed, or finish(batch), on `jobs` processes, each of which loads the models.

    finish, load: pickled if there are several jobs

    Several models vote on the constituents. Raises ModelError as `BatchParser` does, also where several jobs
    are wanted and the d-parser needs one stream, and where several models are to give d-trees.
    """
    if jobs > 1:
        yield from in_order(partial(_finishing, load, options, finish), given, jobs, fresh=True)
    else:
        parsed = parser_of(load(), options, alone=True).over(given)
        yield from map(finish, parsed) if finish else parsed


def _finishing(
    load: Callable[[], Sequence[Model]], options: ParseOptions, finish: Callable[[Batch], Made] | None
) -> Callable[[Batch], Any]:
    """Return the function that a process applies to each batch."""
    parser = parser_of(load(), options, alone=False)

    def work(batch: Batch) -> Any:
        [parsed] = parser.over([batch])
        return finish(parsed) if finish else parsed

    return work


def parser_of(models: Sequence[Model], options: ParseOptions, alone: bool) -> BatchParser | VotingParser:
    """Return a `BatchParser` for one model, a `VotingParser` for several; arguments as for these."""
    return VotingParser(models, options, alone) if len(models) > 1 else BatchParser(models[0], options, alone)


class BatchParser:
    """Parses batches of sentences, each independently of the others.

    alone: whether no other process parses batches of the same input

    Raises ModelError where the input is text and the model has no tagger, where constituents are to be
    removed by confidence and the route knows none, where function tags are wanted and the model has none, and
    where the d-parser must be `alone` and is not.
    """

    def __init__(self, model: Model, options: ParseOptions, alone: bool) -> None:
        if options.kind == JSON:
            model = replace(model, tags="gold")  # given tags are used
        if options.best > 1 and model.route.abilities.k_best_arcs and model.dparser.abilities.packed_arcs:
            model = replace(model, arcs="packed")
        self._model, self._options = model, options
        self._converts = model.dparser.abilities.given and options.kind == TAGGED
        if options.kind in TEXTS and model.tagger is None:
            raise ModelError(NO_TAGGER)
        if options.min_confidence > 0:
            check_confidences(model.route, model.route_name)
        if options.functions and model.functions is None:
            raise ModelError("this model has no function tags; en-ud has them")
        if not alone:
            check_one_stream(model.dparser, model.dparser_name, "--jobs")

    def over(self, given: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches with the trees of their sentences, in order."""
        if self._model.dparser.abilities.in_order:
            yield from self._along(given)
            return
        for batch in given:
            if self._converts:
                sentences = [_checked(sentence, self._model.route) for sentence in batch.sentences]
                batch, pieces = replace(batch, sentences=sentences), [[one] for one in sentences]
            else:
                pieces = pieces_of(batch.sentences, self._options.max_words, self._arcs)
            yield self._joined(batch, pieces)

    def _arcs(self, given: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence; if memory is short, one whose heads are all 0."""
        for part in batches(given, -(-self._options.batch_size // _LONGER), len):
            try:
                yield from [*self._model.parse_dependencies(part, self._model.least)]
            except (MemoryError, RuntimeError) as error:
                if not is_short_of_memory(error):
                    raise
                yield from (DTree(tokens, (0,) * len(tokens)) for tokens in part)

    def _along(self, given: Iterable[Batch]) -> Iterator[Batch]:
        """Parse batches with a d-parser that must be given all sentences of the input as one stream."""
        ahead, behind = tee(given)
        words = (_tokens(batch.sentences) for batch in ahead)
        dtrees = self._model.parse_dependencies(chain.from_iterable(words))
        for number, batch in enumerate(behind):
            if number == 0 and batch.sentences[0].number > 1:
                check_one_stream(self._model.dparser, self._model.dparser_name, "--resume")
            yield replace(self._with_dtrees(batch.sentences, dtrees), digest=batch.digest)
        for _ in dtrees:  # the d-parser finds out that nothing is left
            raise AssertionError("more d-trees than sentences")

    def _joined(self, batch: Batch, pieces: Sequence[list[Sentence]]) -> Batch:
        """Parse the pieces of a batch's sentences, a limited number at a time, and join them by sentence."""
        repairs, parsed, every = Repairs(), list[Sentence](), [*chain.from_iterable(pieces)]
        size, cut = self._options.batch_size, sum(len(own) > 1 for own in pieces)
        for part in batches(every, -(-size // _LONGER) if cut else size, _words):
            if len(part) < len(every):
                log.debug("%s: piece %d of %d", _place(batch.sentences[0]), len(parsed) + 1, len(every))
            found = self._parsed(part)
            repairs.add(found.repairs)
            parsed += found.sentences
        rest = iter(parsed)
        sentences = [
            whole_of(sentence, [*islice(rest, len(own))])
            for sentence, own in zip(batch.sentences, pieces, strict=True)
        ]
        if cut:
            repairs.sentences = max(0, repairs.sentences - len(every) + len(pieces))
            repairs.counts[CUT] += cut
        return Batch(sentences, batch.digest, repairs)

    def _parsed(self, sentences: list[Sentence]) -> Batch:
        """Parse sentences; if memory is short, each half of them by itself, and so on. A single sentence for
        which memory is short gets an error."""
        try:
            if self._converts:
                dtrees = iter([one.dtree for one in sentences if one.dtree and not one.error])
            else:
                dtrees = self._model.parse_dependencies(_tokens(sentences), self._model.least)
            return self._with_dtrees(sentences, dtrees)
        except (MemoryError, RuntimeError) as error:
            if not is_short_of_memory(error):
                raise
        first, middle = sentences[0], len(sentences) // 2
        if not middle:
            why = f"memory is short for {many(len(first.tokens), 'word')}; {_LESS}"
            return Batch([first.failed(FormatError(first.file, first.line, 0, why))])
        log.warning("memory is short from %s on: half as many are tried; %s", _place(first), _LESS)
        halves = [self._parsed(half) for half in (sentences[:middle], sentences[middle:])]
        halves[0].repairs.add(halves[1].repairs)
        return Batch(halves[0].sentences + halves[1].sentences, "", halves[0].repairs)

    def _with_dtrees(self, given: list[Sentence], dtrees: Iterator[DTree]) -> Batch:
        """Give sentences the next d-trees of a stream, and their c-trees; those with an error take none."""
        repairs, read = Repairs(), self._model.read
        good = [sentence for sentence in given if sentence.error is None]
        with one_thread():  # more cores are for `jobs`
            taken = [*map(read, islice(dtrees, len(good)))]
            wanted = [sentence.wanted for sentence in good]
            trees = zip(taken, self._ctrees(taken, wanted, repairs), strict=True)
            sentences = [
                sentence if sentence.error else self._with_trees(sentence, *next(trees)) for sentence in given
            ]
        return Batch(sentences, "", repairs)

    def _with_trees(
        self, sentence: Sentence, dtree: DTree, found: tuple[CTree | None, Confidences]
    ) -> Sentence:
        """Return a sentence with its d-tree and, if known, its c-tree, confidences and alternatives."""
        (ctree, shares), options, model = found, self._options, self._model
        alternatives = list[tuple[CTree, float | None]]()
        if ctree is not None and options.best > 1:
            for share, other in model.route.decode_k_best(dtree, options.best, sentence.wanted):
                alternatives.append((other, None if share is None else exp(share)))
            # The route orders trees by the best derivation of each; a probability sums all that were found.
            alternatives[1:] = sorted(alternatives[1:], key=lambda one: one[1] or 0.0, reverse=True)
        if ctree is not None and shares is not None:
            ctree, shares = calibrated(
                ctree, shares, model.calibration, options.min_confidence, sentence.wanted
            )
        if ctree is not None and options.functions and (tag := model.functions):
            ctree, alternatives = tag(ctree, dtree), [(tag(one, dtree), share) for one, share in alternatives]
        forms = sentence.tokens.forms  # the route may have read other forms, see `Model.read`
        return replace(
            sentence,
            dtree=spelled(dtree, forms),
            ctree=ctree and spelled(ctree, forms),
            confidences=shares,
            alternatives=tuple([(spelled(one, forms), share) for one, share in alternatives]),
        )

    def _ctrees(
        self, dtrees: list[DTree], wanted: Sequence[SpanConstraints | None], repairs: Repairs
    ) -> Iterator[tuple[CTree | None, Confidences]]:
        """Yield the c-tree of each d-tree, if c-trees are wanted, with confidences if they are asked for and
        known. D-trees without constraints are decoded together."""
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
            if own is None:
                yield next(decoded)
            else:
                ctree, shares = route.within(dtree, own, repairs)
                yield ctree, shares if sure else None


def _tokens(sentences: Iterable[Sentence]) -> list[Tokens]:
    return [sentence.tokens for sentence in sentences if sentence.error is None]


def _words(sentence: Sentence) -> int:
    return len(sentence.tokens)


def _place(sentence: Sentence) -> str:
    """Return the place of a sentence in the input, as messages name it."""
    place = f"line {sentence.line}" if sentence.line else f"sentence {sentence.number}"
    return f"{sentence.file}, {place}" if sentence.file else place


def _checked(sentence: Sentence, route: Route) -> Sentence:
    """Return the sentence or, if its d-tree cannot be converted, a failed one that says why."""
    if sentence.error:
        return sentence
    tags = [*dict.fromkeys(filter(None, sentence.tokens.tags))]
    if sentence.dtree is None:
        message = "there is no d-tree, and no pipeline that parses: --allow-pipeline spacy:NAME"
    elif not tags:
        message = "there are no tags; XPOS needs those that the model has learned"
    elif UPOS.issuperset(tags) and not route.knows(tags):
        message = f"the tags are UPOS's ({', '.join(tags[:3])}); XPOS needs those that the model has learned"
    else:
        return sentence
    error = FormatError(sentence.file, sentence.line, 0, message)
    return replace(sentence, tokens=Tokens((), ())).failed(error)


class VotingParser:
    """Models that parse the same batches and vote on constituents, as in `combine`.

    Votes are the routes' confidences before calibration, weighted by 1 / (100 - F1)³, where F1 is the mean
    over the parts that all cards name; without such parts, all models count alike. The exponent was chosen on
    silver trees of GUM that no model has learned from, and on masc-dev. The alternatives are those of all
    models, ranked by the votes for their constituents.

    Raises ModelError as `BatchParser` does, and where d-trees or function tags are wanted.
    """

    def __init__(self, models: Sequence[Model], options: ParseOptions, alone: bool) -> None:
        if options.functions or not options.ctrees:
            raise ModelError("several models vote on c-trees; d-trees and function tags are of one model")
        self._options, own = options, replace(options, min_confidence=0.0, confidences=True)
        self._parsers = [BatchParser(replace(model, calibration=None), own, alone) for model in models]
        parts = sorted(set[str].intersection(*({*model.f1} for model in models)))
        errors = [max(1.0, fmean([100 - model.f1[part] for part in parts] or [1.0])) for model in models]
        self._support = weighted_votes([error**-3 for error in errors])

    def over(self, given: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches with the voted c-trees of their sentences, in order."""
        streams = zip(self._parsers, tee(given, len(self._parsers)), strict=True)
        return map(self._voted, zip(*[parser.over(own) for parser, own in streams], strict=True))

    def _voted(self, parsed: Sequence[Batch]) -> Batch:
        """Return a batch with the trees voted for; a sentence that one model cannot parse keeps its error."""
        repairs = Repairs()
        for batch in parsed:
            repairs.add(batch.repairs)
        own = parsed[0].repairs
        repairs.sentences, repairs.tokens, repairs.counts[CUT] = own.sentences, own.tokens, own.counts[CUT]
        rows = zip(*(batch.sentences for batch in parsed), strict=True)
        sentences = [next((one for one in row if one.error), None) or self._vote(row) for row in rows]
        return Batch(sentences, parsed[0].digest, repairs)

    def _vote(self, row: Sequence[Sentence]) -> Sentence:
        parses = [Parse(one.ctree, one.confidences) for one in row if one.ctree]
        voted, shares = combine(parses, self._support)
        assert shares is not None, "all constituents have votes"
        least, wanted = self._options.min_confidence, row[0].wanted
        ctree, shares = calibrated(voted, shares, None, least, wanted)
        if wanted:
            voted, _ = obeying(voted, wanted)
        others = [other for one in row for other, _ in one.alternatives]
        several = [voted, *ranked_by_votes(parses, voted, others, self._support)] if others else []
        alternatives = tuple([(one, None) for one in several[: self._options.best]])
        return replace(row[0], dtree=None, ctree=ctree, confidences=shares, alternatives=alternatives)


def format_batch(to: str, file: str, batch: Batch) -> Done:
    """Return a batch as text; a marked empty tree stands for a sentence that cannot be parsed or written.

    to: one of `output.OUTPUTS`; file: the file that errors name if sentences do not name their own
    """
    form, texts, errors, tokens = OUTPUTS[to], list[str](), list[FormatError](), 0
    for sentence in batch.sentences:
        tokens += len(sentence.tokens)
        try:
            texts.append(form.text(sentence))
        except ValueError as fault:
            sentence = sentence.failed(FormatError(sentence.file, sentence.line, 0, str(fault)))
            texts.append(form.text(sentence))
        if error := sentence.error:
            errors.append(FormatError(error.file or file, error.line, error.sentence, error.message))
    return Done("".join(texts), len(texts), tokens, errors, batch.repairs, batch.digest)
