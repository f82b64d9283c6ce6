"""`d2c evaluate`: two files, one of the metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from d2c.commands.options import FilePath
from d2c.trees.errors import FormatError
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.treebanks import format_of, read_treebank


@dataclass(frozen=True)
class Request:
    """What is scored; the other options are each for some metrics."""

    gold: Path
    guess: Path
    params: Path | None
    morphology: bool
    disc_only: bool
    punctuation: bool


def _evalb(asked: Request, spmrl: bool = False) -> Iterator[str]:
    from d2c.trees.scores.evalb.evaluate import evaluate_files
    from d2c.trees.scores.evalb.parameters import Parameters
    from d2c.trees.scores.evalb.report import Totals, report_lines

    default = Parameters.spmrl2013 if spmrl else Parameters.collins
    parameters = Parameters.read(asked.params, spmrl=spmrl) if asked.params else default()
    parameters = replace(parameters, morphology=asked.morphology)
    return report_lines(evaluate_files(asked.gold, asked.guess, parameters), Totals(parameters.cutoff))


def _disco(asked: Request) -> Iterator[str]:
    from d2c.trees.scores import disco

    parameters = disco.Parameters.read(asked.params) if asked.params else disco.Parameters.proper()
    parameters = replace(parameters, disc_only=asked.disc_only or parameters.disc_only)
    gold, guess = (read_treebank(path, format_of(path, "discbracket")) for path in (asked.gold, asked.guess))
    scores = disco.evaluate(zip_longest(gold, guess), parameters)
    return disco.report_lines(scores, parameters.cutoff)


def _attachment(asked: Request) -> Iterator[str]:
    from d2c.trees.scores.attachment import Attachment, score_attachment

    total, gold, guess = Attachment(), str(asked.gold), str(asked.guess)
    for number, (a, b) in enumerate(zip_longest(read_conllu(asked.gold), read_conllu(asked.guess)), 1):
        if a is None or b is None:
            raise FormatError(guess if b is None else gold, 0, number, "missing; the other file has it")
        if len(a.heads) != len(b.heads):
            raise FormatError(guess, 0, number, f"{len(b.heads)} tokens; {gold} has {len(a.heads)}")
        total += score_attachment(a, b, asked.punctuation)
    kept = "with" if asked.punctuation else "without"
    yield f"UAS {total.uas:.2f}  LAS {total.las:.2f}  ({total.tokens:,} tokens, {kept} punctuation)"


METRICS: dict[str, Callable[[Request], Iterator[str]]] = {
    "evalb": _evalb,
    "spmrl": partial(_evalb, spmrl=True),
    "disco": _disco,
    "attachment": _attachment,
}


@click.command()
@click.argument("gold", type=FilePath)
@click.argument("guess", type=FilePath)
@click.option(
    "--metric",
    type=click.Choice(list(METRICS)),
    default="evalb",
    show_default=True,
)
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    help="A .prm file.  [default: collins.prm; disco: proper.prm]",
)
@click.option("--morphology", is_flag=True, help="spmrl: features count in tags, as in NN##case=nom##.")
@click.option("--disc-only", is_flag=True, help="disco: constituents with gaps only.")
@click.option("--punctuation", is_flag=True, help="attachment: count punctuation too.")
def evaluate(metric: str, **options: Any) -> None:
    """Scores bracket files as EVALB does (a table per sentence, then the summary), treebanks with gaps as
    disco-dop does (discbracket, or what their names say), or CoNLL-U files."""
    for line in METRICS[metric](Request(**options)):
        sys.stdout.write(line + "\n")
