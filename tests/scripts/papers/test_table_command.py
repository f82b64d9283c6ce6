"""`python scripts/table.py` as users run it, on pieces of the bundled sample and with gold d-trees."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from d2c.base.errors import ModelError
from d2c.commands.cli import run
from d2c.trees.formats.brackets import read_brackets, save_brackets
from papers import page as pages
from papers.experiment import PaperExperiment
from papers.table import Table
from table import main

REPOSITORY = Path(__file__).parents[3]
SAMPLE = REPOSITORY / "data" / "sample"
QUICK = ("--penalty", "0", "--gamma", "0.95")  # as chosen: nothing is tuned
Say = tuple[int, str, str]
# The script, killed when so many steps are made.
KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv.pop(1))
from d2c.__main__ import main
from experiments.store import Store
made, make = int(sys.argv.pop(1)), Store._make
def counting(self, directory, *arguments):
    make(self, directory, *arguments)
    if len([*self.directory.glob("[!.]*")]) == made:
        os.kill(os.getpid(), signal.SIGKILL)
Store._make = counting
import table
main(table.main)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    for part, count in (("train", 60), ("dev", 15)):
        save_brackets(islice(read_brackets(SAMPLE / f"{part}.mrg"), count), directory / f"{part}.mrg")
    return {part: directory / f"{part}.mrg" for part in ("train", "dev")}


class Command:
    """Runs `python scripts/table.py`; returns the exit status and what it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capfd = monkeypatch, capfd

    def __call__(self, *arguments: str | Path) -> Say:
        self.capfd.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["table.py", *map(str, arguments)])
        status = run(main)
        return status, *self.capfd.readouterr()

    def refused(self, message: str, *arguments: str | Path) -> None:
        """Exit status 2, and this is the last line."""
        status, out, err = self(*arguments)
        assert (status, out) == (2, "") and err.splitlines()[-1] == message


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


def given(files: dict[str, Path]) -> list[str | Path]:
    return ["--train", files["train"], "--dev", files["dev"], "--tags", "gold", "--dparsers", "gold"]


def test_a_table_on_a_piece_of_the_sample(table: Command, files: dict[str, Path], tmp_path: Path) -> None:
    status, out, err = table("pad-2", *given(files), *QUICK, "-o", tmp_path / "out")
    assert status == 0, err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["pad-2.csv", "pad-2.md", "pad-2.section.md", "steps", "tables.md"]
    rows = [*csv.DictReader((tmp_path / "out" / "pad-2.csv").open())]
    f1 = {(row["route"], row["trained on"]): float(row["F1"]) for row in rows}
    assert 60 < f1["cky", "a tenth of train"] < f1["cky", "train"] < 100
    assert out == (tmp_path / "out" / "pad-2.md").read_text() + "\n"
    assert "train: 60 sentences of train, 15 of dev; gold tags." in out
    steps = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "steps").rglob("*")}
    page = (tmp_path / "out" / "tables.md").read_text()
    assert table("pad-2", *given(files), *QUICK, "-o", tmp_path / "out") == (
        0,
        out,
        err.splitlines()[0] + "\n",
    )
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "steps").rglob("*")} == steps
    assert (tmp_path / "out" / "tables.md").read_text() == page


def test_packages_that_are_not_installed_are_named_in_one_line(
    table: Command, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is made, those of all tables; that of pictures where there is one."""
    monkeypatch.setattr("table.make_table", lambda *_: Table(("a",), [["b"]], draw=lambda _: None))
    arguments = ["pad-2", *given(files), "-o", tmp_path / "out"]
    for package, extra in (("matplotlib", "dev"), ("pyarrow", "tables")):
        monkeypatch.setitem(sys.modules, package, None)
        status, out, err = table(*arguments)
        assert (status, out) == (2, "")
        assert err.splitlines()[-1].endswith(f"in the clone of d2c, pip install -e '.[{extra}]'")
    assert (tmp_path / "out" / "pad-2.csv").read_text() == "a\nb\n"


def noted(monkeypatch: pytest.MonkeyPatch) -> list[PaperExperiment]:
    """The experiments of which tables are asked for; none is made."""
    found: list[PaperExperiment] = []

    def note(_: str, one: PaperExperiment, many: Sequence[PaperExperiment]) -> Table:
        assert many == [one]
        found.append(one)
        return Table(("a",), [["b"]])

    monkeypatch.setattr("table.make_table", note)
    return found


def test_options_of_charts(table: Command, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs from the defaults, so that all else keeps its steps."""
    found = noted(monkeypatch)
    out = ("-o", files["train"].parent / "charts")
    assert table("pad-2", *given(files), *out)[0] == 0
    assert (
        table("pad-2", *given(files), "--labels", "--max-unaries", "0", "--symbols", "vertical", *out)[0] == 0
    )
    charts = [one.chart for one in found]
    assert charts == [{}, {"labels": True, "symbols": "vertical", "max_unaries": 0}]


def test_a_dparser_that_is_named_twice_is_one(
    table: Command, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = noted(monkeypatch)
    names = "transition:standard,gold,transition,transition:eager,transition:standard;greedy"
    out = ("-o", files["train"].parent / "twice")
    assert table("pad-2", *given(files), "--dparsers", names, *out)[0] == 0
    assert found[0].dparsers == ("transition", "gold", "transition:eager")


def test_tables_of_one_treebank_and_of_many(
    table: Command, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one run: those of one are of --train, where it is given."""
    found = dict[str, list[str]]()

    def made(name: str, one: PaperExperiment, many: Sequence[PaperExperiment]) -> Table:
        found[name] = [own.treebank.name for own in (one, *many)]
        systems = {"same": files["dev"]} if one.treebank.name == "train" else {}
        assert one.treebank.systems == systems and not any(own.treebank.systems for own in many)
        return Table(("a",), [["b"]])

    monkeypatch.setattr("table.make_table", made)
    toml = tmp_path / "two.toml"
    toml.write_text("".join(f'[{name}]\ntrain = "{name}"\ndev = "{name}"\n' for name in ("x", "y")))
    many, out = ("--treebanks", toml), ("-o", tmp_path / "out")
    system = ("--system", f"same={files['dev']}")
    assert table("pad-2", *given(files), *many, *system, *out)[0] == 0
    assert table("reduction-4", *many, *out)[0] == 0
    assert found == {"pad-2": ["train", "x", "y"], "reduction-4": ["x", "x", "y"]}
    refused = "Error: --system is of --train; those of --treebanks stand there"
    table.refused(refused, "pad-2", *many, *system, *out)


def test_errors_are_one_line(table: Command, files: dict[str, Path], tmp_path: Path) -> None:
    out = ("-o", tmp_path / "out")
    table.refused("Error: give --train and --dev, or --treebanks", "pad-2", *out)
    table.refused("Error: give --train and --dev, or --treebanks", "pad-2", "--train", files["train"], *out)
    table.refused("Error: Missing option '-o' / '--out'.", "pad-2", *given(files))
    missing = tmp_path / "missing.mrg"
    table.refused(
        f"d2c: {missing}: No such file or directory", "pad-2", *given(files), "--dev", missing, *out
    )
    lone = "Error: Invalid value for '--system': 'x' is not NAME=FILE with a file that is there"
    for system in ("x", f"x={missing}"):
        table.refused(lone, "pad-2", *given(files), "--system", system, *out)
    status, _, err = table("pad-9", *given(files), *out)
    assert status == 2 and "'pad-9' is not one of 'pad-" in err
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    table.refused(f"d2c: {empty}: names no treebank", "pad-2", "--treebanks", empty, *out)
    broken = tmp_path / "broken.mrg"
    broken.write_text("(TOP (S (NN a)")
    status, _, err = table("pad-2", *given(files), "--train", broken, *out)
    assert status == 2 and err.splitlines()[-1].startswith(f"d2c: {broken}:1: ")
    heads = ("--head-rules", "nowhere")
    status, _, err = table("pad-2", *given(files), *heads, *out)
    assert status == 2 and "nowhere" in err.splitlines()[-1]
    assert not (tmp_path / "out" / "tables.md").exists()


def test_the_page_says_what_was_given(table: Command, files: dict[str, Path], tmp_path: Path) -> None:
    system = ("--system", f"same={files['dev']}", "--traces")
    assert table("pad-2", *given(files), *system, *QUICK, "-o", tmp_path / "out")[0] == 0
    said = (
        "python scripts/table.py pad-2 --train train.mrg --dev dev.mrg --traces --dparsers gold --tags gold "
    )
    assert (
        said + "--penalty 0.0 --gamma 0.95 --system same=dev.mrg`; 0."
        in (tmp_path / "out/tables.md").read_text()
    )


def test_others_are_made_where_one_cannot_be(
    table: Command, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> Table:
        raise ModelError("the d-parser x needs a package: pip install x")

    def fine(_: object) -> Table:
        return Table(("a",), [["b"]])

    made = {"missing": missing, "fine": fine}
    monkeypatch.setattr(pages, "import_module", lambda _: SimpleNamespace(**made))
    for name, function in (("pad-1", "missing"), ("pad-2", "fine"), ("pad-4", "missing"), ("pad-5", "fine")):
        monkeypatch.setitem(pages.TABLES, name, pages.Row(f"x:{function}", "Paper", name))
    out = ("-o", tmp_path / "out")
    status, said, err = table("pad-1", "pad-2", "pad-4", "pad-5", *given(files), *out)
    assert (status, said) == (2, 2 * "| a |\n| --- |\n| b |\n\n"), err
    line = "the d-parser x needs a package: pip install x"
    assert [line for line in err.splitlines() if line.startswith("d2c: ")] == [
        f"d2c: pad-1: {line}",
        f"d2c: pad-4: {line}",
        "d2c: 2 of 4 tables could not be made: pad-1, pad-4",
    ]
    assert (tmp_path / "out" / "pad-5.csv").is_file() and not (tmp_path / "out" / "pad-4.csv").exists()
    table.refused(f"d2c: {line}", "pad-1", *given(files), *out)


@pytest.mark.slow
def test_a_run_that_was_killed_twice_ends_as_one_that_was_not(
    table: Command, files: dict[str, Path], tmp_path: Path
) -> None:
    arguments = ["pad-2", *given(files), *QUICK, "-o"]
    for made in (1, 3):
        command = [
            sys.executable,
            "-c",
            KILLED,
            REPOSITORY / "scripts",
            str(made),
            *arguments,
            tmp_path / "killed",
        ]
        done = subprocess.run(command, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert len([*(tmp_path / "killed" / "steps").glob("[!.]*")]) == made
    assert not (tmp_path / "killed" / "pad-2.csv").exists()
    assert table(*arguments, tmp_path / "killed")[0] == 0
    assert table(*arguments, tmp_path / "whole")[0] == 0
    for name in ("pad-2.csv", "pad-2.md"):
        assert (tmp_path / "killed" / name).read_text() == (tmp_path / "whole" / name).read_text()
    whole, again = (
        {path.name for path in (tmp_path / run / "steps").glob("[!.]*")} for run in ("killed", "whole")
    )
    assert whole == again and len(whole) > 3
