"""`d2c evaluate`: two files, one of the metrics."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import click

from d2c.commands.options import FilePath
from d2c.trees.errors import FormatError
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.treebanks import format_of, read_treebank


@click.command()
@click.argument("gold", type=FilePath)
@click.argument("guess", type=FilePath)
@click.option(
    "--metric",
    type=click.Choice(["evalb", "spmrl", "disco", "attachment"]),
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
def evaluate(
    gold: Path,
    guess: Path,
    metric: str,
    params: Path | None,
    morphology: bool,
    disc_only: bool,
    punctuation: bool,
) -> None:
    """Scores bracket files as EVALB does (a table per sentence, then the summary), treebanks with gaps as
    disco-dop does (discbracket, or what their names say), or CoNLL-U files."""
    from d2c.trees.scores.evalb.evaluate import evaluate_files
    from d2c.trees.scores.evalb.parameters import Parameters
    from d2c.trees.scores.evalb.report import Totals, report_lines

    if metric == "attachment":
        _print_attachment(gold, guess, punctuation)
        return
    if metric == "disco":
        _print_disco(gold, guess, params, disc_only)
        return
    spmrl = metric == "spmrl"
    default = Parameters.spmrl2013 if spmrl else Parameters.collins
    parameters = Parameters.read(params, spmrl=spmrl) if params else default()
    parameters = replace(parameters, morphology=morphology)
    for line in report_lines(evaluate_files(gold, guess, parameters), Totals(parameters.cutoff)):
        sys.stdout.write(line + "\n")


def _print_disco(gold: Path, guess: Path, params: Path | None, disc_only: bool) -> None:
    from d2c.trees.scores import disco

    parameters = disco.Parameters.read(params) if params else disco.Parameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    gold_trees, guessed = (read_treebank(path, format_of(path, "discbracket")) for path in (gold, guess))
    scores = disco.evaluate(zip_longest(gold_trees, guessed), parameters)
    for line in disco.report_lines(scores, disco.Totals(), parameters.cutoff):
        sys.stdout.write(line + "\n")


def _print_attachment(gold: Path, guess: Path, punctuation: bool) -> None:
    from d2c.trees.scores.attachment import Attachment, score_attachment

    total = Attachment()
    for number, (a, b) in enumerate(zip_longest(read_conllu(gold), read_conllu(guess)), 1):
        if a is None or b is None:
            raise FormatError(str(guess if b is None else gold), 0, number, "missing; the other file has it")
        if len(a.heads) != len(b.heads):
            message = f"{len(b.heads)} tokens; {gold} has {len(a.heads)}"
            raise FormatError(str(guess), 0, number, message)
        total += score_attachment(a, b, punctuation)
    kept = "with" if punctuation else "without"
    click.echo(f"UAS {total.uas:.2f}  LAS {total.las:.2f}  ({total.tokens:,} tokens, {kept} punctuation)")
