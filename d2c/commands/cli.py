"""The command `d2c`. Each of its commands is in a file of its name, and has a line in COMMANDS."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

import click

from d2c.trees.errors import FormatError, ModelError

COMMANDS = (
    *("compare", "train", "parse", "encode", "decode", "evaluate"),
    *("convert", "draw", "heads", "info"),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="d2c", prog_name="d2c", message="%(prog)s %(version)s")
def cli() -> None:
    """Constituency parsing with an off-the-shelf dependency parser.

    Files: `-` is standard input or output, .gz is packed and unpacked. d-trees are in CoNLL-U, c-trees in
    Penn Treebank brackets or another treebank format, which the name of the file says (see `convert`).
    """


for name in COMMANDS:
    cli.add_command(getattr(import_module(f"d2c.commands.{name}"), name))


def main() -> None:
    """Runs the command; bad input ends it with one line and exit status 2, a closed pipe quietly with 1."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files are removed
    # Threads of OpenMP (torch's) that wait for each other would otherwise keep cores busy that others need:
    # where those are taken, training is ten times slower. It is read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from d2c.trees.scores.evalb.evaluate import TooManyErrors

    try:
        cli.main(standalone_mode=True)
    except (FormatError, ModelError, TooManyErrors) as error:
        for line in str(error).splitlines():
            click.echo(f"d2c: {line}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
