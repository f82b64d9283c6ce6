"""The command `d2c`."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import click

from d2c import model as models
from d2c.chunked import map_chunks
from d2c.convert import Converted, Decode, Encode
from d2c.output import FORMATS as FORMATS_OF_OUTPUT
from d2c.statistics import Statistics
from d2c.tagging import TAGGERS, Tagging
from d2c.treebanks import WRITABLE, Reading, convert_treebank
from dparsers.protocol import DependencyParser
from reduction.encodings import ENCODINGS
from reduction.reduction import Reduction
from trees.errors import FormatError, ModelError
from trees.files import file_name, open_input, open_output, read_json
from trees.formats.brackets import bracket_chunks
from trees.formats.chunks import Chunk
from trees.formats.conllu import conllu_chunks, format_conllu, read_conllu
from trees.formats.treebanks import FORMATS, read_treebank
from trees.heads import load_head_rules
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
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="all cores", help="Processes."
)


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
            help="stanza, stanza:transition, spacy, udpipe, udpipe:SYSTEM, 'cmd:TRAIN;PARSE' (two shell "
            "commands), file:PREDICTED.conllu, or gold.",
        ),
        click.option("--format", "format_name", type=click.Choice(list(FORMATS)), help="Of the treebanks."),
        click.option("--move-punctuation", is_flag=True, help="Into the smallest constituent around it."),
        click.option("--traces", is_flag=True, help="Move antecedents to their traces: trees with gaps."),
        click.option(
            "--pruning",
            type=click.Choice(["none", "1", "2", "1+2"]),
            default="none",
            show_default=True,
            help="Of the chart: 1 rules by the head's tag, 2 the side of the next dependent.",
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

    Files: `-` is standard input or output, .gz is packed and unpacked. d-trees are in CoNLL-U. c-trees are
    in Penn Treebank brackets; `train`, `compare`, `convert`, `draw` and `heads` take other formats, too.
    """


@cli.command()
@click.argument("trees", type=FilePath)
@output_option
@encoding_option
@heads_option
@click.option("--raw", is_flag=True, help="Keep traces and function tags.")
@click.option("--stats", is_flag=True, help="Print labels, unaries, crossing arcs, ... to standard error.")
@jobs_option
def encode(
    trees: Path, output: Path, encoding: str, head_rules: str, raw: bool, stats: bool, jobs: int
) -> None:
    """c-trees in brackets → CoNLL-U with head-ordered labels in DEPREL."""
    if head_rules == "marked":
        raise FormatError(file_name(trees), 0, 0, "the format brackets marks no heads")
    work = Encode(Reduction(encoding, head_rules), file_name(trees), not raw, stats)
    statistics = Statistics()
    for part in _convert(work, trees, output, bracket_chunks, jobs):
        if part.statistics:
            statistics.add(part.statistics)
    if stats:
        click.echo("\n".join(statistics.lines()), err=True)


@cli.command()
@click.argument("conllu", type=FilePath)
@output_option
@click.option("-m", "--model", type=click.Path(path_type=Path), help="A trained model; it knows unaries.")
@click.option("--encoding", type=click.Choice(ENCODINGS), help="Without a model.  [default: direct]")
@jobs_option
def decode(conllu: Path, output: Path, model: Path | None, encoding: str | None, jobs: int) -> None:
    """CoNLL-U from any d-parser → c-trees in brackets. Repairs are counted on standard error.

    Without a model, unary nodes are recovered under the spine encoding only.
    """
    if model and encoding:
        raise click.UsageError("the model says the encoding; give one of --model and --encoding")
    route = models.load_route(model) if model else Reduction(encoding or "direct")
    repairs = Repairs()
    for part in _convert(Decode(route, file_name(conllu)), conllu, output, conllu_chunks, jobs):
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
@click.option(
    "--tagger",
    type=click.Choice([*TAGGERS, "none"]),
    default="none",
    show_default=True,
    help="Trained on the treebank's tags, for `parse` to read text.",
)
@click.option(
    "--tags",
    type=click.Choice(["gold", "predicted"]),
    default="gold",
    show_default=True,
    help="What d-parser and route learn from: the treebank's tags, or the tagger's by jackknifing.",
)
@click.option(
    "--jackknife", metavar="K", type=click.IntRange(2), help="Blocks of --tags predicted.  [default: 10]"
)
@training_options
def train(trees: Path, dev: Path, output: Path, route: str, checkpoints: Path | None, **options: Any) -> None:
    """Trains a d-parser and a route on a treebank of any format; traces and function tags are removed."""
    new = _new_route(route, options, checkpoints)
    dparser, reading = _new_dparser(options), _reading(options)
    tagging = _new_tagging(options)
    models.Model.train(route, new, *dparser, trees, dev, output, _progress, reading, tagging)
    click.echo(f"{output}: trained", err=True)


@cli.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", metavar="[INPUT]", type=FilePath, default="-")
@output_option
@click.option("--text", "kind", flag_value="text", help="INPUT is text with one sentence on each line.")
@click.option("--tokenized", "kind", flag_value="tokenized", help="The same, with blanks between tokens.")
@click.option("--split", "kind", flag_value="split", help="Free text; empty lines end paragraphs.")
@click.option("--to", type=click.Choice([*FORMATS_OF_OUTPUT]), default="brackets", show_default=True)
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read or written.")
@click.option("--device", help="cpu, cuda, ...  [default: cuda where there is one]")
def parse(
    model: Path, source: Path, output: Path, kind: str | None, to: str, strict: bool, device: str | None
) -> None:
    """Parses CoNLL-U (words and tags) or text into c-trees, or into d-trees with `--to conllu`.

    What cannot be read is left out and named on standard error. Text needs a model with a tagger.
    """
    from d2c.parsing import parse_file

    trained, refused = models.Model.load(model, device), 0

    def refuse(error: FormatError) -> None:
        nonlocal refused
        if strict:
            raise error
        refused += 1
        click.echo(f"d2c: {error}", err=True)

    with open_output(output) as stream:
        shown = partial(_shown, unit="sentences")
        repairs = parse_file(trained, source, kind or "conllu", to, stream, refuse, shown)
    if to != "conllu":
        _report(repairs)
    if refused:
        click.echo(f"{refused:,} left out", err=True)


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
    """Scores bracket files as EVALB does (a table per sentence, then the summary), discbracket files as
    disco-dop does, or CoNLL-U files."""
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
@click.option("--continuous", type=click.Choice(["raise", "split"]), help="Make trees with gaps continuous.")
@click.option("--merge", is_flag=True, help="Join what `--continuous split` split.")
def convert(source: Path, target: Path, **options: Any) -> None:
    """Rewrites treebanks: brackets, discbracket, export, TIGER XML, Alpino XML; reads Penn-historical and
    Sinica files, too. Brackets hold no gaps: say how to make such trees continuous.

    Names tell formats: *.discbracket, *.export, *.tiger.xml, *.alpino.xml, *.psd, *.sinica, *.conllu (each
    also with .gz); anything else is brackets. CoNLL-U becomes CoNLL-U without ranges and empty nodes; from
    trees to CoNLL-U and back go `encode` and `decode`.
    """
    kinds = [".conllu" in path.name for path in (source, target)]
    if kinds[0] != kinds[1] and "-" not in (str(source), str(target)):
        raise click.UsageError("use `d2c encode` and `d2c decode` between trees and CoNLL-U")
    with open_output(target) as stream:
        if any(kinds):
            stream.writelines(map(format_conllu, _shown(read_conllu(source), "sentences")))
        else:
            convert_treebank(source, target, stream, **options)


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
@training_options
def compare(
    trees: Path | None, dev: Path | None, output: Path | None, routes: tuple[str, ...], **options: Any
) -> None:
    """Trains on TREES, scores on DEV, prints one table. Without arguments: the bundled sample.

    Rows: every route on gold d-trees (the conversion alone) and on those of the d-parser, which is trained
    once, on the first route's labels; the best that constrained CKY could do with them (oracle). Then:
    whether routes differ by more than chance.
    """
    from d2c.compare import table_lines, train_and_compare

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
        rows = train_and_compare(train_file, dev_file, directory, new, dparser, _progress, reading)
    click.echo("\n".join(table_lines(rows)))


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
def heads(trees: Path, head_rules: str, format_name: str | None) -> None:
    """Shows for which nodes of a treebank head rules find the head child by its label, which take a child by
    its place alone, and which no rule covers (default)."""
    from trees.head_coverage import head_coverage

    if head_rules == "marked":
        raise click.UsageError("marked heads need no table, so there is no coverage to show")
    treebank = _shown(read_treebank(trees, format_name, clean=True), "trees")
    click.echo("\n".join(head_coverage(treebank, load_head_rules(head_rules)).lines()))


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


def _new_route(name: str, options: dict[str, Any], checkpoints: Path | None = None) -> models.Route:
    """A route from the options of `training_options`."""
    shared = (options[key] for key in ("encoding", "head_rules", "seed"))
    return models.make_route(name, *shared, pruning=options["pruning"], checkpoints=checkpoints)


def _reading(options: dict[str, Any]) -> Reading:
    """How treebanks are read; head rules `marked` are the treebank's own."""
    marked = options["head_rules"] == "marked"
    return Reading(options["format_name"], marked, options["traces"], options["move_punctuation"])


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


def _new_tagging(options: dict[str, Any]) -> Tagging | None:
    """The tagger that the options of `train` ask for."""
    predicted = options["tags"] == "predicted"
    if options["tagger"] == "none":
        if predicted:
            raise click.UsageError("--tags predicted needs --tagger stanza or --tagger spacy")
        return None
    parameters = {name: options[name] for name in ("preset", "device", "seed")}
    folds = (options["jackknife"] or 10) if predicted else 0
    return Tagging(options["tagger"], parameters, folds, options["head_rules"])


def _convert(
    work: Callable[[Chunk], Converted],
    source: Path,
    output: Path,
    cut: Callable[[Any], Iterator[Chunk]],
    jobs: int,
) -> Iterator[Converted]:
    """Converts a file and hands out what was counted; the output appears at the end."""
    # Trees hold no reference cycles; looking for some among so many small objects takes a tenth of the time.
    gc.set_threshold(1_000_000)
    sentences = 0
    with open_input(source) as stream, open_output(output) as out:
        for part in _shown(map_chunks(work, cut(stream), jobs), "chunks"):
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
    from trees.formats.discbracket import read_discbracket
    from trees.scores import disco

    parameters = disco.Parameters.read(params) if params else disco.Parameters.proper()
    parameters = replace(parameters, disc_only=disc_only or parameters.disc_only)
    scores = disco.evaluate(zip_longest(read_discbracket(gold), read_discbracket(guess)), parameters)
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
