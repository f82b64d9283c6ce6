"""The command `d2c`. Each of its commands is in a file of its name, and has a line in COMMANDS."""

from __future__ import annotations

import sys
from importlib import import_module
from io import StringIO

import click

from d2c.base.errors import FormatError, ModelError
from d2c.commands.terminal import say

COMMANDS = (
    *("compare", "train", "tune", "parse", "corpus", "encode", "decode", "evaluate", "combine"),
    *("convert", "draw", "view", "heads", "phrases", "info", "models"),
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


def run(command: click.Command | None = None) -> int:
    """Run a command, `d2c` itself unless said, and return its exit status: 2 after one line for what users
    can mend, 1 where whoever reads the output has gone."""
    from d2c.trees.scores.evalb import TooManyErrors

    try:
        status = (command or cli).main(standalone_mode=False)
        sys.stdout.flush()
        return status or 0
    except click.ClickException as error:
        error.show(file=(shown := StringIO()))
        say(shown.getvalue().removesuffix("\n"))
        return error.exit_code
    except (FormatError, ModelError, TooManyErrors, ChildProcessError) as error:
        for line in str(error).splitlines():
            say(f"d2c: {line}")
    except BrokenPipeError:
        return 1
    except OSError as error:
        name = error.filename or "<stdout>"  # all others are named where they are opened
        say(f"d2c: {name}: {error.strerror or error}")
    except MemoryError:
        say("d2c: memory is short")
    return 2
