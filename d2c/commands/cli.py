"""The command `d2c`."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import click

from d2c.commands.evaluate import evaluate
from d2c.commands.options import (
    FilePath,
    continuous_option,
    encoding_option,
    format_for,
    heads_option,
    jobs_option,
    new_dparser,
    new_route,
    new_tagging,
    output_option,
    reading_of,
    reading_options,
    to_option,
    training_options,
)
from d2c.parsing.output import FORMATS as FORMATS_OF_OUTPUT
from d2c.parsing.output import format_by_name
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.training import model as models
from d2c.treebanks.chunked import map_chunks
from d2c.treebanks.parts import Converted, Decode, Encode
from d2c.treebanks.reading import WRITABLE, Part, convert_treebank, with_heads
from d2c.treebanks.statistics import Statistics
from d2c.trees.errors import FormatError, ModelError
from d2c.trees.files import file_name, open_output, read_json
from d2c.trees.formats.conllu import format_conllu, read_conllu, read_conllu_chunks
from d2c.trees.formats.treebanks import FORMATS, format_to_write, read_treebank, write_treebank
from d2c.trees.heads import format_head_rules, load_head_rules
from d2c.trees.repair import Repairs

Item = TypeVar("Item")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Constituency parsing with an off-the-shelf dependency parser.

    Files: `-` is standard input or output, .gz is packed and unpacked. d-trees are in CoNLL-U, c-trees in
    Penn Treebank brackets or another treebank format, which the name of the file says (see `convert`).
    """


@cli.command()
@click.argument("trees", type=FilePath)
@output_option
@encoding_option
@heads_option
@reading_options
@click.option("--raw", is_flag=True, help="Brackets: keep traces and function tags.")
@click.option("--stats", is_flag=True, help="Print labels, unaries, crossing arcs, ... to standard error.")
@jobs_option
def encode(trees: Path, output: Path, encoding: str, stats: bool, jobs: int, **options: Any) -> None:
    """c-trees → CoNLL-U with head-ordered labels in DEPREL. One process reads export and XML files."""
    if options["raw"] and options["traces"]:
        raise click.UsageError("--traces removes what --raw keeps; give one of them")
    reading = reading_of(options)
    work = Encode(Reduction(encoding, options["head_rules"]), trees, reading, stats)
    statistics = Statistics()
    for part in _convert(work, reading.parts(trees), trees, output, jobs):
        if part.statistics:
            statistics.add(part.statistics)
    if stats:
        click.echo("\n".join(statistics.lines()), err=True)


@cli.command()
@click.argument("conllu", type=FilePath)
@output_option
@click.option("-m", "--model", type=click.Path(path_type=Path), help="A trained model; it knows unaries.")
@click.option("--encoding", type=click.Choice(ENCODINGS), help="Without a model.  [default: direct]")
@to_option(WRITABLE)
@jobs_option
def decode(
    conllu: Path, output: Path, model: Path | None, encoding: str | None, to: str | None, jobs: int
) -> None:
    """CoNLL-U from any d-parser → c-trees. Repairs are counted on standard error.

    Without a model, unary nodes are recovered under the spine encoding only, and crossing arcs make gaps
    where the format holds them. One process writes export and XML files.
    """
    if model and encoding:
        raise click.UsageError("the model says the encoding; give one of --model and --encoding")
    repairs = Repairs()
    if model:
        route = models.load_route(model)
        to = to or format_for(route, output)
    else:
        to = to or format_to_write(output)
        route = Reduction(encoding or "direct", continuous=to == "brackets" or encoding == "delta")
    if FORMATS[to].parse is None:
        with open_output(output) as stream:
            dtrees = _shown(read_conllu(conllu), "sentences")
            write_treebank(route.decode_all(dtrees, repairs), to, stream, conllu)
    else:
        work = Decode(route, file_name(conllu), to)
        for part in _convert(work, read_conllu_chunks(conllu), conllu, output, jobs):
            if part.repairs:
                repairs.add(part.repairs)
    _report(repairs)


@cli.command()
@click.argument("trees", type=FilePath)
@click.option("--dev", type=FilePath, required=True, help="Treebank that selects the best model.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Model directory.")
@click.option("--preset", type=click.Choice(["default", "small"]), default="default", show_default=True)
@click.option("--route", type=click.Choice(models.ROUTES), default="reduction", show_default=True)
@click.option("--checkpoints", type=click.Path(path_type=Path), help="Directory; cky goes on from there.")
@training_options
def train(trees: Path, dev: Path, output: Path, route: str, checkpoints: Path | None, **options: Any) -> None:
    """Trains a d-parser and a route on a treebank of any format; traces and function tags are removed."""
    new = new_route(route, options, checkpoints)
    dparser, reading = new_dparser(options), reading_of(options)
    tagging, folds = new_tagging(options), options["folds"] or 0
    models.Model.train(route, new, *dparser, trees, dev, output, _progress, reading, tagging, folds)
    click.echo(f"{output}: trained", err=True)


@cli.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", metavar="[INPUT]", type=FilePath, default="-")
@output_option
@to_option(tuple(FORMATS_OF_OUTPUT))
@click.option("--text", "kind", flag_value="text", help="INPUT is text with one sentence on each line.")
@click.option("--tokenized", "kind", flag_value="tokenized", help="The same, with blanks between tokens.")
@click.option("--split", "kind", flag_value="split", help="Free text; empty lines end paragraphs.")
@click.option(
    "--min-confidence",
    "least",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Collapse constituents of less: their children go to what is above. The root stays.",
)
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read or written.")
@click.option("--device", help="cpu, cuda, ...  [default: cuda where there is one]")
@click.option("--parse-command", help="Of a d-parser `cmd`; a model directory keeps no commands.")
def parse(
    model: Path,
    source: Path,
    output: Path,
    kind: str | None,
    to: str | None,
    least: float,
    strict: bool,
    device: str | None,
    parse_command: str | None,
) -> None:
    """Parses CoNLL-U (words and tags) or text into c-trees, or into d-trees with `--to conllu`.

    What cannot be read is left out and named on standard error. Text needs a model with a tagger.

    Confidences, in `--to json`, are posteriors of the chart (cky, combined), or shares of the labeler's and
    the unary classifier's scores (reduction, labeler; 1 for what the d-parser's labels say). They rank
    constituents of one model; they are not calibrated.
    """
    from d2c.parsing.stream import parse_file

    trained, refused = models.Model.load(model, device, parse_command), 0
    to = to or format_by_name(output) or format_for(trained.route, output)
    if to not in FORMATS_OF_OUTPUT:
        raise click.UsageError(f"parse does not write {to}; `d2c convert` does, from discbracket")
    if to == "conllu" and least:
        raise click.UsageError("d-trees have no constituents to collapse; leave out --min-confidence")

    def refuse(error: FormatError) -> None:
        nonlocal refused
        if strict:
            raise error
        refused += 1
        click.echo(f"d2c: {error}", err=True)

    with open_output(output) as stream:
        shown = partial(_shown, unit="sentences")
        repairs = parse_file(trained, source, kind or "conllu", to, stream, refuse, least, shown)
    if to != "conllu":
        _report(repairs)
    if refused:
        click.echo(f"{refused:,} left out", err=True)
    if refused and not kind and not repairs.sentences and to != "conllu":
        click.echo("Is the input text? Say --text, --tokenized or --split.", err=True)


@cli.command()
@click.argument("source", type=FilePath)
@click.argument("target", type=FilePath)
@click.option("--from", "source_format", type=click.Choice(list(FORMATS)), help="[default: by the name]")
@click.option("--to", "target_format", type=click.Choice(WRITABLE), help="[default: by the name]")
@click.option("--clean", is_flag=True, help="Brackets: remove traces, function tags and co-indices.")
@click.option("--traces", is_flag=True, help="Brackets: move antecedents to their traces, then clean.")
@click.option("--move-punctuation", is_flag=True, help="Into the smallest constituent around it.")
@continuous_option
@click.option("--merge", is_flag=True, help="Join what `--continuous split` split.")
@click.option(
    "--heads", type=FilePath, help="CoNLL-U over the same tokens: mark the head children it induces."
)
def convert(source: Path, target: Path, **options: Any) -> None:
    """Rewrites treebanks: brackets, discbracket, export, TIGER XML, Alpino XML; reads Penn-historical, Sinica
    and Floresta files, too. Brackets hold no gaps: say how to make such trees continuous. What else is left
    out (secondary edges, functions, lemmas, ...) is said on standard error.

    Names tell formats: *.discbracket, *.export, *.tiger.xml, *.alpino.xml, *.psd, *.sinica, *.conllu (each
    also with .gz); anything else is brackets. CoNLL-U becomes CoNLL-U without ranges and empty nodes; from
    trees to CoNLL-U and back go `encode` and `decode`.
    """
    if options["heads"] and (options["traces"] or options["merge"]):
        raise click.UsageError("--traces and --merge keep no heads; convert twice")
    kinds = [".conllu" in path.name for path in (source, target)]
    if kinds[0] != kinds[1] and "-" not in (str(source), str(target)):
        raise click.UsageError("use `d2c encode` and `d2c decode` between trees and CoNLL-U")
    left_out: list[str] = []
    with open_output(target) as stream:
        if any(kinds):
            stream.writelines(map(format_conllu, _shown(read_conllu(source), "sentences")))
        else:
            left_out = convert_treebank(source, target, stream, **options)
    if left_out:
        click.echo(f"{file_name(source)}: left out: {', '.join(left_out)}", err=True)


@cli.command()
@click.argument("trees", type=FilePath, required=False)
@click.argument("dev", type=FilePath, required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Keep the models, one for each route.")
@click.option("--preset", type=click.Choice(["default", "small"]), default="small", show_default=True)
@click.option(
    "--route",
    "routes",
    type=click.Choice(models.ROUTES),
    multiple=True,
    default=models.ROUTES,
    help="May be repeated.  [default: all]",
)
@click.option(
    "--report", type=FilePath, help="HTML file.  [default: report.html beside the models of -o, if given]"
)
@training_options
def compare(
    trees: Path | None,
    dev: Path | None,
    output: Path | None,
    routes: tuple[str, ...],
    report: Path | None,
    **options: Any,
) -> None:
    """Trains on TREES, scores on DEV, prints one table. Without arguments: the bundled sample.

    Rows: every route on gold d-trees (the conversion alone) and on those of the d-parser, which is trained
    once, on the first route's labels; the best that constrained CKY could do with them (oracle). Then:
    whether routes differ by more than chance. The report shows what is behind the table: F1 by label and
    length, classes of errors, and the trees of every sentence.
    """
    from d2c.compare.report import write_report
    from d2c.compare.rows import table_lines, train_and_compare

    if trees and not dev:
        raise click.UsageError("give both TREES and DEV, or neither for the bundled sample")
    sample = resources.files("d2c.data") / "sample"
    new = {name: new_route(name, options) for name in models.ROUTES if name in routes}
    dparser, tagging = new_dparser(options), new_tagging(options)
    with (
        resources.as_file(sample) as files,
        tempfile.TemporaryDirectory() as scratch,
    ):
        train_file, dev_file = (trees or files / "train.mrg"), (dev or files / "dev.mrg")
        click.echo(f"training on {train_file}, scoring on {dev_file}", err=True)
        directory = output or Path(scratch)
        reading = reading_of(options)
        rows = train_and_compare(
            train_file, dev_file, directory, new, dparser, _progress, reading, tagging, options["folds"] or 0
        )
    click.echo("\n".join(table_lines(rows)))
    if report or output:
        path = report or directory / "report.html"
        write_report(rows, path)
        click.echo(f"report: {path}", err=True)


@cli.command()
@click.argument("trees", type=FilePath)
@output_option
@heads_option
@click.option("--format", "format_name", type=click.Choice(list(FORMATS)), help="[default: by the name]")
@click.option("--what", type=click.Choice(["ctree", "dtree", "both"]), default="ctree", show_default=True)
@click.option("--svg", is_flag=True, help="A picture of one sentence, instead of text of all.")
@click.option("--sentence", type=click.IntRange(1), help="Its number; of --svg 1 if it is not said.")
def draw(
    trees: Path,
    output: Path,
    head_rules: str,
    format_name: str | None,
    what: str,
    svg: bool,
    sentence: int | None,
) -> None:
    """Draws c-trees, crossing branches included, d-trees with their event indices, or both."""
    from d2c.trees.pictures import drawing

    route, last = Reduction("direct", head_rules), 1 if svg and not sentence else sentence
    treebank = read_treebank(trees, format_name, clean=True, marked=head_rules == "marked")
    with open_output(output) as stream:
        for number, ctree in enumerate(treebank, 1):
            if not last or number == last:
                stream.write(drawing(ctree, route.encode(ctree), what, svg) + "\n")
            if number == last:
                return
    if last:
        raise FormatError(file_name(trees), 0, last, "there is no such sentence")


@cli.command()
@click.argument("trees", type=FilePath)
@heads_option
@click.option("--format", "format_name", type=click.Choice(list(FORMATS)), help="[default: by the name]")
@click.option("--induce", type=FilePath, help="CoNLL-U over the same tokens: print the table it induces.")
@output_option
def heads(trees: Path, head_rules: str, format_name: str | None, induce: Path | None, output: Path) -> None:
    """Shows for which nodes of a treebank head rules find the head child by its label, which take a child by
    its place alone, and which no rule covers (default). Or, with `--induce`, makes a table of head rules."""
    from d2c.trees.head_coverage import head_coverage
    from d2c.trees.induced_heads import estimate_rules

    if induce:
        treebank = with_heads(read_treebank(trees, format_name, clean=True), induce)
        with open_output(output) as stream:
            stream.write(f"# Estimated by `d2c heads {trees} --induce {induce}`\n")
            stream.write(format_head_rules(estimate_rules(_shown(treebank, "trees"))))
        return
    if head_rules == "marked":
        raise click.UsageError("marked heads need no table, so there is no coverage to show")
    treebank = _shown(read_treebank(trees, format_name, clean=True), "trees")
    lines = head_coverage(treebank, load_head_rules(head_rules)).lines()
    with open_output(output) as stream:
        stream.writelines(line + "\n" for line in lines)


@cli.command()
@click.argument("model", type=click.Path(path_type=Path))
def info(model: Path) -> None:
    """Says what a model directory holds."""
    settings = models.read_settings(model)
    for name, value in settings.items():
        click.echo(f"{name:<14}{value}")
    parts = sorted((model / "route").rglob("*.json")) + [model / "dparser" / "dparser.json"]
    parts += [model / "tagger" / "tagger.json"] if "tagger" in settings else []
    for part in parts:
        file = part.relative_to(model)
        for name, value in read_json(part).items():
            shown = value
            if isinstance(value, list | dict):
                listed = len(value) <= 100 and all(isinstance(key, str) for key in value)
                shown = f"{len(value)}: {' '.join(sorted(value))}" if listed else len(value)
            click.echo(f"{'.'.join(file.parts[:-1])}.{name:<20}{shown}")
    size = sum(path.stat().st_size for path in model.rglob("*") if path.is_file())
    click.echo(f"{'size':<14}{size / 1e6:.1f} MB")


def _convert(
    work: Callable[[Any], Converted], parts: Iterable[Part], source: Path, output: Path, jobs: int
) -> Iterator[Converted]:
    """Converts the parts of a file and hands out what was counted; the output appears at the end."""
    # Trees hold no reference cycles; looking for some among so many small objects takes a tenth of the time.
    gc.set_threshold(1_000_000)
    sentences = 0
    with open_output(output) as out:
        for part in _shown(map_chunks(work, parts, jobs), "parts"):
            if part.error:
                raise part.error.after(sentences)
            out.write(part.text)
            sentences += part.sentences
            yield part
        if not sentences:
            raise FormatError(file_name(source), 1, 0, "no sentence found in this file")


def _shown(items: Iterable[Item], unit: str) -> Iterator[Item]:
    """The items, with a progress bar on a terminal."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return iter(tqdm(items, unit=f" {unit}", leave=False))
    return iter(items)


def _progress(progress: object) -> None:
    click.echo(str(progress), err=True)


def _report(repairs: Repairs) -> None:
    from d2c.compare.rows import repair_line

    click.echo(
        f"{repairs.sentences:,} sentences, {repairs.tokens:,} tokens, {repair_line(repairs)}", err=True
    )


cli.add_command(evaluate)


def main() -> None:
    """Runs the command; bad input ends it with one line and exit status 2, a closed pipe quietly with 1."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files are removed
    # Threads of OpenMP (torch's) that wait for each other would otherwise keep cores busy that others need:
    # where those are taken, training is ten times slower. It is read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from d2c.trees.scores.evalb import TooManyErrors

    try:
        cli.main(standalone_mode=True)
    except (FormatError, ModelError, TooManyErrors) as error:
        click.echo(f"d2c: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
