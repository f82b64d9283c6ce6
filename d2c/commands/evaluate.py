"""`d2c evaluate`: two files, one of the metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from d2c.commands.options import FilePath, choice
from d2c.trees.errors import FormatError
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.treebanks import format_of, read_treebank


def _evalb(
    gold: Path, guess: Path, params: Path | None, morphology: bool, spmrl: bool = False, **_: object
) -> Iterator[str]:
    from d2c.trees.scores.evalb.evaluate import evaluate_files
    from d2c.trees.scores.evalb.parameters import Parameters
    from d2c.trees.scores.evalb.report import Totals, report_lines

    default = Parameters.spmrl2013 if spmrl else Parameters.collins
    parameters = Parameters.read(params, spmrl=spmrl) if params else default()
    parameters = replace(parameters, morphology=morphology)
    return report_lines(evaluate_files(gold, guess, parameters), Totals(parameters.cutoff))


def _disco(gold: Path, guess: Path, params: Path | None, disc_only: bool, **_: object) -> Iterator[str]:
    from d2c.trees.scores import disco

    parameters = disco.Parameters.read(params) if params else disco.Parameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    of_gold, of_guess = (read_treebank(path, format_of(path, "discbracket")) for path in (gold, guess))
    scores = disco.evaluate(zip_longest(of_gold, of_guess), parameters)
    return disco.report_lines(scores, parameters.cutoff)


def _attachment(gold: Path, guess: Path, punctuation: bool, **_: object) -> Iterator[str]:
    from d2c.trees.scores.attachment import Attachment, score_attachment

    total = Attachment()
    for number, (a, b) in enumerate(zip_longest(read_conllu(gold), read_conllu(guess)), 1):
        if a is None or b is None:
            raise FormatError(str(guess if b is None else gold), 0, number, "missing; the other file has it")
        if len(a.heads) != len(b.heads):
            raise FormatError(str(guess), 0, number, f"{len(b.heads)} tokens; {gold} has {len(a.heads)}")
        total += score_attachment(a, b, punctuation)
    kept = "with" if punctuation else "without"
    yield f"UAS {total.uas:.2f}  LAS {total.las:.2f}  ({total.tokens:,} tokens, {kept} punctuation)"


METRICS: dict[str, Callable[..., Iterator[str]]] = {  # of the command's other arguments
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
def evaluate(metric: str, **options: Any) -> None:
    """Scores bracket files as EVALB does (a table per sentence, then the summary), treebanks with gaps as
    disco-dop does (discbracket, or what their names say), or CoNLL-U files."""
    for line in METRICS[metric](**options):
        sys.stdout.write(line + "\n")
