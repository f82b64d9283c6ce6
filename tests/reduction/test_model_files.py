"""Broken and hostile model files of route, labeler and classifier lead to a ModelError and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.trees.formats.brackets import read_brackets

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
OF_ARRAYS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("labeler/labeler.npz", "rows", lambda rows: rows[:, :1]),
    ("labeler/labeler.npz", "rows", lambda rows: rows + 1000),
    ("labeler/labeler.npz", "wide", lambda wide: wide - 1),
    ("labeler/labeler.npz", "begin", lambda begin: begin[::-1]),
    ("labeler/labeler.npz", "begin", lambda begin: begin[:0]),
    ("labeler/labeler.npz", "begin", lambda begin: begin.astype(np.int8)),
    ("labeler/labeler.npz", "candidates", lambda candidates: candidates + 99),
    ("labeler/labeler.npz", "symbols", lambda symbols: symbols - 99),
    ("labeler/labeler.npz", "numbers", lambda numbers: numbers.astype(np.float32)),
    ("labeler/labeler.npz", "codes", lambda codes: codes[:, 1:]),
    ("labeler/labeler.npz", "steps", lambda steps: steps[1:]),
    ("labeler/labeler.npz", "steps", lambda steps: steps * np.nan),
    ("unaries/unaries.npz", "codes", lambda codes: codes[:, 1:]),
    ("unaries/unaries.npz", "codes", lambda codes: codes.astype(object)),
    ("unaries/unaries.npz", "candidates", lambda candidates: candidates + 99),
    ("unaries/unaries.npz", "filled", lambda filled: filled[1:]),
    ("unaries/unaries.npz", "bias", lambda bias: bias[:, :0]),
    ("unaries/unaries.npz", "bias", lambda bias: bias * np.nan),
    ("unaries/unaries.npz", "steps", lambda steps: steps + np.float32(1e30)),
    ("unaries/unaries.npz", "filled", lambda filled: np.append(filled[:1] | 128, filled[1:])),
    ("unaries/unaries.npz", "symbols", lambda symbols: symbols[::-1]),
]
OF_SETTINGS: list[tuple[str, dict[str, object]]] = [
    ("reduction.json", {"default_symbols": 3}),
    ("reduction.json", {"encoding": None}),
    ("reduction.json", {"encoding": []}),
    ("labeler/labeler.json", {"parameters": {"table_bits": 60}}),
    ("labeler/labeler.json", {"parameters": {"table_bits": 1e300}}),
    ("labeler/labeler.json", {"parameters": {"table_bits": -1}}),
    ("labeler/labeler.json", {"parameters": None}),
    ("labeler/labeler.json", {"labels": ["S#1"]}),
    ("labeler/labeler.json", {"tags": None}),
    ("labeler/labeler.json", {"tags": ["NN", "NN"]}),
    ("labeler/labeler.json", {"labels": "S#1"}),
    ("labeler/labeler.json", {"stacked": "no"}),
    ("reduction.json", {"symbols": "NP"}),
    ("reduction.json", {"symbols": [["NP"]]}),
    ("reduction.json", {"default_symbols": {"NN": 3}}),
    ("reduction.json", {"continuous": "no"}),
    ("reduction.json", {"top": 3}),
    ("reduction.json", {"seed": 1e300}),
    ("reduction.json", {"arcs": [1.0, 1e9]}),
    ("reduction.json", {"arcs": [1.0, 0.1, 0.1, 0.1]}),
    ("labeler/labeler.json", {"words": [["a"]]}),
    ("unaries/unaries.json", {"chains": []}),
    ("unaries/unaries.json", {"chains": 3}),
    ("unaries/unaries.json", {"cost": "x"}),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model")
    TwoStage().fit(list(read_brackets(SAMPLE, clean=True))[:30]).save(directory)
    return directory


@pytest.mark.parametrize("constrained", [True, False])
def test_what_a_loaded_labeler_learns_anew(tmp_path: Path, constrained: bool) -> None:
    TwoStage(constrained=constrained).fit(list(read_brackets(SAMPLE, clean=True))[:3]).save(tmp_path)
    assert TwoStage.load(tmp_path).constrained == constrained


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    for path in saved.rglob("*.*"):
        copy = tmp_path / path.relative_to(saved)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    TwoStage.load(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("file", "name", "change"), OF_ARRAYS)
def test_arrays_that_do_not_fit(model: Path, file: str, name: str, change: Callable[[Any], Any]) -> None:
    with np.load(model / file) as arrays:
        changed = dict(arrays)
    changed[name] = change(changed[name])
    np.savez_compressed(model / file, **changed)
    with pytest.raises(ModelError, match=re.escape(file)):
        TwoStage.load(model)


@pytest.mark.parametrize(("file", "change"), OF_SETTINGS)
def test_settings_that_do_not_fit(model: Path, file: str, change: dict[str, object]) -> None:
    settings = json.loads((model / file).read_text(encoding="utf-8"))
    (model / file).write_text(json.dumps(settings | change), encoding="utf-8")
    with pytest.raises(ModelError, match=re.escape(file.removesuffix("json"))):
        TwoStage.load(model)
