"""mypy over the packages and the scripts.

    python scripts/check_types.py [MYPY'S OPTIONS]

The folders `trees/`, `cky/`, ... are the packages `d2c.trees`, `d2c.cky`, ... once they are installed, and
mypy does not see through an editable installation. So it is shown a folder of links that has the names right.
The folder stays, for editors that see no more than mypy does (`[tool.pyright]` in pyproject.toml names it).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / ".sources"


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(options: tuple[str, ...]) -> None:
    """Checks all types; OPTIONS are mypy's."""
    link_sources()
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), *options]
    for package in ("d2c", "papers", "benchmarks", "models", "treebanks", "fuzzing"):
        command += ["-p", package]
    for script in sorted((ROOT / "scripts").glob("*.py")):
        command += ["-m", script.stem]
    environment = os.environ | {"MYPYPATH": os.pathsep.join((str(SOURCES), f"{SOURCES}/scripts"))}
    sys.exit(subprocess.run(command, cwd=SOURCES, env=environment, check=False).returncode)


def link_sources() -> None:
    """Makes the folder of links."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shutil.rmtree(SOURCES, ignore_errors=True)
    (SOURCES / "d2c").mkdir(parents=True)
    for part in (ROOT / "d2c").iterdir():
        (SOURCES / "d2c" / part.name).symlink_to(part)
    for name, folder in settings["tool"]["setuptools"]["package-dir"].items():
        (SOURCES / name.replace(".", "/")).symlink_to(ROOT / folder)
    (SOURCES / "scripts").symlink_to(ROOT / "scripts")


if __name__ == "__main__":
    main()
