"""Files with parses of the same sentences side by side, to be voted on (`d2c.routes.voting`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import FormatError, ModelError, each_located, refusing
from d2c.base.files import file_name
from d2c.base.inputs import is_called
from d2c.parsing.json_lines import read_json_lines
from d2c.parsing.output import format_by_name
from d2c.parsing.parsed import NO_CTREE
from d2c.routes.voting.arc_voting import combine_arcs, learn_arcs
from d2c.routes.voting.constituents import MAJORITY, Parse, combine, learn_constituents
from d2c.routes.voting.weights import Support, VotingWeights, equal_votes
from d2c.trees.cleaning import Spelling
from d2c.trees.ctree import Tokens
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.pairs import side_by_side
from d2c.trees.formats.reading import Reading


class Voting(NamedTuple):
    """A way to vote: on constituents, or on arcs.

    read:    the parses of a file
    tokens:  of a parse; over: the same parse over tokens that are only written differently
    combine: the parses of a sentence, None where a parser has none, with their support and a threshold
    learn:   weights, from pairs of a gold parse and those of m parsers
    """

    read: Callable[[Path, Reading], Iterator[Any]]
    tokens: Callable[[Any], Tokens]
    over: Callable[[Any, Tokens], Any]
    combine: Callable[[Sequence[Any], Support, float], Any]
    learn: Callable[[Iterable[tuple[Any, Sequence[Any]]]], VotingWeights]


def read_parses(path: Path, reading: Reading) -> Iterator[Parse]:
    """Read the c-trees of a treebank file or of JSON lines. Raises FormatError."""
    if (reading.format_name or format_by_name(path)) != "json":
        return map(Parse, reading(path))
    lines = refusing(read_json_lines, path, reading.faults)
    return (Parse(line.ctree, line.confidences) for line in lines)


VOTINGS = {
    "constituents": Voting(
        read_parses,
        lambda parse: parse.ctree.tokens,
        lambda parse, tokens: parse._replace(ctree=replace(parse.ctree, tokens=tokens)),
        combine,
        lambda pairs: learn_constituents((gold.ctree, parses) for gold, parses in pairs),
    ),
    "arcs": Voting(
        lambda path, reading: refusing(read_conllu, path, reading.faults),
        lambda dtree: dtree.tokens,
        lambda dtree, tokens: replace(dtree, tokens=tokens),
        lambda dtrees, support, _: combine_arcs(dtrees, support),
        learn_arcs,
    ),
}


def voting_of(files: Iterable[Path]) -> str:
    """Return the name of the voting for some files: arcs if all are CoNLL-U, constituents if none is.

    Raises FormatError where only some are.
    """
    named = {file: is_called(file, (".conllu",)) for file in files}
    if len(set(named.values())) > 1:
        odd = next(file for file, conllu in named.items() if conllu)
        raise FormatError(file_name(odd), 0, 0, "d-trees cannot be combined with c-trees; see `d2c decode`")
    return "arcs" if all(named.values()) else "constituents"


def parses_of(voting: Voting, files: Sequence[Path], reading: Reading) -> Iterator[list[Any]]:
    """Yield the parses [files] of each sentence over the first one's words; None where it was not parsed.

    Raises FormatError where a file ends before another, or has other words.
    """
    left_out = "; --skip-bad left sentences out" if reading.faults.skipped else ""
    spelling = Spelling()
    sides = ((file, voting.read(file, reading)) for file in files)
    for number, row in enumerate(side_by_side(*sides, hint=left_out), 1):
        parses = [None if _failed(voting.tokens(parse)) else parse for parse in row]
        first = next((i for i, parse in enumerate(parses) if parse is not None), 0)
        words = voting.tokens(row[first]).forms
        for i, parse in enumerate(parses):
            tokens = voting.tokens(row[i])
            if parse is None or tokens.forms == words:
                continue
            if not spelling.same(tokens.forms, words):
                message = f"its words are not those of {file_name(files[first])}{left_out}"
                raise FormatError(file_name(files[i]), 0, number, message)
            parses[i] = voting.over(parse, replace(tokens, forms=words))
        yield parses


def _failed(tokens: Tokens) -> bool:
    """Return whether this is a marked empty tree, which stands for a sentence that could not be parsed."""
    return (tokens.forms, tokens.tags) == (NO_CTREE.tokens.forms, NO_CTREE.tokens.tags)


def load_weights(path: Path | None, kind: str, parsers: int) -> VotingWeights | None:
    """Load the weights of a file, if one is named. Raises ModelError where they are of something else."""
    if path is None:
        return None
    weights = VotingWeights.load(path)
    if (weights.kind, weights.parsers) != (kind, parsers):
        message = f"has weights of {weights.kind} by {weights.parsers} parsers, not of {kind} by {parsers}"
        raise ModelError(f"{path}: {message}; see `d2c combine --learn`")
    return weights


def combined(
    voting: Voting,
    rows: Iterable[Sequence[Any]],
    file: str,
    weights: VotingWeights | None,
    threshold: float | None,
) -> Iterator[Any]:
    """Yield the combination of each sentence; None where no parser could parse it. Raises FormatError."""
    support = weights or equal_votes
    least = threshold if threshold is not None else weights.threshold if weights else MAJORITY

    def of_row(parses: Sequence[Any]) -> Any:
        return voting.combine(parses, support, least) if any(parses) else None

    return each_located(of_row, rows, file)
