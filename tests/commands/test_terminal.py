"""What a terminal of 80 or 100 columns shows: tables that fit, and bars that share no line with anything."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands.test_cli import ok

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
COMMANDS = """
import sys
from d2c.commands.cli import cli, run
for command in {commands!r}:
    print("$", *command, flush=True)
    sys.argv = ["d2c", *command]
    assert run() == 0
    sys.stdout.flush()
"""


def screen(program: str, columns: int) -> tuple[str, list[str]]:
    """What a Python program writes to a terminal, and the lines that are seen in the end."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(sys.executable, [sys.executable, "-c", program])
    written = b""
    with suppress(OSError):  # says the end
        while more := os.read(terminal, 4096):
            written += more
    assert os.waitpid(process, 0)[1] == 0, written.decode()
    text = written.decode().replace("\x1b[0m", "")
    return text, [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]


def on_terminal(commands: Sequence[Sequence[str | Path]], columns: int) -> dict[str, list[str]]:
    """What each command shows."""
    words = [[*map(str, command)] for command in commands]
    _, lines = screen(COMMANDS.format(commands=words), columns)
    found = dict[str, list[str]]()
    for line in lines[:-1]:
        if line.startswith("$ "):
            found[line[2:].split(" ")[0] + f" {len(found)}"] = shown = []
        else:
            shown.append(line)
    return found


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Gold, and a guess without adverb phrases, in a directory with a long name."""
    directory = tmp_path_factory.mktemp("trees")
    gold, guess = directory / "gold.mrg", directory / f"{'guess-' * 12}.mrg"
    text = "".join(SAMPLE.read_text().splitlines(keepends=True)[:40])
    gold.write_text(text)
    guess.write_text(text.replace("(NP (PRP", "(NX (PRP"))
    return gold, guess


@pytest.mark.parametrize("columns", [80, 100])
def test_tables_fit(trees: tuple[Path, Path], columns: int) -> None:
    gold, guess = trees
    commands: list[list[str | Path]] = [
        ["models"],
        ["models", "en-small"],
        ["info", "en-small"],
        ["evaluate", gold, guess],
        ["evaluate", gold, guess, gold],
        ["phrases", gold, guess, "--count"],
        ["search", "NP", gold, "--also", "VP < (NP $ PP)", "--count"],
        ["search", "NP=whole < (NP=part $ PP=other)", gold],
        ["phrases", gold, "--label", "NP", "--head"],
        ["heads", gold],
    ]
    found = on_terminal(commands, columns)
    assert len(found) == len(commands)
    for name, lines in found.items():
        assert lines and not [line for line in lines if len(line) > columns], name
    assert not [name for name, lines in found.items() if any("\t" in line for line in lines)]


def test_counts_are_aligned(trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal only: in a pipe tabs part the columns, as in a file."""
    monkeypatch.chdir(trees[0].parent)
    command = ["search", "NP", "gold.mrg", "--also", "VP < (NP $ PP)", "--count"]
    (shown,) = on_terminal([command], 80).values()
    assert shown == [
        "gold.mrg: 40 sentences, 433 words",
        "pattern         matches  sentences_with  per_1000_words",
        "NP                  163              40          376.44",
        "VP < (NP $ PP)       11              11           25.40",
    ]
    assert ok(*command).stdout.splitlines() == [
        "file\tpattern\tmatches\tsentences_with\tsentences\twords\tper_1000_words",
        "gold.mrg\tNP\t163\t40\t40\t433\t376.44",
        "gold.mrg\tVP < (NP $ PP)\t11\t11\t40\t433\t25.4",
    ]
    assert ok(*command, "--to", "columns").stdout.splitlines() == shown


MANY_ROWS = """
from pathlib import Path
from d2c.commands.progress import shown
from d2c.commands.terminal import printing_above_bars
with printing_above_bars():
    for row in shown(range(2000), "trees", "reading", [Path("none")]):
        print("row", row)
"""


def test_bars_are_drawn_from_time_to_time_only() -> None:
    written, lines = screen(MANY_ROWS, 80)
    assert lines[:-1] == [f"row {row}" for row in range(2000)]
    assert 1 <= written.count("trees") < 60


def test_no_bar_stands_beside_a_pipe() -> None:
    command = f"{sys.executable} -m d2c phrases --label NP {SAMPLE} | head -n 3"
    written, _ = screen(f"import os; os.execv('/bin/sh', ['sh', '-c', {command!r}])", 200)
    assert len(written.splitlines()) == 3 and "trees" not in written
