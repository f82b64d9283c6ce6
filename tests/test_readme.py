"""The README's Python runs as printed, and the commands it names exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from d2c.cli import cli

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_python_examples_print_what_the_readme_says() -> None:
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 1
    for code, expected in examples:
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True
        )
        assert run.stdout == expected


def test_the_readme_names_every_command() -> None:
    assert set(re.findall(r"^\| `d2c (\w+)", README, re.MULTILINE)) == set(cli.commands)


def test_the_readme_has_the_commands_that_ci_runs() -> None:
    for name in ("compare", "test"):
        assert re.search(rf"^<!-- {name} -->\n```sh\n.+\n```$", README, re.MULTILINE)
