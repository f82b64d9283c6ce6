"""`d2c evaluate`: one guess or several, scored against gold by one of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from d2c.base.columns import terminal_width
from d2c.base.counting import many
from d2c.base.errors import FormatError, each_located, refusing
from d2c.base.files import file_name
from d2c.base.inputs import Paths, check_repeatable, files_of, names_of, of_each
from d2c.commands.options import (
    FilePath,
    check_report,
    choice,
    file_options,
    format_option,
    heads_option,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say, show
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.pairs import Pairs
from d2c.trees.formats.reading import Read, Reading
from d2c.trees.formats.registry import DTREE_SUFFIXES, format_of
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.scores.brackets import Metric
from d2c.trees.scores.matches import Score, Totals


class _Scorer(NamedTuple):
    """metric: of constituents; scores: yields those of a guess; read: how files are read"""

    metric: Metric
    scores: Callable[[Pairs], Iterable[Score]]
    read: Read


def _evalb(
    reading: Reading, params: Path | None, morphology: bool, spmrl: bool = False, **_: object
) -> _Scorer:
    from d2c.trees.scores import evalb
    from d2c.trees.scores.brackets import evalb_metric
    from d2c.trees.scores.prm import EvalbParameters

    def continuous(ctree: CTree) -> CTree:
        if not ctree.is_continuous():
            raise ValueError("a tree with gaps, which brackets cannot hold; use --metric disco")
        return ctree

    @of_each
    def read(path: Path) -> Iterator[CTree]:
        return each_located(continuous, reading(path), file_name(path))

    def scores(pairs: Pairs) -> Iterable[Score]:
        if reading.raw:
            (gold,), (guess,) = files_of(pairs.gold), files_of(pairs.guess)
            return evalb.evaluate_files(gold, guess, parameters, reading.charset)
        return metric.scores(pairs.of(read))

    default = EvalbParameters.spmrl2013 if spmrl else EvalbParameters.collins
    parameters = EvalbParameters.read(params, spmrl=spmrl) if params else default()
    parameters = replace(parameters, morphology=morphology)
    title = "EVALB of SPMRL 2013" if spmrl else f"EVALB, {params.name if params else 'collins.prm'}"
    metric = evalb_metric(title, parameters)
    return _Scorer(metric, scores, read)


def _disco(reading: Reading, params: Path | None, disc_only: bool, **_: object) -> _Scorer:
    from d2c.trees.scores.brackets import disco_metric
    from d2c.trees.scores.prm import DiscoParameters

    @of_each
    def read(path: Path) -> Iterator[CTree]:
        name = reading.format_name or format_of(path, "discbracket")
        return replace(reading, format_name=name)(path)

    parameters = DiscoParameters.read(params) if params else DiscoParameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    metric = disco_metric(f"disco-dop, {params.name if params else 'proper.prm'}", parameters)
    return _Scorer(metric, lambda pairs: metric.scores(pairs.of(read)), read)


def _with_notes(metric: Metric, scores: Iterable[Score]) -> Iterator[str]:
    """Yield the lines of a table of scores, as these come in, and notes on what the table does not show."""
    totals = Totals(metric.cutoff)
    rest = iter(scores)
    first = [*islice(rest, 1)]  # what cannot be read fails before a header is printed
    yield from metric.lines(chain(first, rest), totals)
    if told := list(totals.notes()):
        yield from ("", *told)


def _attachment(pairs: Pairs, punctuation: bool) -> Iterator[str]:
    from d2c.trees.scores.attachment import AttachmentTotals

    read_file = partial(read_conllu, charset=pairs.reading.charset)
    read = of_each(lambda path: refusing(read_file, path, pairs.reading.faults))
    totals = AttachmentTotals(punctuation)
    scoring = shown(pairs.of(read), "sentences", f"scoring {names_of(pairs.guess)}", files_of(pairs.guess))
    for number, (a, b) in enumerate(scoring, 1):
        if len(a.heads) != len(b.heads):
            message = f"{many(len(b.heads), 'token')}; {names_of(pairs.gold)} has {len(a.heads)}"
            raise FormatError(names_of(pairs.guess), 0, number, message)
        totals.add(a, b)
    yield from totals.lines(terminal_width())


_SCORERS: dict[str, Callable[..., _Scorer]] = {  # made from a reading of files and the command's options
    "evalb": _evalb,
    "spmrl": partial(_evalb, spmrl=True),
    "disco": _disco,
}
METRIC_NAMES = (*_SCORERS, "attachment")


def _lines(
    metric: str, files: Sequence[Pairs], report: Path | None, head_rules: HeadRules, **options: Any
) -> Iterator[str]:
    """Yield the table of one guess, sentence by sentence, or that of several, file by file."""
    if metric == "attachment":
        yield from _attachment(files[0], options["punctuation"])
        return
    scorer = _SCORERS[metric](files[0].reading, **options)
    if len(files) == 1:
        guess = files[0].guess
        scores = shown(scorer.scores(files[0]), "sentences", f"scoring {names_of(guess)}", files_of(guess))
        yield from _with_notes(scorer.metric, scores)
    if len(files) > 1 or report:
        from d2c.experiments.files import EVALUATED, compare_files, file_lines
        from d2c.experiments.report import write_report

        def read(paths: Paths) -> Iterator[CTree]:
            return shown(scorer.read(paths), "trees", f"reading {names_of(paths)}", files_of(paths))

        comparison = compare_files(files, read, scorer.metric, head_rules)
        if len(files) > 1:
            yield from file_lines(comparison, terminal_width())
        if report:
            write_report(comparison, report, EVALUATED)


def _check_options(metric: str, reading: Reading, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that mean nothing to a metric."""
    for option, of in (("morphology", "spmrl"), ("disc_only", "disco"), ("punctuation", "attachment")):
        if options[option] and metric != of:
            raise click.UsageError(f"--{option.replace('_', '-')} is for --metric {of}")
    if reading.raw and metric in ("evalb", "spmrl") and (reading.faults.skipped or reading.format_name):
        raise click.UsageError("--raw reads files by EVALB's own rules; leave out --skip-bad and --format")
    if metric == "attachment" and (options["params"] or reading.raw):
        raise click.UsageError("--metric attachment scores d-trees; leave out --params and --raw")


@click.command()
@click.argument("gold", type=FilePath)
@click.argument("guesses", metavar="GUESS...", type=FilePath, nargs=-1, required=True)
@choice("--metric", METRIC_NAMES, "evalb", "What is scored, and which program's scoring is followed.")
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    help="A .prm file for evalb, spmrl or disco.  [default: collins.prm; spmrl: those of the shared task; "
    "disco: proper.prm]",
)
@click.option(
    "--morphology",
    is_flag=True,
    help="spmrl: compare tags with their morphological features, as in NN##case=nom##.",
)
@click.option("--disc-only", is_flag=True, help="disco: count only constituents with gaps.")
@click.option(
    "--punctuation",
    is_flag=True,
    help="attachment: count punctuation, too, as UD's scorer does.",
)
@click.option("--raw", is_flag=True, help="Read trees as they are; for evalb and spmrl, as EVALB does.")
@click.option(
    "--report",
    type=FilePath,
    help="Write an HTML page with F1 by label and length, classes of errors, and the worst trees.",
)
@heads_option
@format_option
@file_options
def evaluate(
    metric: str,
    gold: Path,
    guesses: Sequence[Path],
    report: Path | None,
    head_rules: str,
    reading: Reading,
    **options: Any,
) -> None:
    """Score trees as EVALB does: a line for each sentence, then a summary. With --metric, score trees as
    SPMRL's version of EVALB does (spmrl), treebanks with gaps as disco-dop does (disco), or d-trees in
    CoNLL-U (attachment: by relation, then UAS, LAS and tags).

    The tags of GOLD determine which words are punctuation; these are left out on both sides. Every sentence
    counts; one that was not parsed has recall 0. Traces and function tags are removed, except with --raw.
    Several GUESSes are compared in a table that shows whether they differ by more than chance. With
    --skip-bad, all files must still have the same sentences.
    """
    _check_options(metric, reading, options)
    whole = metric == "attachment" or options["disc_only"] or (reading.raw and metric != "disco")
    if whole and (report or len(guesses) > 1):
        raise click.UsageError("attachment, --disc-only and --raw take a single GUESS and no --report")
    if report:
        check_report(report)
    elif click.get_current_context().get_parameter_source("head_rules") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--head-rules finds the heads that --report shows; leave it out without one")
    rules = load_head_rules(head_rules)
    conllu = DTREE_SUFFIXES if metric == "attachment" else ()
    golden, *others = (reading.files([given], *conllu) for given in (gold, *guesses))
    if reading.raw and metric in ("evalb", "spmrl") and max(map(len, (golden, *others))) > 1:
        raise click.UsageError("with --raw, GOLD and GUESS must be a single file each")
    if report or len(others) > 1:
        for paths in (golden, *others):
            check_repeatable(paths)
    reading = replace(reading, unparsed=True, wordless=True)
    reading = reading if metric == "attachment" else reading.as_told_by(golden[0])
    files = [Pairs(golden, guess, reading) for guess in others]
    show(_lines(metric, files, report, rules, **options))
    for pairs in files:
        if pairs.spelling.words:
            say(f"{names_of(pairs.guess)}: {pairs.spelling}")
