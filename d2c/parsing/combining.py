"""Voting on files with parses of the same sentences, which are read side by side (`d2c.routes.voting`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import FormatError, ModelError, Refusals, each_located, refusing
from d2c.base.files import file_name
from d2c.parsing.sentence import Sentence, refused
from d2c.parsing.sentences import has_dtrees, sentences_in
from d2c.routes.voting.arc_voting import combine_arcs, learn_arcs
from d2c.routes.voting.constituents import MAJORITY, Parse, combine, learn_constituents
from d2c.routes.voting.weights import Support, VotingWeights, equal_votes
from d2c.trees.cleaning import Spelling
from d2c.trees.ctree import Tokens, is_failed
from d2c.trees.formats.pairs import side_by_side
from d2c.trees.formats.reading import Reading

Row = Sequence[Sentence | None]  # the parses of a sentence; None where a parser has none


class Voting(NamedTuple):
    """A way to vote: on constituents, or on arcs.

    combine: makes one parse of those in a row, given the support of votes and a threshold (not for arcs)
    learn:   learns weights from pairs of a gold parse and the parses of m parsers
    """

    combine: Callable[[Row, Support, float], Sentence]
    learn: Callable[[Iterable[tuple[Sentence, Row]]], VotingWeights]


def _parse(sentence: Sentence | None) -> Parse | None:
    return Parse(sentence.tree, sentence.confidences) if sentence else None


def _dtrees(row: Row) -> list[Any]:
    return [sentence and sentence.dtree for sentence in row]


def _with_constituents(row: Row, support: Support, threshold: float) -> Sentence:
    ctree, shares = combine([*map(_parse, row)], support, threshold)
    return Sentence(ctree.tokens, ctree=ctree, confidences=None if shares is None else tuple(shares))


def _with_arcs(row: Row, support: Support, _: float) -> Sentence:
    dtree = combine_arcs(_dtrees(row), support)
    return Sentence(dtree.tokens, dtree=dtree)


VOTINGS = {
    "constituents": Voting(
        _with_constituents,
        lambda pairs: learn_constituents(
            (gold.ctree, [*map(_parse, row)]) for gold, row in pairs if gold.ctree
        ),
    ),
    "arcs": Voting(
        _with_arcs,
        lambda pairs: learn_arcs((gold.dtree, _dtrees(row)) for gold, row in pairs if gold.dtree),
    ),
}


def voting_of(files: Iterable[Path], reading: Reading) -> str:
    """Return the key in VOTINGS for files: arcs if all are d-trees in CoNLL-U, constituents if none is.

    Raises FormatError where only some are.
    """
    of_dtrees = {file: has_dtrees(file, reading) for file in files}
    if len(set(of_dtrees.values())) > 1:
        odd = next(file for file, conllu in of_dtrees.items() if conllu)
        raise FormatError(file_name(odd), 0, 0, "d-trees cannot be combined with c-trees; see `d2c decode`")
    return "arcs" if all(of_dtrees.values()) else "constituents"


def parses_of(files: Sequence[Path], reading: Reading) -> Iterator[list[Sentence | None]]:
    """Yield the parses [files] of each sentence, over the words of the first parse; None for a failed parse.

    Raises FormatError where a file ends before another, or has other words.
    """

    def read(file: Path, refusals: Refusals) -> Iterator[Sentence]:
        return sentences_in(file, reading, refusals)

    left_out = "; --skip-bad left sentences out" if reading.faults.skipped else ""
    spelling = Spelling()
    sides = ((file, refusing(read, file, reading.faults)) for file in files)
    for number, row in enumerate(side_by_side(*sides, hint=left_out), 1):
        parses = [None if _failed(parse) else parse for parse in row]
        first = next((i for i, parse in enumerate(parses) if parse is not None), 0)
        words = row[first].tokens.forms
        for i, parse in enumerate(parses):
            if parse is None or parse.tokens.forms == words:
                continue
            if not spelling.same(parse.tokens.forms, words):
                message = f"its words are not those of {file_name(files[first])}{left_out}"
                raise FormatError(file_name(files[i]), 0, number, message)
            parses[i] = _over(parse, replace(parse.tokens, forms=words))
        yield parses


def _over(sentence: Sentence, tokens: Tokens) -> Sentence:
    """Return a parse over other tokens, which differ from its own only in spelling."""
    ctree, dtree = sentence.ctree, sentence.dtree
    return replace(
        sentence,
        tokens=tokens,
        ctree=ctree and replace(ctree, tokens=tokens),
        dtree=dtree and replace(dtree, tokens=tokens),
    )


def _failed(sentence: Sentence) -> bool:
    """Return whether a sentence could not be parsed; in treebanks a marked empty tree takes its place."""
    return sentence.error is not None or is_failed(sentence.tokens)


def load_weights(path: Path | None, kind: str, parsers: int) -> VotingWeights | None:
    """Load weights from a file, if there is one. Raises ModelError for another kind or number of parsers."""
    if path is None:
        return None
    weights = VotingWeights.load(path)
    if (weights.kind, weights.parsers) != (kind, parsers):
        message = f"has weights of {weights.kind} by {weights.parsers} parsers, not of {kind} by {parsers}"
        raise ModelError(f"{path}: {message}; see `d2c combine --learn`")
    return weights


def combined(
    voting: Voting,
    rows: Iterable[Row],
    file: str,
    weights: VotingWeights | None,
    threshold: float | None,
) -> Iterator[Sentence]:
    """Yield the combined parse of each row, with the row's number as its line; a sentence that no parser
    could parse has an error. Raises FormatError.
    """
    support = weights or equal_votes
    least = threshold if threshold is not None else weights.threshold if weights else MAJORITY

    def of_row(row: tuple[int, Row]) -> Sentence:
        number, parses = row
        if not any(parses):
            return refused(FormatError(file, number, 0, "no parser could parse it"))
        return replace(voting.combine(parses, support, least), line=number)

    return each_located(of_row, enumerate(rows, 1), file)
