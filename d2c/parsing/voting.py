"""Several models parse the same sentences, and vote on the constituents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from statistics import fmean

from d2c.base.errors import ModelError
from d2c.models.calibration import with_confidences
from d2c.models.model import Model
from d2c.parsing.options import ParseOptions
from d2c.parsing.sentence import Sentence
from d2c.parsing.stream import Batch, BatchParser
from d2c.routes.voting.constituents import Parse, combine, ranked_by_votes
from d2c.routes.voting.weights import weighted_votes
from d2c.trees.constraints import obeying
from d2c.trees.repair import Repairs


class VotingParser:
    """Models that parse the same batches and vote on constituents, as `combine`.

    Votes are what the routes say, before calibration, and count by 1 / (100 - F1)³, with the mean F1 of the
    parts that all cards name; all alike where there are none. The exponent was chosen with a look at
    silver trees of GUM that no model has learned from, and at masc-dev. Alternatives are those of the models,
    ranked by the votes for their constituents.

    Raises ModelError as `BatchParser`, and where d-trees or function tags are wanted.
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
        """Parse batches in order."""
        streams = zip(self._parsers, tee(given, len(self._parsers)), strict=True)
        return map(self._voted, zip(*[parser.over(own) for parser, own in streams], strict=True))

    def _voted(self, parsed: Sequence[Batch]) -> Batch:
        """Return what models make of a batch together; what one of them cannot parse has no c-tree."""
        repairs = Repairs()
        for batch in parsed:
            repairs.add(batch.repairs)
        repairs.sentences, repairs.tokens = parsed[0].repairs.sentences, parsed[0].repairs.tokens
        rows = zip(*(batch.sentences for batch in parsed), strict=True)
        sentences = [next((one for one in row if one.error), None) or self._vote(row) for row in rows]
        return Batch(sentences, parsed[0].digest, repairs)

    def _vote(self, row: Sequence[Sentence]) -> Sentence:
        parses = [Parse(one.ctree, one.confidences) for one in row if one.ctree]
        voted, shares = combine(parses, self._support)
        assert shares is not None, "all constituents have votes"
        least, wanted = self._options.min_confidence, row[0].wanted
        ctree, shares = with_confidences(voted, shares, None, least, wanted)
        if wanted:
            voted, _ = obeying(voted, wanted)
        others = [other for one in row for other, _ in one.alternatives]
        several = [voted, *ranked_by_votes(parses, voted, others, self._support)] if others else []
        alternatives = tuple([(one, None) for one in several[: self._options.best]])
        return replace(row[0], dtree=None, ctree=ctree, confidences=shares, alternatives=alternatives)
