"""The command that builds all models: in which order, and which of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import build_models
from d2c.models.model import SETTINGS
from models.recipes import RECIPES


def test_each_finds_what_it_needs() -> None:
    """Whose network and chart go on, and who teaches, was built before."""
    built = set[str]()
    for name, recipe in RECIPES.items():
        teachers = {
            teacher.partition(" over ")[0] for lesson in recipe.lessons for teacher in lesson.teachers
        }
        assert built >= teachers | {recipe.network, recipe.chart} - {None}, name
        built.add(name)


def test_a_build_goes_on_after_those_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, built = [*RECIPES], list[str]()

    def build(recipe: Any, treebanks: Path, directory: Path, *rest: Any) -> None:
        built.append(recipe.name)
        if built == names[:3]:
            raise KeyboardInterrupt
        directory.mkdir(exist_ok=True)
        (directory / SETTINGS).write_text("{}")

    monkeypatch.setattr(build_models, "build", build)
    for ends in (1, 0, 0):  # killed, gone on, nothing left
        assert CliRunner().invoke(build_models.main, ["-o", str(tmp_path)]).exit_code == ends
    assert built == [*names[:3], *names[2:]]
    assert CliRunner().invoke(build_models.main, ["en", "-o", str(tmp_path)]).exit_code == 0
    assert built[-1] == "en"  # once more, since it was asked for
