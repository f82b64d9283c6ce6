"""How many files and functions of d2c a reader meets in following one parse, or a model's name to the model.

    python scripts/benchmarks/followed.py [--names]

Prints how many functions of d2c the second `parser(text)` of `d2c.load("en-small")` calls, and in how many
files they are; and to how many functions, in how many files, the command `parse` gives the name of the model
or its directory, until the model is made. With --names it also prints the functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click

import d2c

_TEXT = "They saw the cat with glasses. She slept."
_ROOT = Path(d2c.__file__).parent
_NESTED = ("<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<module>")


@contextmanager
def profiled(heard: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Have Python's profiler call `heard` at each call and each return while the block runs."""
    sys.setprofile(heard)
    try:
        yield
    finally:
        sys.setprofile(None)


def place(code: CodeType) -> str:
    """Return the file of a function of d2c, below its folder; "" for any other function."""
    file = Path(code.co_filename)
    return str(file.relative_to(_ROOT)) if file.is_relative_to(_ROOT) else ""


def functions_of_a_call() -> set[tuple[str, str]]:
    """Return file and name of each function that a warm parser calls for a text."""
    parser, found = d2c.load("en-small"), set[tuple[str, str]]()
    parser(_TEXT)

    def heard(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name not in _NESTED and (file := place(code)):
            found.add((file, code.co_qualname))

    with profiled(heard):
        parser(_TEXT)
    return found


def handling_the_name() -> list[tuple[str, str]]:
    """Return file and name of each function that the command `parse` hands the name of a model, or the
    directory that has it, until the model is made."""
    from d2c.commands.cli import cli
    from d2c.models.model import Model
    from d2c.models.names import find

    found, made = dict[tuple[str, str], None](), False
    meant = {"en-small", Path("en-small"), find("en-small")}

    def named(value: object) -> bool:
        if isinstance(value, tuple | list):
            return any(map(named, value))
        return isinstance(value, str | Path) and value in meant

    def heard(frame: FrameType, event: str, _: Any) -> None:
        nonlocal made
        code = frame.f_code
        made = made or code is Model.__init__.__code__
        if event == "call" and not made and code.co_name not in _NESTED and (file := place(code)):
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(named(frame.f_locals.get(one)) for one in arguments):
                found[file, code.co_qualname] = None

    with profiled(heard):
        cli(["parse", "en-small", "/dev/null", "--text", "-o", "/dev/null"], standalone_mode=False)
    return [*found]


@click.command()
@click.option("--names", is_flag=True, help="Also print their names.")
def followed(names: bool) -> None:
    """Count the functions to be read to follow a parse, and to follow a model's name to the model."""
    for what, found in (
        ("a parse: functions", sorted(functions_of_a_call())),
        ("a model's name: functions", handling_the_name()),
    ):
        print(f"{what} {len(found)}, files {len({file for file, _ in found})}")
        for file, name in found if names else ():
            print(f"  {file}  {name}")


if __name__ == "__main__":
    followed()
