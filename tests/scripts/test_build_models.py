"""The command that builds all models: in which order, and which of them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import build_models
from d2c.base.errors import ModelError
from d2c.models.model import ModelSettings
from d2c.models.names import SETTINGS
from d2c.trees.formats.reading import CLEANED
from models import build as building
from models.build import recalibrate
from models.recipes import RECIPES, with_others
from treebanks.penn import write_parts

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_each_finds_what_it_needs() -> None:
    """Who teaches was built before, or comes with d2c."""
    built = set[str]()
    for name, recipe in RECIPES.items():
        teachers = {
            teacher.partition(" over ")[0] for lesson in recipe.lessons for teacher in lesson.teachers
        }
        assert built >= {*recipe.after} and {"en-clear", "en-ud", *recipe.after} >= teachers, name
        built.add(name)


def test_a_model_comes_with_those_that_it_needs_and_teaches() -> None:
    assert with_others(["en"]) == with_others(["en-small"]) == ["en-ud", "en-teacher", "en", "en-small"]
    assert with_others(["is", "nl"]) == ["nl", "is"]
    assert with_others(["en-clear"]) == ["en-clear"] and with_others(RECIPES) == [*RECIPES]


def test_a_build_goes_on_after_those_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, built = with_others(["en"]), list[str]()

    def build(recipe: Any, treebanks: Path, directory: Path, say: Any) -> None:
        built.append(recipe.name)
        if len(built) == 3:
            raise KeyboardInterrupt
        directory.mkdir(exist_ok=True)
        (directory / SETTINGS).write_text("{}")

    monkeypatch.setattr(build_models, "build", build)
    for ends in (1, 0, 0):  # killed, gone on, nothing left
        assert CliRunner().invoke(build_models.main, ["en", "-o", str(tmp_path)]).exit_code == ends
    assert built == [*wanted[:3], *wanted[2:]]
    assert CliRunner().invoke(build_models.main, ["-o", str(tmp_path)]).exit_code == 0
    assert built[5:] == [name for name in RECIPES if name not in wanted]


def test_each_model_has_a_folder_for_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart's checkpoint is of one training; several converters keep d-trees of the same treebanks."""
    seen = list[Path | None]()

    def train_models(spec: Any, directories: Any, say: Any) -> Any:
        seen.append(spec.route.checkpoints)
        say("half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "train_models", train_models)
    monkeypatch.setattr(building, "build_converter", lambda *given: (seen.append(given[3]) or [], {}))
    cards = list[Any]()
    monkeypatch.setattr(
        building, "write_card", lambda new, *rest: (new / SETTINGS).write_text("{}") and cards.append(rest)
    )
    for name in ("nl", "id", "en-clear", "en-ud"):
        for data in RECIPES[name].data:
            (tmp_path / data.train).touch()
            (tmp_path / data.dev).touch()
    for name in ("nl", "id"):
        with pytest.raises(KeyboardInterrupt):
            building.build(RECIPES[name], tmp_path, tmp_path / name, print)
    for name in ("en-clear", "en-ud"):
        building.build(RECIPES[name], tmp_path, tmp_path / name, print)
    assert seen == [tmp_path / "kept" / name for name in ("nl", "id", "en-clear", "en-ud")]
    first, second = (tmp_path / "kept" / "nl" / "log.txt").read_text().splitlines()
    assert first[19:].startswith(" nl begins, or goes on: Alpino 1 times; dparser spacy, tagger spacy, tags")
    assert second[19:] == " half of it"
    assert cards[0][3][-1][19:] == " en-clear is built, 0 seconds after this beginning"


def test_confidences_are_fitted_again_to_what_a_build_holds_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def complete(directory: Path, *rest: Any) -> None:
        held_out, learned, small_letters = rest
        seen.append((directory, [*held_out], [*learned], small_letters))

    files, sample = dict[Path, float](), (SAMPLE / "train.mrg").read_bytes().splitlines(keepends=True)
    for i, name in enumerate(("craft", "genia", "masc")):
        files[tmp_path / f"{name}-train.mrg.gz"] = 1.0
        with gzip.open(tmp_path / f"{name}-train.mrg.gz", "wb") as stream:
            stream.writelines(sample[60 * i : 60 * i + 60])
    seen, settings = list[Any](), ModelSettings("reduction", "spacy", small_letters=True)
    monkeypatch.setattr(building, "complete", complete)
    monkeypatch.setattr(building, "read_model_settings", lambda directory: settings)
    data = RECIPES["en-clear"].data
    recipe = replace(RECIPES["en-teacher"], data=data, shares={}, recased=0.2)
    recalibrate(recipe, tmp_path / "x", tmp_path, print)
    train, dev = map(CLEANED, write_parts(files, recipe.read, tmp_path, 1, 0.2))
    assert seen == [(tmp_path / "x", [*dev], [*train], True)]
    with pytest.raises(ModelError, match="en-ud: converts d-trees of others, and has no confidences"):
        recalibrate(RECIPES["en-ud"], tmp_path / "en-ud", tmp_path, print)
