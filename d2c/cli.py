"""The command `d2c`."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import click

from d2c import model as models
from d2c.chunked import map_chunks
from d2c.convert import Converted, Decode, Encode
from d2c.statistics import Statistics
from d2c.treebanks import CONTINUOUS, WRITABLE, Part, Reading, convert_treebank, with_heads
from dparsers.protocol import DependencyParser
from reduction.encodings import ENCODINGS
from reduction.reduction import Reduction
from trees.errors import FormatError, ModelError
from trees.files import file_name, open_output, read_json
from trees.formats.conllu import format_conllu, read_conllu, read_conllu_chunks
from trees.formats.treebanks import FORMATS, format_of, format_to_write, read_treebank, write_treebank
from trees.heads import format_head_rules, load_head_rules
from trees.repair import Repairs

Item = TypeVar("Item")
FilePath = click.Path(path_type=Path, allow_dash=True)

encoding_option = click.option(
    "--encoding", type=click.Choice(ENCODINGS), default="direct", show_default=True, help="Of the labels."
)
heads_option = click.option(
    "--head-rules",
    default="collins",
    show_default=True,
    help="A bundled table, leftmost, rightmost, marked (by the treebank), or a file.",
)
output_option = click.option(
    "-o", "--output", type=FilePath, default="-", show_default="standard output", help="- or a file (.gz)."
)
continuous_option = click.option(
    "--continuous",
    type=click.Choice(list(CONTINUOUS)),
    help="Make trees with gaps continuous; `convert --merge` joins what was split.",
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="all cores", help="Processes."
)


def to_option(formats: tuple[str, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """In which of these formats a command writes."""
    default = "[default: by the name, otherwise brackets, or discbracket for a model of trees with gaps]"
    return click.option("--to", type=click.Choice(formats), help=default)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how treebanks are read."""
    options = (
        click.option(
            "--format", "format_name", type=click.Choice(list(FORMATS)), help="[default: by the name]"
        ),
        click.option("--move-punctuation", is_flag=True, help="Into the smallest constituent around it."),
        click.option("--traces", is_flag=True, help="Move antecedents to their traces: trees with gaps."),
        continuous_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which route and which d-parser to train, and how."""
    options = (
        encoding_option,
        heads_option,
        click.option(
            "--dparser",
            metavar="NAME[:...]",
            default="stanza",
            show_default=True,
            help="stanza, stanza:transition, spacy, udpipe, udpipe:SYSTEM, 'cmd:TRAIN;PARSE' (two "
            "commands), file:PREDICTED.conllu, or gold.",
        ),
        reading_options,
        click.option(
            "--pruning",
            type=click.Choice(["none", "1", "2", "1+2"]),
            default="none",
            show_default=True,
            help="Of the chart: 1 rules by the head's tag, 2 the side of the next dependent.",
        ),
        click.option(
            "--jackknife",
            "folds",
            type=click.IntRange(2),
            help="Routes learn from d-trees that the d-parser predicts when it has learned from other folds.",
        ),
        click.option("--device", help="Stanza: cpu, cuda, ...  [default: cuda where there is one]"),
        click.option("--epochs", type=float, help="Passes over the training data, instead of the preset's."),
        click.option("--vectors", type=click.Path(path_type=Path, exists=True), help="Stanza: word vectors."),
        click.option("--charlm", nargs=2, type=click.Path(path_type=Path, exists=True), help="Stanza: two."),
        click.option("--transformer", help="Stanza: name or directory; a name is downloaded."),
        click.option("--seed", type=int, default=1, show_default=True),
    )
    for option in reversed(options):
        command = option(command)
    return command


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
    reading = _reading(options)
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
        to = to or _format_for(route, output)
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
    new = _new_route(route, options, checkpoints)
    dparser, reading = _new_dparser(options), _reading(options)
    folds = options["folds"] or 0
    models.Model.train(route, new, *dparser, trees, dev, output, _progress, reading, folds)
    click.echo(f"{output}: trained", err=True)


@cli.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("conllu", type=FilePath, default="-")
@output_option
@to_option((*WRITABLE, "conllu"))
@click.option("--device", help="cpu, cuda, ...  [default: cuda where there is one]")
def parse(model: Path, conllu: Path, output: Path, to: str | None, device: str | None) -> None:
    """Parses the tokens and tags (XPOS) of a CoNLL-U file into c-trees, or d-trees with `--to conllu`."""
    trained = models.Model.load(model, device)
    tokens = (dtree.tokens for dtree in _shown(read_conllu(conllu), "sentences"))
    repairs = Repairs()
    to = to or ("conllu" if ".conllu" in output.name else _format_for(trained.route, output))
    with open_output(output) as stream:
        if to == "conllu":
            stream.writelines(map(format_conllu, trained.dparser.parse(tokens)))
        else:
            write_treebank(trained.parse(tokens, repairs), to, stream, conllu)
    if to != "conllu":
        _report(repairs)


@cli.command()
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
    from trees.scores.evalb import Parameters, Totals, evaluate_files, report_lines

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
    from d2c.compare import table_lines, train_and_compare
    from d2c.report import write_report

    if trees and not dev:
        raise click.UsageError("give both TREES and DEV, or neither for the bundled sample")
    sample = resources.files("data") / "sample"
    new = {name: _new_route(name, options) for name in models.ROUTES if name in routes}
    dparser = _new_dparser(options)
    with (
        resources.as_file(sample) as files,
        tempfile.TemporaryDirectory() as scratch,
    ):
        train_file, dev_file = (trees or files / "train.mrg"), (dev or files / "dev.mrg")
        click.echo(f"training on {train_file}, scoring on {dev_file}", err=True)
        directory = output or Path(scratch)
        reading = _reading(options)
        treebanks, folds = (train_file, dev_file), options["folds"] or 0
        rows = train_and_compare(*treebanks, directory, new, dparser, _progress, reading, folds)
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
    from trees.pictures import drawing

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
    from trees.head_coverage import head_coverage
    from trees.induced_heads import estimate_rules

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


def _new_route(name: str, options: dict[str, Any], checkpoints: Path | None = None) -> models.Route:
    """A route from the options of `training_options`."""
    shared = (options[key] for key in ("encoding", "head_rules", "seed"))
    return models.make_route(name, *shared, pruning=options["pruning"], checkpoints=checkpoints)


def _reading(options: dict[str, Any]) -> Reading:
    """How treebanks are read; head rules `marked` are the treebank's own."""
    marked = options["head_rules"] == "marked"
    names = ("traces", "move_punctuation", "continuous")
    asked = {name: options[name] for name in names} | {"raw": options.get("raw", False)}
    return Reading(options["format_name"], marked, **asked)


def _format_for(route: models.Route, output: Path) -> str:
    """The format that the name of a file says; where it says none, one that holds the route's trees."""
    return format_to_write(output, "discbracket" if route.gaps_ else "brackets")


def _new_dparser(options: dict[str, Any]) -> tuple[str, DependencyParser]:
    """A d-parser, with its name, from the options of `training_options`."""
    dparser = models.make_dparser(
        options["dparser"],
        preset=options["preset"],
        vectors=options["vectors"],
        charlm=options["charlm"] or None,
        bert_model=options["transformer"],
        epochs=options["epochs"],
        device=options["device"],
        seed=options["seed"],
    )
    return options["dparser"].partition(":")[0], dparser


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
    from d2c.compare import repair_line

    click.echo(
        f"{repairs.sentences:,} sentences, {repairs.tokens:,} tokens, {repair_line(repairs)}", err=True
    )


def _print_disco(gold: Path, guess: Path, params: Path | None, disc_only: bool) -> None:
    from trees.scores import disco

    parameters = disco.Parameters.read(params) if params else disco.Parameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    gold_trees, guessed = (read_treebank(path, format_of(path, "discbracket")) for path in (gold, guess))
    scores = disco.evaluate(zip_longest(gold_trees, guessed), parameters)
    for line in disco.report_lines(scores, disco.Totals(), parameters.cutoff):
        sys.stdout.write(line + "\n")


def _print_attachment(gold: Path, guess: Path, punctuation: bool) -> None:
    from trees.scores.attachment import Attachment, score_attachment

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


def main() -> None:
    """Runs the command; bad input ends it with one line and exit status 2, a closed pipe quietly with 1."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files are removed
    from trees.scores.evalb import TooManyErrors

    try:
        cli.main(standalone_mode=True)
    except (FormatError, ModelError, TooManyErrors) as error:
        click.echo(f"d2c: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
