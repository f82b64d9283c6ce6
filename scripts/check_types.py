"""mypy over the packages and scripts: `python scripts/check_types.py [mypy's options]`.

The folders `trees/`, `cky/`, ... are the packages `d2c.trees`, `d2c.cky`, ... once they are installed, and
mypy does not see through an editable installation. So it is shown a folder of links that has the names right.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """mypy's exit status."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        house = Path(scratch) / "d2c"
        house.mkdir()
        for part in (ROOT / "d2c").iterdir():
            (house / part.name).symlink_to(part)
        for name, folder in settings["tool"]["setuptools"]["package-dir"].items():
            (house / name.removeprefix("d2c.")).symlink_to(ROOT / folder)
        command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml"]
        cache = ["--cache-dir", ROOT / ".mypy_cache"]
        return subprocess.run(
            [*command, *cache, *sys.argv[1:], "-p", "d2c"], cwd=scratch, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
