"""Files with parses of the same sentences side by side, and several models as one (`d2c.combination`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, cast

from d2c.base.errors import FormatError, ModelError, Refusals, each_located
from d2c.base.files import file_name
from d2c.combination.arcs import combine_arcs, learn_arcs
from d2c.combination.constituents import MAJORITY, Parse, combine, learn_constituents
from d2c.combination.weights import Share, Weights, alike
from d2c.dparsers.protocol import ReadsAlong
from d2c.models.model import Model
from d2c.parsing.json_lines import read_json_lines
from d2c.parsing.output import NO_CTREE, format_by_name
from d2c.routes.registry import GivesConfidences, Route
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.repair import Repairs
from d2c.trees.spelling import Spelling

_WINDOW = 512  # sentences that a model parses at a time


class Kind(NamedTuple):
    """What is voted on.

    read:    the parses of a file
    tokens:  of a parse; over: the same parse over tokens that are only written otherwise
    combine: those of a sentence, None where a parser has none, with weights and a threshold
    learn:   weights, from pairs of a gold parse and those of m parsers
    """

    read: Callable[[Path, Reading], Iterator[Any]]
    tokens: Callable[[Any], Tokens]
    over: Callable[[Any, Tokens], Any]
    combine: Callable[[Sequence[Any], Share, float], Any]
    learn: Callable[[Iterable[tuple[Any, Sequence[Any]]]], Weights]


def read_parses(path: Path, reading: Reading) -> Iterator[Parse]:
    """The c-trees of a treebank file or of JSON lines. Raises FormatError."""
    if format_by_name(path) != "json":
        return map(Parse, reading(path))
    refusals = Refusals(reading.faults)
    lines = refusals.over(read_json_lines(path, refusals))
    return (Parse(line.ctree, line.confidences) for line in lines)


def _read_dtrees(path: Path, reading: Reading) -> Iterator[DTree]:
    refusals = Refusals(reading.faults)
    return refusals.over(read_conllu(path, refusals))


KINDS = {
    "constituents": Kind(
        read_parses,
        lambda parse: parse.ctree.tokens,
        lambda parse, tokens: parse._replace(ctree=replace(parse.ctree, tokens=tokens)),
        combine,
        lambda pairs: learn_constituents((gold.ctree, parses) for gold, parses in pairs),
    ),
    "arcs": Kind(
        _read_dtrees,
        lambda dtree: dtree.tokens,
        lambda dtree, tokens: replace(dtree, tokens=tokens),
        lambda dtrees, share, _: combine_arcs(dtrees, share),
        learn_arcs,
    ),
}


def kind_of(files: Iterable[Path]) -> str:
    """Of what files hold: arcs if all are CoNLL-U. Raises FormatError where only some are."""
    named = {file: file.name.removesuffix(".gz").endswith(".conllu") for file in files}
    if len(set(named.values())) > 1:
        odd = next(file for file, conllu in named.items() if conllu)
        raise FormatError(file_name(odd), 0, 0, "d-trees cannot be combined with c-trees; see `d2c decode`")
    return "arcs" if all(named.values()) else "constituents"


def side_by_side(kind: Kind, files: Sequence[Path], reading: Reading) -> Iterator[list[Any]]:
    """Of each sentence its parses [files] over the first one's words; None where one could not be parsed.

    Raises FormatError where a file ends before another, or has other words.
    """
    left_out = "; --skip-bad left sentences out" if reading.faults.skipped else ""
    spelling = Spelling()
    for number, row in enumerate(zip_longest(*(kind.read(file, reading) for file in files)), 1):
        if any(parse is None for parse in row):
            short = files[[parse is None for parse in row].index(True)]
            raise FormatError(file_name(short), 0, number, f"missing; another file has it{left_out}")
        parses = [None if _failed(kind.tokens(parse)) else parse for parse in row]
        first = next((i for i, parse in enumerate(parses) if parse is not None), 0)
        words = kind.tokens(row[first]).forms
        for i, parse in enumerate(parses):
            tokens = kind.tokens(row[i])
            if parse is None or tokens.forms == words:
                continue
            if not spelling.same(tokens.forms, words):
                message = f"its words are not those of {file_name(files[first])}{left_out}"
                raise FormatError(file_name(files[i]), 0, number, message)
            parses[i] = kind.over(parse, replace(tokens, forms=words))
        yield parses


def _failed(tokens: Tokens) -> bool:
    """Whether this is a marked empty tree, which stands for what could not be parsed."""
    return (tokens.forms, tokens.tags) == (NO_CTREE.tokens.forms, NO_CTREE.tokens.tags)


def load_weights(path: Path | None, kind: str, parsers: int) -> Weights | None:
    """The weights of a file, if one is named. Raises ModelError where they are of something else."""
    if path is None:
        return None
    weights = Weights.load(path)
    if (weights.kind, weights.parsers) != (kind, parsers):
        message = f"has weights of {weights.kind} by {weights.parsers} parsers, not of {kind} by {parsers}"
        raise ModelError(f"{path}: {message}; see `d2c combine --learn`")
    return weights


def combined(
    kind: Kind, rows: Iterable[Sequence[Any]], file: str, weights: Weights | None, threshold: float | None
) -> Iterator[Any]:
    """Of each sentence the combination; None where no parser could parse it. Raises FormatError."""
    share = weights or alike
    least = threshold if threshold is not None else weights.threshold if weights else MAJORITY

    def of_row(parses: Sequence[Any]) -> Any:
        return kind.combine(parses, share, least) if any(parses) else None

    return each_located(of_row, rows, file)


class Voted:
    """The decoding half of a route: c-trees voted on, those of a route and those of other models.

    weights:   of the models in their order; None: all count alike
    threshold: of constituents
    """

    def __init__(
        self,
        route: Route,
        others: Sequence[Model],
        weights: Weights | None = None,
        threshold: float = MAJORITY,
    ) -> None:
        self.route, self.others = route, others
        self.share: Share = weights or alike
        self.threshold = weights.threshold if weights else threshold

    @property
    def gaps_(self) -> bool:
        """Whether training trees of any had gaps."""
        return any(route.gaps_ for route in (self.route, *(model.route for model in self.others)))

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """The c-trees of the first model's d-trees, and of those that others give to the same words."""
        return (ctree for ctree, _ in self.confidences_all(dtrees, repairs))

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        """The same with the shares of the votes. Repairs are those of the first model's d-trees."""
        for taken in batches(dtrees, _WINDOW):
            tokens = [dtree.tokens for dtree in taken]
            parses = [parses_of(self.route, taken, repairs)]
            parses += [parses_of(model.route, model.parse_dependencies(tokens)) for model in self.others]
            for row in zip(*parses, strict=True):
                ctree, confidences = combine(row, self.share, self.threshold)
                assert confidences is not None
                yield ctree, tuple(confidences)


def parses_of(route: Route, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[Parse]:
    """What a route makes of d-trees, with its confidences if it has some."""
    if isinstance(route, GivesConfidences):
        return (Parse(*sure) for sure in route.confidences_all(dtrees, repairs))
    return map(Parse, route.decode_all(dtrees, repairs))


def load_voted(directories: Sequence[Path], weights: Weights | None, **options: Any) -> Model:
    """The first model with a route that is `Voted`; options are for it, device and timeout for all.

    Raises ModelError.
    """
    first = Model.load(directories[0], **options)
    of_all = {name: options[name] for name in ("device", "timeout") if name in options}
    others = [Model.load(directory, **of_all) for directory in directories[1:]]
    for model, directory in zip(others, directories[1:], strict=True):
        if isinstance(model.dparser, ReadsAlong):
            raise ModelError(f"{directory}: its d-parser has its d-trees in a file; see `d2c combine`")
    voted = cast(Route, Voted(first.route, others, weights))  # which decodes, and no more is asked of it here
    return replace(first, route_name="voted", route=voted)
