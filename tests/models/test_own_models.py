"""docs/own_models.md: its files are written, and its commands for the shell run, in a fresh environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from d2c.models.names import find
from tests.blocks import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "own_models.md"
# Commands are those of the fresh environment.
COMMANDS = 'd2c() { python -m d2c "$@"; }\npip() { python -m pip "$@"; }\n'
TREE = """\
(TOP (S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses)))) (. .)))
"""


@pytest.mark.slow
def test_a_wheel_with_a_model(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    [site] = (tmp_path / "venv").glob("lib/*/site-packages")
    (site / "ours.pth").write_text(f"{REPOSITORY}\n{sysconfig.get_path('purelib')}\n")
    shutil.copytree(find("en-small"), tmp_path / "garden")
    for block in blocks(PAGE):
        if block.mark.startswith("file: "):
            (tmp_path / block.mark.removeprefix("file: ")).write_text(block.code, encoding="utf-8")
    # The switch says the opposite of its name: 0 builds with the setuptools that is installed here.
    environment = {"HOME": str(tmp_path), "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
    environment["PATH"] = os.pathsep.join((str(tmp_path / "venv" / "bin"), os.environ["PATH"]))

    def run(script: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", COMMANDS + script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}{done.stderr}"
        return done.stdout

    named, packed, installed = (
        block.code for block in blocks(PAGE) if block.mark == "not run: for your shell"
    )
    assert row_of("garden", run(named)).endswith(f" {tmp_path} Garden Treebank dev 97.72")
    run(f"{packed}mv garden kept")
    printed = run(f"{installed}d2c models garden")
    assert row_of("garden", printed).endswith(" d2c-model-garden 1.0 Garden Treebank dev 97.72")
    assert printed.partition(TREE)[2].startswith((tmp_path / "kept" / "README.md").read_text())


def row_of(name: str, printed: str) -> str:
    """The row of a model in what `d2c models` prints."""
    [row] = (line for line in printed.splitlines() if line.startswith(f"{name} "))
    return " ".join(row.split())
