"""The command `d2c`. Each of its commands is in a file of its name, and has a line in COMMANDS."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from io import StringIO

import click

from d2c.base.errors import FormatError, ModelError, ParameterError, TooManyErrors
from d2c.commands.terminal import printing_above_bars, say

_NO_TREE = re.compile(r"expected '\(', found '(.)")

COMMANDS = {
    "combine": "Vote on the parses of several parsers.",
    "compare": "Train all routes on a treebank, score them on another.",
    "convert": "Rewrite treebanks from one format to another.",
    "corpus": "Parse files and directories into Parquet.",
    "decode": "Turn d-trees of any d-parser into c-trees.",
    "draw": "Draw c-trees and d-trees.",
    "encode": "Turn c-trees into d-trees that encode them.",
    "evaluate": "Score trees against gold trees, as EVALB does.",
    "heads": "Show how well head rules fit a treebank.",
    "info": "Show what a model directory holds.",
    "models": "List the models that have names.",
    "parse": "Parse text or CoNLL-U into c-trees.",
    "phrases": "List the phrases of trees.",
    "search": "Find patterns in trees, as Tregex does.",
    "serve": "Serve a page for parsing text, and a JSON API.",
    "train": "Train a d-parser and a route on a treebank.",
    "view": "Write an HTML page to look through trees.",
}


class Commands(click.Group):
    """The commands. A command's module is imported when the command is used, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of COMMANDS."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"d2c.commands.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="d2c-parser", prog_name="d2c", message="%(prog)s %(version)s")
def cli() -> None:
    """Parse constituents with an off-the-shelf dependency parser.

    In place of a file, `-` means standard input or output. Files called *.gz are compressed and decompressed.
    D-trees (dependency trees) are in CoNLL-U; c-trees (constituency trees) are in Penn Treebank brackets or
    another treebank format, which the file's name or content shows (see `convert`).
    """


def run(command: click.Command | None = None) -> int:
    """Run a command, by default `d2c` itself, and return its exit status: 2 after a message about an error
    that users can mend, 1 if the program that reads the output has gone."""
    try:
        with printing_above_bars():
            status = (command or cli).main(standalone_mode=False)
            sys.stdout.flush()
        return status or 0
    except click.ClickException as error:
        error.show(file=(shown := StringIO()))
        say(shown.getvalue().removesuffix("\n"))
        return error.exit_code
    except (FormatError, ModelError, TooManyErrors, ChildProcessError) as error:
        message = error.as_option() if isinstance(error, ParameterError) else str(error)
        for line in message.splitlines():
            say(f"d2c: {line}")
        first = isinstance(error, FormatError) and error.sentence == 1 and _NO_TREE.match(error.message)
        if first and first[1] == "{":
            say("d2c: is it JSON lines? draw, phrases, search and view read them with --format json")
        elif first:
            say("d2c: is it text? `d2c parse FILE --split -o trees.jsonl` makes trees; give those here")
    except BrokenPipeError:
        return 1
    except OSError as error:
        name = error.filename or "<stdout>"  # all others are named where they are opened
        say(f"d2c: {name}: {error.strerror or error}")
    except MemoryError:
        say("d2c: memory is short")
    return 2
