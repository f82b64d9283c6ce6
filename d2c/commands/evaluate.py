"""`d2c evaluate`: two files, one of the metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from d2c.base.errors import FormatError, Refusals
from d2c.base.files import file_name
from d2c.commands.options import FilePath, choice, format_option, reading_options
from d2c.commands.terminal import say
from d2c.treebanks.pairs import Pairs
from d2c.treebanks.reading import Reading
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.treebanks import format_of
from d2c.trees.scores.matches import Score, notes


def _evalb(
    pairs: Pairs, params: Path | None, morphology: bool, spmrl: bool = False, **_: object
) -> Iterator[str]:
    from d2c.trees.scores.evalb import Totals, evaluate_by_gold, evaluate_files, report_lines
    from d2c.trees.scores.evalb_sides import EvalbLine, from_ctree
    from d2c.trees.scores.prm import EvalbParameters

    def line(ctree: CTree, path: Path, number: int) -> EvalbLine:
        try:
            return from_ctree(ctree)
        except ValueError as error:
            raise FormatError(file_name(path), 0, number, f"{error}; use --metric disco") from None

    default = EvalbParameters.spmrl2013 if spmrl else EvalbParameters.collins
    parameters = EvalbParameters.read(params, spmrl=spmrl) if params else default()
    parameters = replace(parameters, morphology=morphology)
    shown = partial(report_lines, totals=Totals(parameters.cutoff))
    if pairs.reading.raw:
        return shown(evaluate_files(pairs.gold, pairs.guess, parameters))
    numbered = enumerate(pairs.of(pairs.reading), 1)
    lines = ((line(a, pairs.gold, n), line(b, pairs.guess, n)) for n, (a, b) in numbered)
    return _with_notes(shown, evaluate_by_gold(lines, parameters))


def _disco(pairs: Pairs, params: Path | None, disc_only: bool, **_: object) -> Iterator[str]:
    from d2c.trees.scores import disco
    from d2c.trees.scores.prm import DiscoParameters

    def read(path: Path) -> Iterator[CTree]:
        name = pairs.reading.format_name or format_of(path, "discbracket")
        return replace(pairs.reading, format_name=name)(path)

    parameters = DiscoParameters.read(params) if params else DiscoParameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    shown = partial(disco.report_lines, cutoff=parameters.cutoff)
    return _with_notes(shown, disco.evaluate(pairs.of(read), parameters))


def _with_notes(shown: Callable[[Iterable[Any]], Iterator[str]], scores: Iterable[Score]) -> Iterator[str]:
    """Yield the lines of a table of scores, while they come in, and what it does not tell of them."""
    seen: list[Score] = []

    def watched() -> Iterator[Score]:
        for score in scores:
            seen.append(score)
            yield score

    yield from shown(watched())
    if told := list(notes(seen)):
        yield from ("", *told)


def _attachment(pairs: Pairs, punctuation: bool, **_: object) -> Iterator[str]:
    from d2c.trees.scores.attachment import Attachment, score_attachment

    def read(path: Path) -> Iterator[DTree]:
        refusals = Refusals(pairs.reading.faults)
        return refusals.over(read_conllu(path, refusals))

    total = Attachment()
    for number, (a, b) in enumerate(pairs.of(read), 1):
        if len(a.heads) != len(b.heads):
            message = f"{len(b.heads)} tokens; {pairs.gold} has {len(a.heads)}"
            raise FormatError(str(pairs.guess), 0, number, message)
        total += score_attachment(a, b, punctuation)
    kept = "with" if punctuation else "without"
    yield f"UAS {total.uas:.2f}  LAS {total.las:.2f}  ({total.tokens:,} tokens, {kept} punctuation)"


METRICS: dict[str, Callable[..., Iterator[str]]] = {  # of the files, and the command's options
    "evalb": _evalb,
    "spmrl": partial(_evalb, spmrl=True),
    "disco": _disco,
    "attachment": _attachment,
}


@click.command()
@click.argument("gold", type=FilePath)
@click.argument("guess", type=FilePath)
@choice("--metric", METRICS, "evalb")
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    help="A .prm file.  [default: collins.prm; disco: proper.prm]",
)
@click.option("--morphology", is_flag=True, help="spmrl: features count in tags, as in NN##case=nom##.")
@click.option("--disc-only", is_flag=True, help="disco: constituents with gaps only.")
@click.option("--punctuation", is_flag=True, help="attachment: count punctuation too.")
@click.option("--raw", is_flag=True, help="Read brackets as they are; evalb, spmrl: as EVALB does all.")
@format_option
@reading_options
def evaluate(metric: str, gold: Path, guess: Path, reading: Reading, **options: Any) -> None:
    """Scores trees as EVALB does (a table per sentence, then the summary), treebanks with gaps as disco-dop
    does (discbracket, or what their names say), or CoNLL-U files.

    Gold's tags say which words are punctuation, and left out on both sides; every sentence counts, one that
    was not parsed with recall 0. As everywhere, traces and function tags are removed from brackets. With
    --skip-bad both files must still have the same sentences.
    """
    if reading.raw and metric in ("evalb", "spmrl") and (reading.faults.skipped or reading.format_name):
        raise click.UsageError("with --raw EVALB's own rules say what lines hold, not --skip-bad or --format")
    pairs = Pairs(gold, guess, reading)
    for line in METRICS[metric](pairs, **options):
        sys.stdout.write(line + "\n")
    if pairs.spelling.words:
        say(f"{file_name(guess)}: {pairs.spelling}")
