"""Model directories that are damaged, hostile, or something else: one line that says which, and why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner

pytest.importorskip("spacy")
import srsly

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.commands.info import symbols_of
from d2c.models.model import Model, load_route

Settings = dict[str, Any]


@pytest.fixture
def copied(small_model: Path, tmp_path: Path) -> Path:
    """A model whose files may be changed: it says no digests."""
    shutil.copytree(small_model, tmp_path / "model")
    change(tmp_path / "model" / "model.json", files=None)
    return tmp_path / "model"


def change(file: Path, **settings: object) -> None:
    said = json.loads(file.read_text(encoding="utf-8")) | settings
    file.write_text(json.dumps({name: value for name, value in said.items() if value is not None}))


def test_symbols_that_are_no_text_are_shown(tmp_path: Path) -> None:
    (tmp_path / "route").mkdir()
    (tmp_path / "route" / "reduction.json").write_text('{"symbols": ["NP", 3]}')
    assert symbols_of(tmp_path) == {"labels": ["3", "NP"]}


def test_damage_is_found_first(small_model: Path, tmp_path: Path) -> None:
    shutil.copytree(small_model, tmp_path / "model")
    file = tmp_path / "model" / "dparser" / "parser" / "weights.npz"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(
        ModelError, match="dparser/parser/weights.npz: is damaged; copy or train the model again$"
    ):
        Model.load(tmp_path / "model")
    load_route(tmp_path / "model")
    (tmp_path / "model" / "route" / "reduction.json").write_text("{}")
    with pytest.raises(ModelError, match="route/reduction.json: is damaged"):
        load_route(tmp_path / "model")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"route": ["reduction"]}, "is broken"),
        ({"route": "no\nsuch"}, r"has the route 'no\\nsuch'"),
        ({"dparser": {}}, "is broken"),
        ({"dparser": "os:system"}, "unknown d-parser 'os:system'"),
        ({"tagger": "spacy"}, "is broken"),
        ({"tagger": "spacy", "tags": "silver"}, "is broken"),
        ({"files": 3}, "is broken"),
        ({"files": {"route/x": 3}}, "no file of this model"),
    ],
)
def test_what_a_model_says(settings: Settings, message: str, copied: Path) -> None:
    change(copied / "model.json", **settings)
    with pytest.raises(ModelError, match=message) as error:
        Model.load(copied)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("sizes", [{"depth": 1 << 31}, {"width": 1 << 45}, {"rows": "x"}, {"more": 1}])
def test_sizes_of_spacys_network(sizes: Settings, copied: Path) -> None:
    file = copied / "dparser" / "dparser.json"
    change(file, sizes=json.loads(file.read_text())["sizes"] | sizes)
    with pytest.raises(ModelError, match="the sizes of the network are other ones"):
        Model.load(copied)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("codes", lambda array: array[:, :-1], "weights of other shapes"),
        ("vectors", lambda array: array[:-1], "weights of other shapes"),
        ("vectors", lambda array: array * numpy.nan, "some weights are no numbers"),
        ("steps", lambda array: array * numpy.inf, "some weights are no numbers"),
    ],
)
def test_weights_of_spacys_network(name: str, change: Any, message: str, copied: Path) -> None:
    file = copied / "dparser" / "parser" / "weights.npz"
    with numpy.load(file) as arrays:
        given = dict(arrays)
    numpy.savez(file, **given | {name: change(given[name])})
    with pytest.raises(ModelError, match=message):
        Model.load(copied)


def test_actions_of_spacys_parser(copied: Path) -> None:
    file = copied / "dparser" / "parser" / "moves"
    actions = srsly.msgpack_loads(file.read_bytes())
    for moves, message in (
        ('{"99": {"x": 1}}', "cannot be loaded"),
        ("{}", "other shapes"),
    ):
        file.write_bytes(srsly.msgpack_dumps(actions | {"moves": moves}))
        with pytest.raises(ModelError, match=message):
            Model.load(copied)


def test_directories_that_are_no_model(small_model: Path, tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / "meta.json").write_text("{}")
    (tmp_path / "in.conllu").write_text("")
    runs = [
        (["parse", tmp_path / "absent"], "'MODEL': {}: is no model: neither a directory nor a name"),
        (["info", tmp_path / "pipeline"], "'MODEL': {}: is a pipeline of spaCy's; "),
        (
            ["decode", tmp_path / "in.conllu", "-m", small_model / "dparser"],
            "'-m' / '--model': {}: is the d-p",
        ),
        (["info", small_model / "route"], "'MODEL': {}: is the route of a model"),
    ]
    for command, message in runs:
        run = CliRunner().invoke(cli, list(map(str, command)))
        assert isinstance(run.exception, ModelError), run.output
        assert str(run.exception).startswith(message.replace("{}", str(command[-1])))


def test_a_pipeline_is_named_by_its_package(copied: Path) -> None:
    change(copied / "model.json", dparser="pipeline")
    for name in (
        str(copied),
        "spacy:../dparser",
        "spacy:dparser",
        "stanza:../en",
        "spacy:en_no_such_package",
        3,
    ):
        change(copied / "dparser" / "dparser.json", dparser="pipeline", pipeline=name)
        with pytest.raises(ModelError, match="names no installed package of spaCy's kind"):
            Model.load(copied, allow_pipeline=str(name))
    change(copied / "dparser" / "dparser.json", pipeline="stanza:en")
    with pytest.raises(ModelError, match="allow it: --allow-pipeline stanza:en$"):
        Model.load(copied)
    with pytest.raises(ModelError, match="takes no allow_pipeline$"):
        change(copied / "model.json", dparser="gold")
        Model.load(copied, allow_pipeline="stanza:en")
