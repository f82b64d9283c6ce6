"""What the tests of the papers' definitions notice: each mutation below must make a test fail.

    python scripts/mutations.py [NAME ...]

The mutations are listed in mutations.toml. Each changes one text in a copy of the tree, in which the named
tests run; kernels run there as Python, so that none is compiled. Prints a line for each: the mutation, and
the first test that fails. Ends with status 1 where a mutation fails none, or a test fails without any.
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
COPIED = ("cky", "d2c", "data", "reduction", "scripts", "tests")  # d2c/ has links to three of the others
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Mutation(NamedTuple):
    """One change: in a file of the tree, the first occurrence of a text becomes another text."""

    name: str
    file: str
    old: str
    new: str
    tests: str

    def mutated(self, root: Path) -> str:
        """Return the file after the change. Raises ClickException where it does not have the text."""
        whole = (root / self.file).read_text(encoding="utf-8")
        if self.old not in whole:
            raise click.ClickException(f"{self.file} has no {self.old!r}")
        return whole.replace(self.old, self.new, 1)


def listed() -> list[Mutation]:
    """Return the mutations of mutations.toml."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [Mutation(**row) for row in tomllib.loads(text)["mutation"]]


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Run all mutations, or those whose names have one of the texts NAMES in them."""
    chosen = [one for one in listed() if not names or any(name in one.name for name in names)]
    texts = [one.mutated(ROOT) for one in chosen]
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        tests = dict.fromkeys(one.tests for one in chosen)
        bad = [f"without any: {failed}" for test in tests if (failed := failing(tree, test))]
        for mutation, text in zip(chosen, texts, strict=True):
            (tree / mutation.file).write_text(text, encoding="utf-8")
            failed = failing(tree, mutation.tests)
            shutil.copy(ROOT / mutation.file, tree / mutation.file)
            click.echo(f"{mutation.name} -> {failed or 'NO TEST FAILS'}")
            bad += [] if failed else [mutation.name]
    click.echo(f"{len(chosen)} mutations; " + ("; ".join(bad) or "each fails a test"))
    sys.exit(bool(bad))


def copied(folder: Path) -> Path:
    """Copy what the tests need."""
    tree = folder / "tree"
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def failing(tree: Path, tests: str) -> str | None:
    """Return the first of some tests that fails, if any does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", tests]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2):
        raise click.ClickException(f"{tests}: {done.stdout[-500:]}{done.stderr[-500:]}")
    found = FAILED.search(done.stdout)
    return found[1] if found else None


if __name__ == "__main__":
    main()
