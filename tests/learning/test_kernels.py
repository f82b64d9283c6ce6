"""Numba's cache: used, damaged, not to be written, and of other sources."""

from __future__ import annotations

import ast
import fcntl
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from d2c.learning import kernels

CODE = """
from d2c.learning.kernels import kernel

@kernel
def twice(x):
    return 2 * x
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a file that has a kernel, and an empty cache."""
    (tmp_path / "twice.py").write_text(CODE)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def compiled(directory: Path) -> int:
    """How many kernels are compiled where the file's is called."""
    spec = importlib.util.spec_from_file_location("twice", directory / "twice.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.twice(3) == 6
    return 1 - sum(module.twice.stats.cache_hits.values())


def test_what_counts_no_references_returns_no_arrays() -> None:
    root, lean = Path(kernels.__file__).parents[1], dict[str, str]()
    for path in (path for room in root.iterdir() for path in room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = {*map(ast.unparse, getattr(node, "decorator_list", ()))}
            if isinstance(node, ast.FunctionDef) and made & {"lean", "summing"}:
                lean[node.name] = ast.unparse(node.returns or node)
    assert lean["atom_of"] == "int"
    numbers = r"(None|int|float|bool|np\.u?int\d+|np\.float\d+)"
    wrong = {
        name
        for name, type_ in lean.items()
        if not re.fullmatch(rf"{numbers}|tuple\[({numbers}(, )?)+\]", type_)
    }
    assert not wrong


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("data", [b"", b"x", None])
def test_what_is_damaged_is_compiled_anew(suffix: str, data: bytes | None, directory: Path) -> None:
    assert [compiled(directory), compiled(directory)] == [1, 0]
    [file] = directory.rglob(f"*.{suffix}")
    file.write_bytes(file.read_bytes()[:-9] if data is None else data)
    assert [compiled(directory), compiled(directory)] == [1, 0]


def test_of_two_processes_one_compiles(directory: Path) -> None:
    code = "import twice; twice.twice(3); print(1 - sum(twice.twice.stats.cache_hits.values()))"
    paths = f"{directory}{os.pathsep}{Path(kernels.__file__).parents[2]}"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(directory / "cache"), "PYTHONPATH": paths}
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(one.communicate()[0] for one in both) == ["0\n", "1\n"]


def test_it_is_not_waited_for_without_end(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(directory) == 1
    [file] = directory.rglob("*.lock")
    monkeypatch.setattr(kernels, "_PATIENCE", 0.1)
    with open(file) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert compiled(directory) == 0


def test_other_sources_are_in_another_folder(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [compiled(directory), compiled(directory)] == [1, 0]
    monkeypatch.setattr(kernels, "sources", lambda: "other")
    assert [compiled(directory), compiled(directory)] == [1, 0]
    assert [path.name for path in directory.rglob("d2c-*")] == ["d2c-other"]


def test_where_nothing_can_be_written_it_compiles(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "__pycache__").write_text("")
    monkeypatch.setattr(config, "CACHE_DIR", "/dev/null/x")
    monkeypatch.setenv("HOME", "/dev/null/x")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/x")
    assert [compiled(directory), compiled(directory)] == [1, 1]


def test_sources_are_kernels_and_their_constants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = {
        "cky/a.py": "from d2c.learning.kernels import kernel\nfrom d2c.trees.b import B\n@kernel\n",
        "trees/b.py": "B = 1",
    }
    texts |= {"trees/c.py": "", "cky/d.py": "from d2c.learning.kernels import sources"}
    digests = []
    monkeypatch.setattr(kernels, "_PACKAGE", tmp_path)
    for changed in ("", *texts):
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text + "#" * (name == changed))
        digests.append(kernels.sources.__wrapped__())
    assert len(set(digests)) == 3 and digests[0] == digests[3] == digests[4]
