"""Every script runs from anywhere, with the usage line of its docstring; two environments are compared."""

from __future__ import annotations

import ast
import gzip
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench_cky import own_dtrees
from benchmarks.english import dev
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import write_conllu
from mutations import ROOT, Mutation, listed
from treebanks.files import known

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
BENCHMARKS = [SCRIPTS / "benchmarks" / name for name in ("accuracy.py", "taught.py")]
COMMANDS = [*sorted(SCRIPTS.glob("*.py")), *BENCHMARKS]
HELP = """
import os, runpy, sys
import nltk, numba, spacy, stanza, torch  # what takes long, once; nothing of d2c
absent = dict.fromkeys(("matplotlib", "pandas", "pyarrow", "ray"))  # from the README's environment

for script in sys.argv[1:]:
    if not os.fork():
        sys.modules.update({} if script.endswith("fuzz.py") else absent)
        sys.argv[:], sys.path[0] = [script, "--help"], os.path.dirname(script)
        sys.stdout = open(os.path.basename(script), "w")
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            sys.stdout.close()
            os._exit(end.code or 0)  # to take down all that was imported takes long
    assert os.wait()[1] == 0, script
"""


def run(script: Path | str, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"D2C_TREEBANKS": str(directory / "none")}
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory, in which every script was run in a process forked for it, with what each printed."""
    directory = tmp_path_factory.mktemp("helps")
    done = run("-c", HELP, *map(str, COMMANDS), directory=directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("script", COMMANDS, ids=lambda script: script.stem)
def test_help_and_usage(script: Path, helps: Path) -> None:
    printed = (helps / script.name).read_text(encoding="utf-8")
    assert printed.startswith(f"Usage: {script.name} ")
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    usage = re.findall(r"^    python scripts/(\S+)(.*)$", docstring, re.MULTILINE)
    assert {name for name, _ in usage} == {str(script.relative_to(SCRIPTS))}
    for _, arguments in usage:
        for option in re.findall(r"--[a-z-]+", arguments):
            assert re.search(rf"{option}\b", printed), option


@pytest.mark.parametrize("name", ["benchmarks.accuracy", "benchmarks.taught", "bench_cky", "table_treebanks"])
def test_absent_treebanks_are_said_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("D2C_TREEBANKS", str(tmp_path / "none"))
    done = CliRunner().invoke(import_module(name).main, [])
    assert done.exit_code and not done.stdout
    [line] = done.stderr.splitlines()
    assert "set D2C_TREEBANKS" in line


@pytest.mark.parametrize("mutation", listed(), ids=lambda mutation: mutation.name)
def test_mutations_can_be_made(mutation: Mutation) -> None:
    """The files have the texts that they change, and there are the tests that must notice it."""
    assert mutation.mutated(ROOT) != (ROOT / mutation.file).read_text(encoding="utf-8")
    file, _, test = mutation.tests.partition("::")
    assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.slow
def test_two_environments_are_compared(tmp_path: Path) -> None:
    """Here one with itself, on a few sentences."""
    file = tmp_path / "few.mrg"
    sample = (SCRIPTS.parent / "data" / "sample" / "dev.mrg").read_text(encoding="utf-8")
    file.write_text("".join(sample.splitlines(keepends=True)[:20]), encoding="utf-8")
    options = ("--runs", "1", "--rows", "encode,help", "--train", str(file), "--dev", str(file))
    done = run(SCRIPTS / "bench_house.py", sys.executable, *options, directory=tmp_path)
    assert done.returncode == 0, done.stderr
    _, _, *rows = done.stdout.splitlines()
    assert [row.split()[1] for row in rows] == ["encode", "help"]
    assert all(row.endswith("| yes |") for row in rows)


def test_so_many_sentences_of_a_dev_part_are_evenly_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2C_TREEBANKS", str(tmp_path))
    with gzip.open(tmp_path / "gum-dev.mrg.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"(TOP (NP (NN w{number})))\n" for number in range(7))
    for sentences, numbers in ((4, [0, 1, 3, 5]), (9, [*range(7)]), (None, [*range(7)])):
        forms = [ctree.tokens.forms for ctree in dev("gum", sentences)]
        assert forms == [(f"w{number}",) for number in numbers]


def test_own_dtrees_are_those_of_the_sentences_that_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2C_TREEBANKS", str(tmp_path))
    lengths = [1 + number % 7 for number in range(40)]
    trees = [f"(TOP (NP {' '.join(f'(NN w{i})' for i in range(length))}))\n" for length in lengths]
    dtrees = [DTree(Tokens(("x",) * length, ("NN",) * length), (0,) * length) for length in lengths]
    for part in ("train", "dev"):
        with gzip.open(tmp_path / f"craft-{part}.mrg.gz", "wt", encoding="utf-8") as stream:
            stream.writelines(trees)
        with gzip.open(tmp_path / f"craft-{part}.sd.conllu.gz", "wt", encoding="utf-8") as stream:
            write_conllu(dtrees, stream)
    for part in ("train", "dev"):
        ctrees = [*known("craft", 9).trees(part)]
        own = own_dtrees(known("craft", 9), part, ctrees)
        assert [dtree.tokens for dtree in own] == [ctree.tokens for ctree in ctrees]
        assert [len(dtree.heads) for dtree in own] == [len(ctree.tokens) for ctree in ctrees]
        assert len(own) == (9 if part == "train" else 40)
