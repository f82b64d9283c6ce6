"""Options that several commands share, with the values that they give to commands."""

from __future__ import annotations

import codecs
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Any

import click
from click.core import ParameterSource

from d2c.base.counting import many
from d2c.base.errors import Faults, FormatError, ModelError
from d2c.base.files import check_output
from d2c.base.inputs import ending_of, is_called, names_of
from d2c.base.settings import Settings, named_fields, told_of, types_of
from d2c.base.tables import TABLES
from d2c.commands.terminal import Skipped, say
from d2c.models.model import read_model_settings
from d2c.models.names import find
from d2c.routes.dparsers import TAGGERS
from d2c.routes.registry import CHART_OPTIONS, ROUTES
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.conllu import CONLLU
from d2c.trees.formats.format import OUTSIDE
from d2c.trees.formats.reading import CONTINUOUS, Reading
from d2c.trees.formats.registry import FORMATS, treebank_called
from d2c.trees.marks import NOTHING_MARKED

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

# Sections in the help of commands with many options: names of parameters. Options in no section come first.
_SECTIONS = {
    "D-parser and tagger": (
        "dparser unlabelled tagger tags arcs jackknife epochs transformer vectors charlm device timeout "
        "checkpoints parse_command allow_pipeline"
    ),
    "Labels of d-trees (reduction, labeler, combined)": "encoding constrained",
    "Chart (cky, combined)": (
        "labels chart_epochs penalty table_bits binarization grammar symbols arc_labels pruning gamma "
        "max_unaries"
    ),
    "What the input is, and how it is read": (
        "kind language format_name text_field id_field head_rules move_punctuation traces continuous raw "
        "charset n_best"
    ),
    "Processes and batches": "jobs batch_size max_words workers address backend shard_size patience",
    "Errors and interruptions": "resume retry_failed strict max_errors skip_bad",
}

PAGES, _DTREES = (".html", ".htm"), (*CONLLU.suffixes, ".txt")  # endings of what is written
FilePath = click.Path(path_type=Path, allow_dash=True)
trees_argument = click.argument("trees", type=FilePath, nargs=-1, required=True)


class Sectioned(click.Command):
    """A command whose help has its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, those in no section first."""
        told = defaultdict[str, list[tuple[str, str]]](list)
        for one in self.get_params(ctx):
            if isinstance(one, click.Option) and (row := one.get_help_record(ctx)):
                told[str(one.name)].append(row)
        named = {title: names.split() for title, names in _SECTIONS.items()}
        first = [name for name in told if not any(name in names for names in named.values())]
        for title, names in ({"Options": first} | named).items():
            if rows := [row for name in names for row in told.get(name, ())]:
                with formatter.section(title):
                    formatter.write_dl(rows)


def check_ending(output: Path, known: tuple[str, ...]) -> None:
    """Raise FormatError for a name whose ending, apart from .gz, is not one of the known ones."""
    if ending_of(output) and not is_called(output, known):
        message = f"nothing is written here that is called so; known endings are {' '.join(known)}"
        raise FormatError(str(output), 0, 0, message)


def check_dtrees(output: Path) -> None:
    """Raise FormatError for a name that shows another format than CoNLL-U with d-trees."""
    check_ending(output, _DTREES)
    if treebank_called(output):
        raise FormatError(str(output), 0, 0, "this name is for c-trees; files of d-trees are called *.conllu")


def check_report(path: Path) -> None:
    """Raise FormatError for a report that does not have the name of a page, or that cannot be written."""
    check_ending(path, PAGES)
    check_output(path)


def choice(name: str, values: Iterable[str], default: str, help: str | None = None) -> Decorator:
    """Return an option whose value is one of some names."""
    return click.option(name, type=click.Choice(list(values)), default=default, show_default=True, help=help)


def preset_option(default: str) -> Decorator:
    """Return the option that says how large the d-parser and tagger are, and how long they learn."""
    says = (
        "The size and schedule of the training. default: each library's own network and number of passes; "
        "Stanza's are meant for GPUs. small: a smaller network for Stanza, and fewer passes (spaCy 10 "
        "instead of 30, transition 4 instead of 10), which take minutes on two cores."
    )
    return choice("--preset", ["default", "small"], default, says)


def format_of_trees(*others: str, also: tuple[str, ...] = ()) -> Decorator:
    """Return the option for the format of treebanks that are read, one of FORMATS or of others.

    also: other names of the option
    """
    named = click.Choice([*FORMATS, *others])
    told = f"The format of the input: {', '.join(named.choices)}.  [default: by name and content]"
    return click.option("--format", *also, "format_name", type=named, metavar="FORMAT", help=told)


def kind_option(kind: str, says: str) -> Decorator:
    """Return a flag that sets the command's `kind` of input; of several such flags, one at most may be
    given."""
    own: dict[str, Any] = {"flag_value": kind, "multiple": True, "callback": _one_kind, "help": says}
    return click.option(f"--{kind}", "kind", **own)


def _one_kind(
    _context: click.Context, _option: click.Parameter, kinds: Sequence[str] | str | None
) -> str | None:
    given = dict.fromkeys([kinds] if isinstance(kinds, str) else kinds or ())
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(f'--{kind}' for kind in given)} do not go together.")
    return next(iter(given), None)


def finite(_context: click.Context, _option: click.Parameter, number: float | None) -> float | None:
    """Refuse inf and nan, which FloatRange accepts: the callback of an option."""
    if number is not None and not math.isfinite(number):
        raise click.BadParameter(f"{number} is not a finite number.")
    return number


def option_of(settings: type[Settings], name: str, *called: str, **changes: Any) -> Decorator:
    """Return the option of a field of settings, or of those nested in them, with its default, range, choices
    and help.

    name:    the name under which the field is set, see `named_fields`
    called:  the names of the option and its parameter, if they differ from that
    changes: arguments of `click.option` that differ
    """
    owner, own = named_fields(settings)[name]
    told, default = told_of(owner, own), getattr(owner, own)
    flag, parameter = called or (f"--{name.replace('_', '-')}", name)
    kind, *others = (one for one in types_of(owner)[own] if one is not NoneType)
    bounds: dict[str, Any] = {"min": told.least, "max": told.most}
    arguments: dict[str, Any] = {"default": default, "help": told.help, "metavar": told.metavar}
    arguments["show_default"] = default is not None and kind is not bool
    if told.choices:
        arguments["type"] = click.Choice(told.choices)
    elif float in others:
        if told.above is not None:
            bounds |= {"min": told.above, "min_open": True}
        arguments |= {"type": click.FloatRange(**bounds), "callback": finite}
    elif kind is int:
        arguments["type"] = click.IntRange(**bounds)
    elif kind is bool:
        arguments["is_flag"] = True
        flag = flag if default is False else f"{flag}/--no-{flag.removeprefix('--')}"
    elif kind in (Path, tuple):
        arguments |= {"type": click.Path(path_type=Path, exists=True), "nargs": 1 if kind is Path else 2}
    return click.option(flag, parameter, **{**arguments, **changes})


encoding_option = option_of(TrainingSpec, "encoding")
heads_option = option_of(TrainingSpec, "head_rules")
table_option = click.option(
    "--to",
    type=click.Choice([*TABLES]),
    help="The format of the output: a table with a line of column names, or JSON lines.  [default: by the "
    "output's name; without an ending, columns on a terminal and tsv elsewhere]",
)
format_option = format_of_trees()
output_option = click.option(
    "-o",
    "--output",
    type=FilePath,
    default="-",
    show_default="standard output",
    help="The output file (.gz, too), or - for standard output.",
)
continuous_option = click.option(
    "--continuous",
    type=click.Choice(list(CONTINUOUS)),
    help="Make trees with gaps continuous by raising or splitting nodes; `convert --merge` joins what was "
    "split.",
)
move_punctuation_option = click.option(
    "--move-punctuation",
    is_flag=True,
    help="Attach each punctuation mark to the smallest constituent around it.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="The number of processes.",
)
arcs_option = option_of(
    TrainingSpec,
    "arcs",
    default=None,
    show_default=False,
    help=f"{told_of(TrainingSpec, 'arcs').help}  [default: as in training]",
)
timeout_option = option_of(TrainingSpec, "timeout")
language_option = option_of(TrainingSpec, "language")


def model_called(name: Path, what: str) -> Path:
    """Return the directory of a model that is given by its directory or name. Raises a ModelError that begins
    with `what`, the option or argument."""
    try:
        read_model_settings(directory := find(name))
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
    return directory


def model_path(context: click.Context, parameter: click.Parameter, name: Path | None) -> Path | None:
    """Return a model's directory, as `model_called` does: the callback of an argument or option."""
    return None if name is None else model_called(name, parameter.get_error_hint(context))


def to_option(
    formats: Sequence[str], otherwise: str = "brackets, or discbracket for a model of trees with gaps"
) -> Decorator:
    """Return an option that says in which of these formats a command writes.

    otherwise: the help's words for the format if neither the option nor a name shows one
    """
    told = f"The format of the output.  [default: by the output's name, otherwise {otherwise}]"
    return click.option("--to", type=click.Choice(formats), help=told)


def faults_options(command: Command) -> Command:
    """Add the options that say what becomes of files with errors. The command gets `faults`."""

    @wraps(command)
    def with_faults(max_errors: int, skip_bad: bool, **options: Any) -> None:
        skipped = Skipped(max_errors)
        click.get_current_context().call_on_close(skipped.report)
        command(faults=Faults(max_errors, skipped if skip_bad else None, skipped), **options)

    options: tuple[Decorator, ...] = (
        click.option(
            "--max-errors",
            type=click.IntRange(1),
            default=10,
            show_default=True,
            help="Print at most this many errors for each file, one per line, and count the others.",
        ),
        click.option(
            "--skip-bad", is_flag=True, help="Skip sentences that cannot be read, but report and count them."
        ),
    )
    return _with(options, with_faults)


def _report_outside(reading: Reading) -> None:
    """Print how many lines of each file were passed over because they belong to no tree."""
    for file, left_out in reading.left_out.items():
        if lines := left_out[OUTSIDE]:
            say(f"{file}: passed over {many(lines, 'line')} outside of trees; --strict refuses them")


def _known_charset(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    try:
        return name and codecs.lookup(name).name
    except LookupError:
        raise click.BadParameter(f"{name} is not a known encoding; latin-1 and cp1252 are two.") from None


charset_option = click.option(
    "--charset", callback=_known_charset, help="The encoding of files that are not UTF-8, such as latin-1."
)
raw_option = click.option("--raw", is_flag=True, help="Keep traces, function tags and indices.")


def file_options(command: Command) -> Command:
    """Add the options that say how files of trees are read. The command gets a `reading` made of them; with
    head rules `marked`, heads are those that the treebank marks."""

    @wraps(command)
    def with_reading(**options: Any) -> None:
        given = {field.name: options.pop(field.name) for field in fields(Reading) if field.name in options}
        reading = Reading(marked=options.get("head_rules") == "marked", **given)
        if reading.raw and reading.traces:
            raise click.UsageError("--traces removes what --raw keeps; give only one of them")
        click.get_current_context().call_on_close(lambda: _report_outside(reading))
        command(reading=reading, **options)
        if reading.nothing_marked:
            message = f"{NOTHING_MARKED}; the leftmost child that is no punctuation was taken"
            say(f"{names_of(tuple(map(Path, reading.left_out)))}: {message}")

    options: tuple[Decorator, ...] = (
        click.option(
            "--strict",
            is_flag=True,
            help="Refuse lines outside trees and, in `convert`, anything that would be lost.",
        ),
        charset_option,
        click.option("--n-best", is_flag=True, help="Read all parses in n-best lists, not only the first."),
    )
    return _with(options, faults_options(with_reading))


def reading_options(command: Command) -> Command:
    """Add the options that say how treebanks are read, cleaned unless `--raw`."""
    return _with((raw_option,), file_options(command))


def treebank_options(command: Command) -> Command:
    """Add `reading_options`, and the options of commands that encode treebanks, head rules among them."""
    options: tuple[Decorator, ...] = (
        heads_option,
        format_option,
        move_punctuation_option,
        click.option(
            "--traces", is_flag=True, help="Move antecedents to the places of their traces, which makes gaps."
        ),
        continuous_option,
    )
    return _with(options, reading_options(command))


# Arguments of the options of training that their fields do not tell.
_TRAINING: dict[str, dict[str, Any]] = {
    "checkpoints": {"type": click.Path(path_type=Path)},
    "tagger": {
        "type": click.Choice([*TAGGERS, "none"]),
        "default": "none",
        "show_default": True,
        "callback": lambda _context, _option, name: None if name == "none" else name,
    },
}


def training_options(*without: str) -> Decorator:
    """Add options for all settings of `TrainingSpec.of` except those named, and `treebank_options`.

    The command has a `route`, or several `routes`.
    """

    def add(command: Command) -> Command:
        names = (
            name
            for name, (owner, own) in named_fields(TrainingSpec).items()
            if told_of(owner, own).help and name not in ("head_rules", *without)
        )
        options = [option_of(TrainingSpec, name, **_TRAINING.get(name, {})) for name in names]
        return _with((*options, treebank_options), _checked(command))

    return add


def _checked(command: Command) -> Command:
    """Refuse options of training that have no effect with the others."""

    @wraps(command)
    def checked(**options: Any) -> None:
        context, routes = click.get_current_context(), options.get("routes") or (options["route"],)
        for name in ("constrained", "labels", *CHART_OPTIONS):
            users = [one for one, row in ROUTES.items() if name in row.options]
            given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if given and not {*users} & {*routes}:
                message = f"means nothing for the route {' or '.join(routes)}, only for {' and '.join(users)}"
                raise click.UsageError(f"--{name.replace('_', '-')} {message}")
        if options["tagger"] is None and options["tags"] == "predicted":
            raise click.UsageError(f"--tags predicted needs --tagger {' or --tagger '.join(TAGGERS)}")
        command(**options)

    return checked


def _with(options: Sequence[Decorator], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
