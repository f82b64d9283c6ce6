"""Options that several commands share, and what they ask for."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from d2c.base.errors import Faults, ModelError
from d2c.commands.terminal import Skipped
from d2c.dparsers.registry import DPARSERS, TAGGERS, form_of
from d2c.linear.weights import MOST_BITS
from d2c.models.model import read_settings
from d2c.models.names import find
from d2c.reduction.encodings import ENCODINGS
from d2c.routes.registry import RouteSettings
from d2c.training.spec import ARCS
from d2c.treebanks.reading import CONTINUOUS, Reading
from d2c.trees.binarization import BINARIZATIONS, GRAMMARS, MOST_UNARIES
from d2c.trees.formats.treebanks import FORMATS, format_to_write
from d2c.trees.refinement import REFINEMENTS
from d2c.trees.route import Route

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

FilePath = click.Path(path_type=Path, allow_dash=True)


def choice(name: str, values: Iterable[str], default: str, says: str | None = None) -> Decorator:
    """An option that is one of some values; `says` is its help."""
    return click.option(name, type=click.Choice(list(values)), default=default, show_default=True, help=says)


encoding_option = choice("--encoding", ENCODINGS, "direct", "Of the labels.")
heads_option = click.option(
    "--head-rules",
    default="collins",
    show_default=True,
    help="A bundled table, leftmost, rightmost, marked (by the treebank), or a file.",
)
format_option = click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="[default: by the name]"
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
_OVER_ARCS = (
    "Over the d-parser's one d-tree, or over all its likely arcs, packed: in them cky looks for the best "
    "c-tree, labeler for the d-tree whose labels are surest."
)
arcs_option = click.option("--arcs", type=click.Choice(ARCS), help=f"{_OVER_ARCS}  [default: as in training]")
timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    help="End each run of a command of cmd:, or of UDPipe's training, after so long.  [default: never]",
)


transformer_option = click.option(
    "--transformer",
    metavar="DIRECTORY|NAME",
    help="Stanza's parser and tagger on this pretrained encoder, which learns with them (preset finetune). A "
    "name is downloaded.",
)


def model_path(context: click.Context, parameter: click.Parameter, directory: Path | None) -> Path | None:
    """The callback of an option or argument that is a model, by its directory or name.

    Raises ModelError that names the option.
    """
    if directory is not None:
        try:
            directory = find(directory)
            read_settings(directory)
        except ModelError as error:
            raise ModelError(f"{parameter.get_error_hint(context)}: {error}") from None
    return directory


language_option = click.option(
    "--language",
    metavar="CODE",
    help="Of text: spaCy's rules for it (de, zh, ...) find words and sentences.",
)


def finite(_context: click.Context, _option: click.Parameter, number: float | None) -> float | None:
    """The callback of an option whose range has no end: FloatRange takes inf and nan."""
    if number is not None and not math.isfinite(number):
        raise click.BadParameter(f"{number} is no number.")
    return number


def _of_chart(name: str, kind: click.IntRange | click.FloatRange, says: str) -> Decorator:
    """An option that is a number of `RouteSettings`, by its name and with its default."""
    default = getattr(RouteSettings, name.removeprefix("--").replace("-", "_"))
    check = finite if isinstance(kind, click.FloatRange) else None
    return click.option(name, type=kind, default=default, show_default=True, callback=check, help=says)


_GRAMMAR: tuple[Decorator, ...] = (
    choice(
        "--binarization", BINARIZATIONS, RouteSettings.binarization, "Chart: of nodes with many children."
    ),
    choice(
        *("--grammar", GRAMMARS, RouteSettings.grammar),
        "Chart: the rules of the treebank, or all that join what was seen with their parent.",
    ),
    choice(
        *("--symbols", REFINEMENTS, RouteSettings.symbols),
        "Chart: nonterminals with the parent's label, or for whole unary chains.",
    ),
    _of_chart(
        "--max-unaries",
        click.IntRange(0, MOST_UNARIES),
        "Chart: unary nodes between two attachments at most.",
    ),
)
chart_options: tuple[Decorator, ...] = (
    choice(
        *("--pruning", ["none", "1", "2", "1+2"], "none"),
        "Chart: 1 rules by the head's tag, 2 the side of the next dependent.",
    ),
    _of_chart(
        *("--gamma", click.FloatRange(0, 1)),
        "Chart: pruning 2 fixes the sides that are more probable than this.",
    ),
    _of_chart("--penalty", click.FloatRange(0), "Chart: λ, the L1 penalty of its weights."),
    _of_chart("--chart-epochs", click.IntRange(1), "Chart: passes over the treebank."),
    _of_chart(
        "--table-bits",
        click.IntRange(1, MOST_BITS),
        "Chart: it has 2^this weights, which features may share.",
    ),
    *_GRAMMAR,
)


def grammar_options(command: Command) -> Command:
    """The options that say what the chart's grammars are, by the names of `RouteSettings`."""
    return _with(_GRAMMAR, command)


def to_option(formats: Sequence[str]) -> Decorator:
    """In which of these formats a command writes."""
    default = "[default: by the name, otherwise brackets, or discbracket for a model of trees with gaps]"
    return click.option("--to", type=click.Choice(formats), help=default)


def faults_options(command: Command) -> Command:
    """The options that say what becomes of files with errors. The command gets `faults`."""

    @wraps(command)
    def with_faults(max_errors: int, skip_bad: bool, **options: Any) -> None:
        skipped = Skipped() if skip_bad else None
        if skipped:
            click.get_current_context().call_on_close(skipped.report)
        command(faults=Faults(max_errors, skipped), **options)

    options: tuple[Decorator, ...] = (
        click.option(
            "--max-errors",
            type=click.IntRange(1),
            default=10,
            show_default=True,
            help="Errors of a file that are shown, a line each.",
        ),
        click.option(
            "--skip-bad", is_flag=True, help="Leave out, name and count sentences that cannot be read."
        ),
    )
    return _with(options, with_faults)


def reading_options(command: Command) -> Command:
    """The options that say how treebanks are read. The command gets a `reading` of them; head rules `marked`
    are the treebank's own."""

    @wraps(command)
    def with_reading(**options: Any) -> None:
        asked = {field.name: options.pop(field.name) for field in fields(Reading) if field.name in options}
        command(reading=Reading(marked=options.get("head_rules") == "marked", **asked), **options)

    return faults_options(with_reading)


def treebank_options(command: Command) -> Command:
    """All `reading_options` of commands that encode treebanks, and where heads are."""
    options: tuple[Decorator, ...] = (
        heads_option,
        format_option,
        click.option("--move-punctuation", is_flag=True, help="Into the smallest constituent around it."),
        click.option("--traces", is_flag=True, help="Move antecedents to their traces: trees with gaps."),
        continuous_option,
    )
    return _with(options, reading_options(command))


_OF_DPARSERS: tuple[Decorator, ...] = (
    click.option(
        "--dparser",
        metavar="NAME[:...]",
        default="stanza",
        show_default=True,
        help=f"One of {', '.join(map(form_of, DPARSERS))}; some parameters may be left out. cmd: has two "
        "commands. `train --route cky` also takes d-trees of any convention, from a parser that is "
        "trained already: pipeline:spacy:NAME, pipeline:stanza:LANGUAGE, or "
        "'file:TRAIN.conllu;DEV.conllu'.",
    ),
    click.option("--device", help="Stanza: cpu, cuda, ...  [default: cuda where there is one]"),
    click.option("--epochs", type=float, help="Passes over the training data, instead of the preset's."),
    click.option(
        "--vectors", type=click.Path(path_type=Path, exists=True), help="Stanza, spaCy: word vectors."
    ),
    click.option("--charlm", nargs=2, type=click.Path(path_type=Path, exists=True), help="Stanza: two."),
    transformer_option,
    click.option("--seed", type=int, default=1, show_default=True),
    timeout_option,
)


def tuning_options(command: Command) -> Command:
    """The options that say how routes, d-parser and tagger learn, by the names of `TrainingSpec`."""

    @wraps(command)
    def checked(**options: Any) -> None:
        if options["tagger"] is None and options["tags"] == "predicted":
            raise click.UsageError(f"--tags predicted needs --tagger {' or --tagger '.join(TAGGERS)}")
        command(**options)

    options: tuple[Decorator, ...] = (
        encoding_option,
        *_OF_DPARSERS,
        treebank_options,
        *chart_options,
        click.option(
            "--tagger",
            type=click.Choice([*TAGGERS, "none"]),
            default="none",
            show_default=True,
            callback=lambda _context, _option, name: None if name == "none" else name,
            help="Trained on the treebank's tags, for `parse` to read text.",
        ),
        choice(
            *("--tags", ["gold", "predicted"], "gold"),
            "What d-parser and route learn from: the treebank's tags, or the tagger's by jackknifing.",
        ),
        click.option(
            "--jackknife",
            "folds",
            type=click.IntRange(2),
            help="Routes learn from d-trees that the d-parser predicts when it has learned from other folds. "
            "Also the folds of --tags predicted, which are 10 otherwise.",
        ),
    )
    return _with(options, checked)


def training_options(command: Command) -> Command:
    """All `tuning_options`, and those of models."""
    options: tuple[Decorator, ...] = (
        tuning_options,
        choice("--arcs", ARCS, ARCS[0], _OVER_ARCS),
        click.option("--overwrite", is_flag=True, help="Replace models of -o when the new ones are whole."),
    )
    return _with(options, command)


def _with(options: Sequence[Decorator], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def format_for(route: Route, output: Path) -> str:
    """The format that the name of a file says; where it says none, one that holds the route's trees."""
    return format_to_write(output, "discbracket" if route.gaps_ else "brackets")
