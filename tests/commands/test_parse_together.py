"""`d2c parse` with several models, which vote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models import model
from d2c.models.names import find

pytestmark = pytest.mark.usefixtures("loaded_once")
TEXT = "The dog slept .\nShe saw the cat .\n"


@pytest.fixture
def two(tagged_model: Path, chart_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model called `two`: the other one with another route."""
    directory = tmp_path / "models" / "two"
    shutil.copytree(tagged_model, directory)
    shutil.rmtree(directory / "route")
    shutil.copytree(chart_model / "route", directory / "route")
    settings = json.loads((directory / "model.json").read_text()) | {"route": "cky", "files": None}
    (directory / "model.json").write_text(json.dumps(settings))
    monkeypatch.setenv("D2C_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    return directory


def parse(*arguments: object) -> Result:
    command = ["parse", *map(str, arguments), "--tokenized"]
    return CliRunner().invoke(cli, command, input=TEXT)


def test_models_vote(tagged_model: Path, two: Path) -> None:
    Path("a.txt").write_text(TEXT)
    jobs = "a.txt", "--jobs", 2
    both = (tagged_model, "two"), (tagged_model, "two", *jobs), ("two", tagged_model)
    outputs = [parse(*models, "--to", "json").stdout for models in ((tagged_model,), (two,), *both)]
    rows = [[json.loads(line) for line in output.splitlines()] for output in outputs]
    assert [len(one) for one in rows] == [2] * 5 and rows[2][0]["tokens"] == ["The", "dog", "slept", "."]
    for one, other, *voted in zip(*rows, strict=True):
        a, b, c, d, e = (
            {(s["label"], s["start"], s["end"]) for s in row["spans"]} for row in (one, other, *voted)
        )
        assert c <= a | b and c == d
        assert e <= a | b and e >= a & b  # among equally good trees that of the first wins
    assert "2 sentences, 9 tokens, " in parse(tagged_model, "two").stderr  # each counts once


def test_alternatives_are_those_of_the_models(tagged_model: Path, two: Path) -> None:
    alone = [parse(name, "--to", "json", "--best", 4).stdout for name in (tagged_model, "two")]
    every = [[json.loads(line)["alternatives"] for line in output.splitlines()] for output in alone]
    voted = [json.loads(line) for line in parse(tagged_model, "two", "--to", "json").stdout.splitlines()]
    run = parse(tagged_model, "two", "--to", "json", "--best", 4)
    for line, plain, *lists in zip(run.stdout.splitlines(), voted, *every, strict=True):
        row = json.loads(line)
        found = [one["tree"] for one in row.pop("alternatives")]
        assert row == plain and len(found) == len({*found}) <= 4
        others = {one["tree"] for alternatives in lists for one in alternatives}
        assert {*found[1:]} <= others and len(found) == min(4, len({found[0], *others}))
    assert '"probability": null' in run.stdout


def test_what_names_a_file_is_no_model(tagged_model: Path, two: Path) -> None:
    Path("two").write_text("The dog slept .")
    assert parse(tagged_model, "two").stdout.count("\n") == 1
    error = parse(tagged_model, two, "two", "--to", "conllu").exception
    assert str(error).startswith("several models vote on c-trees; d-trees and function tags are of one model")


def test_options_are_for_the_d_parsers_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, dict[str, Any]]]()

    class Loaded:
        @staticmethod
        def load(directory: Path, **given: Any) -> Loaded:
            asked.append((directory.name, given))
            return Loaded()

    given = {"allow_pipeline": "spacy:en_x", "arcs": "single", "device": None}
    names = ["en-small", "en-clear"]
    with monkeypatch.context() as patched:
        patched.setattr(model, "Model", Loaded)
        loaded = model.load_models([*map(find, names)], **given)
    assert [one.f1["MASC dev"] for one in loaded] == [81.06, 81.6]  # by which votes count
    assert asked == [
        ("en-small", {"arcs": "single"}),
        ("en-clear", {"allow_pipeline": "spacy:en_x", "arcs": "single"}),
    ]
    with pytest.raises(ModelError, match="^the d-parser spacy takes no allow_pipeline$"):
        model.load_models([find("en-small")], allow_pipeline="spacy:en_x")
