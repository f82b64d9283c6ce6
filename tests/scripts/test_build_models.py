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
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.reading import CLEANED
from models import build as building
from models.build import recalibrate
from models.recipes import RECIPES
from treebanks.penn import write_parts

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_each_finds_what_it_needs() -> None:
    """Whose network and chart go on, and who teaches, was built before."""
    built = set[str]()
    for name, recipe in RECIPES.items():
        teachers = {
            teacher.partition(" over ")[0] for lesson in recipe.lessons for teacher in lesson.teachers
        }
        assert built >= teachers | {recipe.network, recipe.chart} - {None}, name
        first = recipe  # whose chart did not go on from that of another one
        while first.chart is not None:
            first = RECIPES[first.chart]
        assert recipe.chart is None or "cky" in first.routes, name
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


def test_a_chart_is_that_of_a_model_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "read_model_settings", lambda directory: ModelSettings("labeler", "spacy"))
    with pytest.raises(ModelError, match="en-base: has no chart, its route is labeler"):
        building.with_chart(Path("en"), Path("en-base"))


def test_each_model_has_a_folder_for_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart's checkpoint is of one training; several converters keep d-trees of the same treebanks."""
    seen, parts = list[Path | None](), (tmp_path / "train.mrg", tmp_path / "dev.mrg")
    monkeypatch.setattr(building, "parts_of", lambda *given: (parts, CLEANED, []))
    monkeypatch.setattr(building, "train_models", lambda spec, *rest: seen.append(spec.route.checkpoints))
    monkeypatch.setattr(building, "build_converter", lambda *given: (seen.append(given[3]), {}))
    monkeypatch.setattr(building, "write_card", lambda new, *rest: (new / SETTINGS).write_text("{}"))
    for kept in (tmp_path / "kept", None):
        for name in ("nl", "id"):
            building.train(RECIPES[name], tmp_path, tmp_path, tmp_path, print, kept)
    assert seen == [tmp_path / "kept" / "nl", tmp_path / "kept" / "id", None, None]
    for data in (*RECIPES["en-clear"].data, *RECIPES["en-ud"].data):
        (tmp_path / data.train).touch()
        (tmp_path / data.dev).touch()
    for name in ("en-clear", "en-ud"):
        building.build(RECIPES[name], tmp_path, tmp_path / name, print, tmp_path / "kept")
    assert seen[4:] == [tmp_path / "kept" / "en-clear", tmp_path / "kept" / "en-ud"]


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
    recipe = replace(RECIPES["en-base"], recased=0.2)
    recalibrate(recipe, tmp_path / "en-base", tmp_path, print, None)
    train, dev = map(CLEANED, write_parts(files, recipe.read, tmp_path, 1, 0.2))
    assert seen == [(tmp_path / "en-base", [*dev], [*train], True)]
    with pytest.raises(ModelError, match="en-ud: converts d-trees of others, and has no confidences"):
        recalibrate(RECIPES["en-ud"], tmp_path / "en-ud", tmp_path, print, None)


def test_trees_of_lessons_teach_no_confidences() -> None:
    trees = [parse_bracket(f"(TOP (NP (NN {word})))") for word in "abcde"]
    unseen = building.of_treebanks(trees, ([trees[1]], [trees[4], trees[2]]))
    assert [*unseen] == [trees[0], trees[3]]
    assert [*building.of_treebanks(trees, ())] == trees
