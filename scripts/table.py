"""The papers' tables and figures, made on any treebank.

    python scripts/table.py NAME... --train TREES --dev DEV [--test TEST] -o DIR [OPTIONS]

What takes long is kept in DIR: a run that was stopped goes on where it was, and tables share models.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from d2c.__main__ import main as run
from d2c.base.errors import FormatError, ModelError
from d2c.cky.settings import ChartSettings
from d2c.commands.options import (
    FilePath,
    choice,
    encoding_option,
    format_option,
    heads_option,
    move_punctuation_option,
    option_of,
)
from d2c.commands.progress import Heartbeat
from d2c.commands.terminal import say
from d2c.routes.dparsers import DPARSERS, TAGGERS, form_of, shortest
from d2c.routes.registry import RouteSettings
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Reading
from experiments.experiment import PARTS, Treebank
from experiments.packed_files import needs_parquet
from experiments.store import Store, StoredStep
from papers.experiment import TRAINING, PaperExperiment
from papers.page import TABLES, Section, make_table, write_section
from treebanks.files import read_treebanks

EVERY = "all"
CHART = ("labels", "binarization", "grammar", "symbols", "max_unaries")  # of `RouteSettings`

# What all tables of a run share: fields of `PaperExperiment`, and settings of a training.
OF_TABLES = ("dparsers", "penalty", "gamma", "chart")
OF_TRAINING = (*TRAINING, "encoding", "epochs", "device", "transformer", "seed")


def _dparsers(_: click.Context, parameter: click.Parameter, given: str) -> tuple[str, ...]:
    names = given.split(",")
    for name in names:
        if name.partition(":")[0] not in DPARSERS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(DPARSERS)}", param=parameter)
    return tuple(dict.fromkeys(map(shortest, names)))  # what is written in two ways is trained once


def _system(_: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in given]
    for name, _equals, file in pairs:
        if not (name and Path(file).is_file()):
            raise click.BadParameter(f"{name!r} is not NAME=FILE with a file that is there", param=parameter)
    return {name: Path(file) for name, _equals, file in pairs}


@click.command(epilog="Tables: " + "; ".join(f"{name}: {row.title}" for name, row in TABLES.items()))
@click.argument("names", nargs=-1, required=True, type=click.Choice([*TABLES, EVERY]), metavar="NAME...")
@click.option("--train", type=FilePath, help="The treebank file to learn from.")
@click.option("--dev", type=FilePath, help="The treebank file on which settings are chosen.")
@click.option("--test", type=FilePath, help="The treebank file for final results.  [default: --dev]")
@heads_option
@format_option
@move_punctuation_option
@click.option("--traces", is_flag=True, help="Move antecedents to their traces, which makes gaps.")
@click.option("--sentences", type=click.IntRange(1), help="Use this many of --train, drawn evenly by --seed.")
@click.option(
    "--treebanks",
    type=FilePath,
    help="A TOML file with a section for each treebank, for tables of several. Tables of one treebank use "
    "--train or, without it, the first section.",
)
@click.option(
    "--dparsers",
    default=PaperExperiment.dparsers[0],
    show_default=True,
    callback=_dparsers,
    metavar="NAME,...",
    help=f"D-parsers, separated by commas, of {', '.join(map(form_of, DPARSERS))}.",
)
@choice("--preset", ["default", "small"], TRAINING["preset"])
@option_of(TrainingSpec, "epochs")
@option_of(TrainingSpec, "device")
@option_of(TrainingSpec, "transformer")
@option_of(
    TrainingSpec,
    "tags",
    default=TRAINING["tags"],
    help="The tags to learn from; those of train are predicted by jackknifing.",
)
@choice("--tagger", TAGGERS, TRAINING["tagger"])
@option_of(
    TrainingSpec,
    "jackknife",
    "--folds",
    "jackknife",
    default=TRAINING["jackknife"],
    show_default=True,
    help="The number of folds for jackknifing.",
)
@encoding_option
@option_of(ChartSettings, "penalty", default=None, help="The chart's penalty λ.  [default: chosen by F1]")
@option_of(ChartSettings, "gamma", default=None, help="The γ of pruning.  [default: chosen by F1]")
@click.option("--labels", is_flag=True, default=None, help="Chart: use labels as features, as for PAD's CTB.")
@option_of(ChartSettings, "binarization")
@option_of(ChartSettings, "grammar")
@option_of(ChartSettings, "symbols")
@option_of(ChartSettings, "max_unaries")
@option_of(TrainingSpec, "seed")
@click.option(
    "--system",
    "systems",
    multiple=True,
    callback=_system,
    metavar="NAME=FILE",
    help="A file of another system's trees, to score beside d2c's; may be repeated.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="The output directory.")
def main(names: tuple[str, ...], out: Path, treebanks: Path | None, **options: Any) -> int:
    """Make tables and figures of the papers on your treebank, each as CSV, Markdown and a picture, and one
    page with all of them (tables.md).

    What takes long is kept in OUT, so that a run that was stopped continues where it was, and tables share
    models. If one of several tables cannot be made, for want of a package, say, the others still are; the
    exit status is then 2.
    """
    needs_parquet()  # before hours of work whose d-trees are kept
    many = read_treebanks(treebanks) if treebanks else []
    if options["systems"] and not options["train"]:
        raise click.UsageError("--system is of --train; those of --treebanks stand there")
    one = [_treebank(options)] if options["train"] or options["dev"] or not many else many[:1]
    chosen = [replace(treebank, seed=options["seed"]) for treebank in (*one, *many)]
    default = RouteSettings()
    options["chart"] = {name: options[name] for name in CHART if options[name] != default.value_of(name)}
    shared = {name: options[name] for name in (*OF_TABLES, *OF_TRAINING)}
    with Heartbeat() as heartbeat:
        store = Store(out / "steps")
        single, *several = (PaperExperiment.of(treebank, store, **shared) for treebank in chosen)
        steps = dict[str, StoredStep]()
        wanted, failed = TABLES if EVERY in names else dict.fromkeys(names), list[str]()
        own = {str(path) for treebank in chosen for path in treebank.files.values()}
        for name in wanted:
            heartbeat.say(f"{name}: {TABLES[name].title}")
            store.used.clear()
            try:
                made = make_table(name, single, several or [single])
                steps |= store.used
                minutes = sum(step.seconds for step in steps.values()) / 60
                section = Section(name, made, f"python scripts/table.py {name}{_said()}", store.seconds / 60)
                write_section(section, out, minutes, options["tags"])
            except (ModelError, FormatError, ChildProcessError) as error:
                if len(wanted) == 1 or getattr(error, "file", None) in own:  # no table can be made
                    raise
                heartbeat.say(f"d2c: {name}: {error}")
                failed.append(name)
            else:
                click.echo(made.markdown() + "\n")
    if failed:
        say(f"d2c: {len(failed)} of {len(wanted)} tables could not be made: {', '.join(failed)}")
    return 2 if failed else 0


def _said() -> str:
    """Return the options that were given, with names of files alone: other machines have other folders."""
    context, words = click.get_current_context(), list[str]()
    for option in context.command.params:
        given, name = context.params.get(option.name or ""), option.opts[-1]
        if context.get_parameter_source(option.name or "") is not ParameterSource.COMMANDLINE:
            continue
        if isinstance(given, Mapping):
            words += [word for key, path in given.items() for word in (name, f"{key}={path.name}")]
        elif name.startswith("--") and name != "--out":
            text = ",".join(given) if isinstance(given, tuple) else getattr(given, "name", str(given))
            words += [name] if given is True else [name, text]
    return f" {shlex.join(words)}" if words else ""


def _treebank(options: dict[str, Any]) -> Treebank:
    """Return the treebank of the options. Raises UsageError where files are missing."""
    files = {part: options[part] for part in PARTS if options[part]}
    if not {"train", "dev"} <= set(files):
        raise click.UsageError("give --train and --dev, or --treebanks")
    reading = Reading(
        options["format_name"],
        marked=options["head_rules"] == "marked",
        traces=options["traces"],
        move_punctuation=options["move_punctuation"],
    )
    name = files["train"].name.partition(".")[0]
    rest = {"sentences": options["sentences"], "systems": options["systems"]}
    return Treebank(name, files, options["head_rules"], reading, **rest)


if __name__ == "__main__":
    run(main)
