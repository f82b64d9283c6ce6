"""The settings of a route, tried on a held-out tenth of the training treebank.

    python scripts/tune.py TREES... --route ROUTE -o LOG [OPTIONS]

Options are those of `d2c train`, and what is to be tried. The last line that is printed has the best settings
as options of `d2c train`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from d2c.__main__ import main as run
from d2c.commands.options import choice, training_options, trees_argument
from d2c.commands.progress import Heartbeat
from d2c.commands.train import train
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from experiments.packed_files import needs_parquet
from experiments.store import Store
from experiments.tuning import Trials, choose, lines, of_route, opened

_KEPT = ".steps"  # ends the name of the folder, beside the log, with d-trees and scores


@click.command()
@trees_argument
@click.option(
    "-o", "--output", "log", type=click.Path(path_type=Path), required=True, help="The log of the trials."
)
@choice("--preset", ["default", "small"], "default")
@choice("--route", ROUTES, "reduction")
@click.option(
    "--try",
    "named",
    multiple=True,
    metavar="OPTION[=VALUE,...]",
    help="Try these values of an option of `train`, or d2c's own list of values; may be repeated.  [default: "
    "all options with such a list]",
)
@click.option("--trials", type=click.IntRange(1), default=20, show_default=True, help="The most trials.")
@click.option("--sentences", type=click.IntRange(1), help="Use only this many of TREES, drawn evenly.")
@training_options("checkpoints", "labels", "unlabelled", "language", "arcs", "overwrite")
def main(
    trees: tuple[Path, ...],
    log: Path,
    route: str,
    named: tuple[str, ...],
    trials: int,
    sentences: int | None,
    reading: Reading,
    **options: Any,
) -> None:
    """Try settings of a route and its d-parser on the last tenth of TREES, and print the best ones as
    options of `d2c train`.

    One option is tried at a time, with the others at their best values so far, beginning with those given
    here. Trials in the log are not repeated: the same command continues where it was stopped. With
    --tags predicted, predicted tags are used for training and parsing.
    """
    needs_parquet()  # before hours of work whose d-trees are kept
    context = click.get_current_context()
    values, kept = _values(context, route, named), Path(f"{log}{_KEPT}")
    files = reading.files(trees)
    spec = TrainingSpec.of(files, files, (route,), reading, **options)
    of_given = Trials(spec, sentences, Store(kept))
    described = partial(_written, context, defaults=True)
    try:
        with Heartbeat() as heartbeat, opened(log) as logged:
            tuned = choose(of_given, values, logged, trials, heartbeat.say, described)
    finally:
        with suppress(OSError):
            kept.rmdir()  # where it is empty
    click.echo("\n".join(lines(tuned)))
    click.echo(_written(context, {**_given(context), **tuned.best.settings}))


def _values(context: click.Context, route: str, named: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    """Return the values to try of each setting. Raises UsageError, FormatError for unknown ones."""
    tunable, options = of_route(route), {_name(option): option for option in train.params}
    if not named:
        return {name: row.values for name, row in tunable.items() if row.values}
    found = dict[str, tuple[Any, ...]]()
    for text in named:
        name, equals, said = text.partition("=")
        option = options.get(name)
        if option is None or option.name not in tunable:
            known = ", ".join(name for name, one in options.items() if one.name in tunable)
            raise click.UsageError(f"--try {name}: the route {route} has no such setting; it has {known}")
        values = [option.process_value(context, value) for value in said.split(",")] if equals else []
        found[str(option.name)] = tuple(values) or tunable[option.name].values
        if not found[option.name]:
            raise click.UsageError(f"--try {name}: name its values, as in {name}=A,B")
    for table in found.get("head_rules", ()):
        load_head_rules(table)
    return {name: found[name] for name in tunable if name in found}


def _name(option: click.Parameter) -> str:
    return option.opts[-1].removeprefix("--")


def _given(context: click.Context) -> dict[str, Any]:
    """Return the options of this command that `train` has, too."""
    shared = {str(option.name) for option in train.params} & context.params.keys()
    return {name: context.params[name] for name in shared}


def _written(context: click.Context, settings: Mapping[str, Any], defaults: bool = False) -> str:
    """Return settings as options of `train`; defaults: also those with its default values."""
    words = list[str]()
    for option in train.params:
        value = settings.get(str(option.name))
        if option.param_type_name == "argument" or value is None:
            continue
        if value == option.get_default(context) and not defaults:
            continue
        if isinstance(value, bool):
            words.append(option.opts[-1] if value else option.secondary_opts[-1])
        else:
            words += [option.opts[-1], *map(str, value if isinstance(value, tuple) else (value,))]
    return shlex.join(words)


if __name__ == "__main__":
    run(main)
