"""docs/extending.md: its files and lines are added to a copy of the packages, and its commands run there.

`<!-- file: PATH -->` before a block: a new file. `<!-- line: NAME in PATH -->`: an import goes to the others
of that file; a row goes to the beginning of what NAME holds, or, where it begins with NAME, in place of that
line. Other blocks are run, and a block of `text` after one is what it prints.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import d2c
from tests.blocks import REPOSITORY, blocks, blocks_of, run, trimmed

PAGE = REPOSITORY / "docs" / "extending.md"


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package `d2c` as it is with all that the page adds."""
    house = tmp_path_factory.mktemp("extended") / "d2c"
    shutil.copytree(REPOSITORY / "d2c", house)
    for block in blocks(PAGE):
        kind, _, where = block.mark.partition(": ")
        if kind == "file":
            (house / where.removeprefix("d2c/")).write_text(block.code, encoding="utf-8")
        elif kind == "line":
            name, _, path = where.partition(" in ")
            add_line(house / path.removeprefix("d2c/"), name, block.code)
    return house.parent


def add_line(file: Path, name: str, code: str) -> None:
    """Adds a row, and the import that it may need, to the registry `name` of a module; to a class a field."""
    *imports, row = code.strip("\n").split("\n\n")
    text = file.read_text(encoding="utf-8")
    docstring = r'    """(?s:.*?)"""\n' if name.startswith("class ") else ""
    [line] = re.findall(rf"^{name}\b(?!\.).*\n{docstring}", text, re.M)
    text = text.replace(line, f"{row}\n" if row.startswith(name) else f"{line}{row}\n", 1)
    for imported in imports:
        text = text.replace("\nfrom d2c", f"\n{imported}\nfrom d2c", 1)
    file.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_the_page_does_what_it_says(extended: Path, tmp_path: Path) -> None:
    """In one process: each command would import anew what it shares with the others."""
    paths = os.pathsep.join(map(str, (extended, REPOSITORY)))
    done = subprocess.run(
        [sys.executable, "-c", f"import {__name__} as page; page.run_sections()"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{extended}\n"), done.stderr


def run_sections() -> None:
    """Runs what the page does with the package d2c at hand, and says where that is."""
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        runs = [block for block in blocks_of(section) if not block.mark]
        assert runs, f"nothing shows that this works: {section}"
        for block in runs:
            printed = run(block)
            if block.printed is not None:
                assert trimmed(printed) == trimmed(block.printed), block.code
    print(Path(d2c.__file__).parents[1])


@pytest.mark.slow
def test_the_tests_of_encodings_hold_for_the_one_of_the_page(extended: Path) -> None:
    tests = "tests/reduction", "-k", "topdown or unknown or broken"
    command = [sys.executable, "-m", "pytest", "-n", "0", *tests]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(extended)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 15


def test_places_of_files_can_be_read_on_the_page() -> None:
    """Comments are not shown."""
    page = PAGE.read_text(encoding="utf-8")
    shown = re.sub(r"<!--.*?-->", "", page)
    places = re.findall(r"<!-- (?:file: |line: .* in )(\S+) -->", page)
    assert places and not [place for place in places if f"`{place}`" not in shown]
