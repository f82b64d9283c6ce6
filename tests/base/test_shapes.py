"""Shapes of what files say: JSON becomes what they describe, and anything else is refused."""

from __future__ import annotations

import json
import re
import tracemalloc
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest

from d2c.base.errors import ModelError, ParameterError
from d2c.base.model_files import read_as, write_settings
from d2c.base.settings import Settings, setting


class Symbol(NamedTuple):
    label: str
    bar: str = ""


class Rule(NamedTuple):
    kind: Annotated[int, msgspec.Meta(ge=0, le=2)]
    parent: Symbol
    modifier: Symbol | None = None


@dataclass(frozen=True, kw_only=True)
class Learning(Settings):
    rate: float = setting(0.1, above=0)


@dataclass(frozen=True)
class File:
    labels: tuple[str, ...]
    symbols: frozenset[str] | None
    rules: tuple[Rule, ...]
    weights: dict[str, tuple[float, float]]
    learning: Learning
    sure: bool | None = None
    chains: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.labels:
            raise ValueError("a row is empty")


ROW: dict[str, Any] = {
    "labels": ["a", "b"],
    "symbols": ["X", "Y"],
    "rules": [[0, ["NP", "bar"], None], [2, ["S", ""], ["NP", ""]]],
    "weights": {"a": [1, 0.5]},
    "learning": {"rate": 0.5},
}
FILE = File(
    ("a", "b"),
    frozenset({"X", "Y"}),
    (Rule(0, Symbol("NP", "bar")), Rule(2, Symbol("S"), Symbol("NP"))),
    {"a": (1, 0.5)},
    Learning(rate=0.5),
)


def test_json_becomes_what_its_shape_says(tmp_path: Path) -> None:
    assert read(tmp_path / "x.json", ROW | {"format": 3, "other": 1}) == FILE
    write_settings(tmp_path / "x.json", 3, FILE)
    assert read_as(tmp_path / "x.json", 3, File) == FILE
    assert json.loads((tmp_path / "x.json").read_text())["symbols"] == ["X", "Y"]


def read(path: Path, row: object, shape: Any = File) -> Any:
    path.write_text(json.dumps(row))
    return read_as(path, 3, shape)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"labels": "ab"}, "labels"),
        ({"labels": ["a", 1]}, "labels[1]"),
        ({"labels": [["a"]]}, "labels[0]"),
        ({"labels": []}, "a row is empty"),
        ({"symbols": {}}, "symbols"),
        ({"symbols": [[]]}, "symbols[0]"),
        ({"rules": [[0, ["NP", "bar", "more"]]]}, "rules[0][1]"),
        ({"rules": [[0, [], None]]}, "rules[0][1]"),
        ({"rules": [[3, ["NP", ""], None]]}, "rules[0][0]"),
        ({"rules": [[True, ["NP", ""], None]]}, "rules[0][0]"),
        ({"weights": {"a": [1]}}, "weights[...]"),
        ({"weights": [1]}, "weights"),
        ({"learning": {"rate": 0}}, "learning: rate is 0"),
        ({"sure": 1}, "sure"),
        ({"labels": None}, "labels"),
    ],
)
def test_anything_else_is_refused(change: dict[str, Any], where: str, tmp_path: Path) -> None:
    """In one line, which has the place in the file."""
    with pytest.raises(ModelError) as refused:
        read(tmp_path / "x.json", ROW | {"format": 3} | change)
    assert re.fullmatch(rf"[^\n]*x.json: is broken \({re.escape(where)}[^\n]*", str(refused.value))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", '"\\ud800"', "1,", "[" * 200_000])
def test_no_numbers_and_no_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"format": 3, "weights": {"a": [1, ' + text + "]}}")
    with pytest.raises(ModelError, match=r"^[^\n]*x.json: is (not JSON|broken \()"):
        read_as(path, 3, File)


def test_missing_names_and_other_values(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="x.json: is broken .*labels"):
        read(tmp_path / "x.json", {"format": 3})
    for value in ([], None, 3, "x"):
        with pytest.raises(ModelError, match="^[^\n]*x.json: holds no settings$"):
            read(tmp_path / "x.json", value)


def test_settings_of_other_names_and_ranges() -> None:
    with pytest.raises(TypeError, match="pace"):
        Learning(**{"pace": 1})
    with pytest.raises(ParameterError) as caught:
        Learning(rate=0)
    assert caught.value.parameter == "rate"


def test_a_hostile_file_takes_no_more_than_itself(tmp_path: Path) -> None:
    """Four million wrong values: reading ends with the first."""
    (tmp_path / "x.json").write_text('{"format": 3, "labels": [' + "1," * 4_000_000 + "1]}")
    tracemalloc.start()
    with pytest.raises(ModelError, match=r"is broken \(labels\[0\]"):
        read_as(tmp_path / "x.json", 3, File)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


@pytest.mark.parametrize("shape", [int, float, bool, str])
def test_plain_types(shape: type, tmp_path: Path) -> None:
    taken: list[Any] = {int: [1], float: [1, 0.5], bool: [True], str: ["x"]}[shape]
    one = make_dataclass("One", [("x", shape)])
    for value in (1, 0.5, True, "x", None, [], {}):
        row = {"format": 3, "x": value}
        if any(type(value) is type(other) and value == other for other in taken):
            assert read(tmp_path / "x.json", row, one) == one(value)
        else:
            with pytest.raises(ModelError):
                read(tmp_path / "x.json", row, one)


@pytest.mark.parametrize("letter", ["a", "é", "\\"])
def test_texts_have_a_length(letter: str, tmp_path: Path) -> None:
    """Of bytes, as the file has them: 16,384 at most, whatever the text is for."""
    path, size = tmp_path / "x.json", 16_384 // len(json.dumps(letter, ensure_ascii=False)[1:-1].encode())
    for row in ({"labels": [letter * size]}, {"chains": [["a"], [letter * size]]}):
        write_settings(path, 1, ROW | row)
        assert read_as(path, 1, File)
    for row in ({"labels": [letter * (size + 1)]}, {"weights": {letter * (size + 1): [0, 0]}}):
        write_settings(path, 1, ROW | row)
        with pytest.raises(
            ModelError, match=r"x.json: has a label, word or other text of 16,38[5-9] bytes, "
        ):
            read_as(path, 1, File)
