"""What the tests of the papers' definitions notice: each mutation below must make a test fail.

    python scripts/mutations.py [NAME ...]

The mutations are listed in mutations.toml. Each changes one text in a copy of the tree, in which the named
tests run; kernels run there as
Python, so that none is compiled. Prints a line for each: the mutation, and the first test that fails. Ends
with status 1 where a mutation fails none, or a test fails without any.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "mutations.toml"
PACKAGES = ("base", "cky", "forests", "linear", "packed", "reduction", "trees")
FOLDERS = (*PACKAGES, "data", "tests")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Mutation(NamedTuple):
    """One change: in a file of the tree, the first place of a text becomes another text."""

    name: str
    file: str
    old: str
    new: str
    tests: str


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Run all mutations, or those whose names have one of the texts NAMES in them."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    mutations = [Mutation(**row) for row in listed]
    chosen = [one for one in mutations if not names or any(name in one.name for name in names)]
    for one in chosen:
        if one.old not in (ROOT / one.file).read_text(encoding="utf-8"):
            raise click.ClickException(f"{one.file} has no {one.old!r}")
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        bad = [
            f"without any: {test}"
            for tests in dict.fromkeys(one.tests for one in chosen)
            for test in failing(tree, tests)
        ]
        for mutation in chosen:
            file = tree / mutation.file
            whole = file.read_text(encoding="utf-8")
            file.write_text(whole.replace(mutation.old, mutation.new, 1), encoding="utf-8")
            failed = failing(tree, mutation.tests)
            file.write_text(whole, encoding="utf-8")
            click.echo(f"{mutation.name} -> {failed[0] if failed else 'NO TEST FAILS'}")
            bad += [] if failed else [mutation.name]
    click.echo(f"{len(chosen)} mutations; " + ("; ".join(bad) or "each fails a test"))
    sys.exit(bool(bad))


def copied(folder: Path) -> Path:
    """Copy what the tests need; the packages are found under their names there."""
    tree = folder / "tree"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    package = folder / "path" / "d2c"
    shutil.copytree(ROOT / "d2c", package, ignore=ignored)
    for name in (*PACKAGES, "data"):
        (package / name).symlink_to(tree / name)
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def failing(tree: Path, tests: str) -> list[str]:
    """Return the first of some tests that fails, if any does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", tests]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(tree.parent / "path"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2):
        raise click.ClickException(f"{tests}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return FAILED.findall(done.stdout)


if __name__ == "__main__":
    main()
