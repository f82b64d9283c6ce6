"""Every script runs from anywhere, with the usage line of its docstring; two environments are compared."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mutations import ROOT, Mutation, listed

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
COMMANDS = [*sorted(SCRIPTS.glob("*.py")), SCRIPTS / "benchmarks" / "accuracy.py"]


def run(script: Path, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"D2C_TREEBANKS": str(directory / "none")}
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("script", COMMANDS, ids=lambda script: script.stem)
def test_help_and_usage(script: Path, tmp_path: Path) -> None:
    done = run(script, "--help", directory=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: {script.name} ")
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    usage = re.findall(r"^    python scripts/(\S+)(.*)$", docstring, re.MULTILINE)
    assert {name for name, _ in usage} == {str(script.relative_to(SCRIPTS))}
    for _, arguments in usage:
        for option in re.findall(r"--[a-z-]+", arguments):
            assert re.search(rf"{option}\b", done.stdout), option


@pytest.mark.parametrize("name", ["benchmarks/accuracy", "bench_cky", "table_treebanks"])
def test_absent_treebanks_are_said_in_one_line(name: str, tmp_path: Path) -> None:
    done = run(SCRIPTS / f"{name}.py", directory=tmp_path)
    assert done.returncode and not done.stdout
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
    options = ("--runs", "1", "--rows", "encode,unaries", "--train", str(file), "--dev", str(file))
    done = run(SCRIPTS / "bench_house.py", sys.executable, *options, directory=tmp_path)
    assert done.returncode == 0, done.stderr
    _, _, *rows = done.stdout.splitlines()
    assert [row.split()[1] for row in rows] == ["encode", "unaries"]
    assert all(row.endswith("| yes |") for row in rows)
