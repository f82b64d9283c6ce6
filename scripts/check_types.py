"""mypy over the packages and the scripts.

    python scripts/check_types.py [MYPY'S OPTIONS]

The folders `trees/`, `cky/`, ... are the packages `d2c.trees`, `d2c.cky`, ... once they are installed, and
mypy does not see through an editable installation. So it is shown a folder of links that has the names right.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(options: tuple[str, ...]) -> None:
    """Checks all types; OPTIONS are mypy's."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        house = Path(scratch) / "d2c"
        house.mkdir()
        for part in (ROOT / "d2c").iterdir():
            (house / part.name).symlink_to(part)
        for name, folder in settings["tool"]["setuptools"]["package-dir"].items():
            (house / name.removeprefix("d2c.")).symlink_to(ROOT / folder)
        (Path(scratch) / "scripts").symlink_to(ROOT / "scripts")
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), *options, "-p", "d2c", "-p", "measuring"]
        for script in sorted((ROOT / "scripts").glob("*.py")):
            command += ["-m", script.stem]
        environment = os.environ | {"MYPYPATH": os.pathsep.join((scratch, f"{scratch}/scripts"))}
        sys.exit(subprocess.run(command, cwd=scratch, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
