"""Shapes of what files say: JSON becomes what they describe, and anything else is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest

from d2c.base.errors import ModelError
from d2c.base.model_files import read_as, write_settings
from d2c.base.schema import checked
from d2c.base.settings import Limits, Settings, setting


class Symbol(NamedTuple):
    label: str
    bar: str = ""


class Rule(NamedTuple):
    kind: Annotated[int, Limits(least=0, most=2)]
    parent: Symbol
    modifier: Symbol | None = None


@dataclass(frozen=True, kw_only=True)
class Learning(Settings):
    rate: float = setting(0.1, above=0)


def _not_empty(row: tuple[str, ...]) -> None:
    if not row:
        raise ValueError("a row is empty")


@dataclass(frozen=True)
class File:
    labels: Annotated[tuple[str, ...], _not_empty]
    symbols: frozenset[str] | None
    rules: tuple[Rule, ...]
    weights: dict[str, tuple[float, float]]
    learning: Learning
    sure: bool | None = None
    chains: list[list[str]] = field(default_factory=list)


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
    assert checked(ROW | {"format": 3, "other": 1}, File) == FILE
    write_settings(tmp_path / "x.json", 3, FILE)
    assert read_as(tmp_path / "x.json", 3, File) == FILE
    assert json.loads((tmp_path / "x.json").read_text())["symbols"] == ["X", "Y"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"labels": "ab"}, TypeError, "the setting labels is of another type"),
        ({"labels": ["a", 1]}, TypeError, "the setting labels is of another type"),
        ({"labels": [["a"]]}, TypeError, "the setting labels is of another type"),
        ({"labels": []}, ValueError, "a row is empty"),
        ({"symbols": {}}, TypeError, "the setting symbols is of another type"),
        ({"symbols": [[]]}, TypeError, "the setting symbols is of another type"),
        ({"rules": [[0, ["NP", "bar", "more"]]]}, TypeError, "the setting rules is of another type"),
        ({"rules": [[0, ["NP"], None]]}, TypeError, "the setting rules is of another type"),
        ({"rules": [[3, ["NP", ""], None]]}, ValueError, "a value is 3, not at least 0 and at most 2"),
        ({"rules": [[True, ["NP", ""], None]]}, TypeError, "the setting rules is of another type"),
        ({"weights": {"a": [1]}}, TypeError, "the setting weights is of another type"),
        ({"weights": {"a": [1, float("nan")]}}, TypeError, "the setting weights is of another type"),
        ({"weights": [1]}, TypeError, "the setting weights is of another type"),
        ({"learning": {"rate": 0}}, ValueError, "rate is 0, not more than 0"),
        ({"learning": {"pace": 1}}, ValueError, "unknown settings: pace"),
        ({"sure": 1}, TypeError, "the setting sure is of another type"),
    ],
)
def test_anything_else_is_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as refused:
        checked(ROW | change, File)
    assert str(refused.value) == message


def test_missing_names_and_other_values() -> None:
    with pytest.raises(KeyError, match="^'labels'$"):
        checked({}, File)
    for value in ([], None, 3, "x"):
        with pytest.raises(TypeError, match="^a value is of another type$"):
            checked(value, File)


def test_a_broken_file_is_a_model_error(tmp_path: Path) -> None:
    write_settings(tmp_path / "x.json", 3, ROW | {"sure": "no"})
    with pytest.raises(ModelError, match=r"x.json: is broken \(the setting sure is of another type\); train"):
        read_as(tmp_path / "x.json", 3, File)


@pytest.mark.parametrize("shape", [int, float, bool, str])
def test_plain_types(shape: Callable[..., Any]) -> None:
    taken = {int: [1], float: [1, 0.5], bool: [True], str: ["x"]}[shape]  # type: ignore[index]
    for value in (1, 0.5, True, "x", None, [], {}, float("inf")):
        if any(value is one or (type(value) is type(one) and value == one) for one in taken):
            assert checked(value, shape) == value  # type: ignore[arg-type]
        else:
            with pytest.raises(TypeError):
                checked(value, shape)  # type: ignore[arg-type]
