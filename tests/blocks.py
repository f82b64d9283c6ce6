"""Blocks of code in documents. A block of `text` right after another one is what that one prints.

They are run in this process.
"""

from __future__ import annotations

import importlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner

from d2c.commands.cli import cli

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:^<!-- ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```\n(\n```text\n(.*?)^```$)?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A block of code; mark: the comment before it; printed: what it should print, if that is said."""

    mark: str
    language: str
    code: str
    printed: str | None

    def lines(self) -> Iterator[str]:
        """The commands of a block of `sh`."""
        yield from filter(None, self.code.replace("\\\n", " ").splitlines())


def blocks(document: Path) -> list[Block]:
    return blocks_of(document.read_text(encoding="utf-8"))


def blocks_of(text: str) -> list[Block]:
    return [
        Block(mark, language, code, printed if follows else None)
        for mark, language, code, follows, printed in BLOCK.findall(text)
        if language != "text"
    ]


def trimmed(text: str) -> list[str]:
    """Lines without blanks at their ends and without empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def run(block: Block) -> str:
    """What a block prints. Lines of `sh` are pipes of `echo`, `grep` and `d2c`, with `<` and `>`."""
    if block.language == "python":
        with redirect_stdout(io.StringIO()) as stream:
            exec(compile(block.code, "<block>", "exec"), {"__name__": "__main__"})
        return stream.getvalue()
    assert block.language == "sh", f"{block.language} cannot be run:\n{block.code}"
    return "".join(map(run_line, block.lines()))


def run_line(line: str) -> str:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    words, passed = list(lexer), ""
    while words:
        end = words.index("|") if "|" in words else len(words)
        command, words = words[:end], words[end + 1 :]
        target = command.pop(command.index(">") + 1) if ">" in command else None
        command = [word for word in command if word != ">"]
        if "<" in command:
            at = command.index("<")
            passed = Path(command[at + 1]).read_text(encoding="utf-8")
            del command[at : at + 2]
        if command[0] == "echo":
            passed = " ".join(command[1:]) + "\n"
        elif command[0] == "grep":
            found = subprocess.run(command, input=passed, capture_output=True, text=True, check=True)
            passed = found.stdout
        else:
            program = cli if command[0] == "d2c" else None
            if command[0] == "python":
                program = script(REPOSITORY / command.pop(1))
            assert program, f"mark it as not run: {line}"
            arguments = [word.replace("python ", f"{sys.executable} ") for word in command[1:]]
            done = CliRunner().invoke(program, arguments, input=passed)
            assert done.exit_code == 0, f"{line}\n{done.output}{done.exception!r}"
            passed = done.stdout
        if target:
            Path(target).write_text(passed, encoding="utf-8")
            passed = ""
    return passed


def script(file: Path) -> click.Command:
    """The command that a script is."""
    assert file.is_file()
    name = ".".join(file.relative_to(REPOSITORY / "scripts").with_suffix("").parts)
    command = importlib.import_module(name).main
    assert isinstance(command, click.Command)
    return command
