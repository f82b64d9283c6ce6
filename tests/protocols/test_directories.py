"""Settings of model directories, trainings on numbers instead of treebanks, and the streams they are fed."""

from __future__ import annotations

import random
import re
import tempfile
from itertools import count, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.base.temporary import whole_directory
from d2c.protocols.codes import Codes
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import Evaluation
from d2c.protocols.training import Course, TrainingPlan, best_state, reporting, seeded

KIND = ModelFormat("tagger", "mine", 3, ("seed",))


def test_settings_come_back(tmp_path: Path) -> None:
    KIND.write(tmp_path, {"tags": ("A", "ö")}, SimpleNamespace(seed=1))
    assert [path.name for path in tmp_path.iterdir()] == ["tagger.json"]
    settings = KIND.read(tmp_path)
    assert KIND.parameters_in(settings) == {"seed": 1}
    assert msgspec.convert(settings["tags"], tuple[str, ...]) == (
        "A",
        "ö",
    )
    for other, message in ((KIND._replace(name="yours"), "no yours tagger"), (KIND._replace(version=4), "4")):
        with pytest.raises(ModelError, match=message):
            other.read(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"seed": [1], "labels": ["a"], "root_label": None},
        {"seed": 1, "labels": "abc", "root_label": None},
        {"seed": 1, "labels": ["a", 2], "root_label": None},
        {"seed": 1, "labels": ["a"], "root_label": 7},
    ],
)
def test_settings_of_other_types_are_one_clear_error(settings: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="^a/model: cannot be loaded: [^\n]*$"), loading("a/model"):
        KIND.parameters_in(settings)
        msgspec.convert(settings, Codes)


def test_codes_come_back() -> None:
    codes = Codes(("a", "b|c"), None)
    written = {"labels": list(codes.labels), "root_label": codes.settings["root_label"]}
    assert msgspec.convert(written, Codes) == codes


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_the_first_best_state_and_mean_losses(steps: int, interval: int, data: st.DataObject) -> None:
    losses = data.draw(st.lists(st.integers(0, 99), min_size=steps, max_size=steps))
    due = [step for step in range(1, steps + 1) if step % interval == 0 or step == steps]
    scores = {step: data.draw(st.integers(0, 3)) for step in due}
    made: list[int] = []
    found: list[tuple[int, float]] = []

    def update() -> float:
        made.append(losses[len(made)])
        return made[-1]

    def evaluate(step: int, _steps: int, loss: float, _seconds: float) -> float:
        found.append((step, loss))
        return scores[step]

    best = best_state(Course(TrainingPlan("parser", steps, interval)), update, evaluate, lambda: len(made))
    assert best == min(due, key=lambda step: (-scores[step], step))
    since = zip([0, *due], due, strict=False)
    assert found == [(end, pytest.approx(sum(losses[a:end]) / (end - a))) for a, end in since]


def test_reports_choices_and_seeds() -> None:
    heard: list[Evaluation] = []
    reporting(heard.append)(1, 2, 0.5, {"LAS": 0.25})
    assert heard == [Evaluation(1, 2, 0.5, {"LAS": 0.25}, heard[0].seconds)] and heard[0].seconds >= 0
    reporting(None)(1, 2, 0.5, {"LAS": 0.25})
    before = random.getstate()
    with seeded(2**40):
        first = random.random()
    with seeded(2**40):
        assert random.random() == first
    assert random.getstate() == before


def test_batches_of_a_stream_without_end() -> None:
    assert list(batches(iter(range(7)), 3)) == [[0, 1, 2], [3, 4, 5], [6]] and list(batches([], 3)) == []
    assert list(islice(batches(count(), 2), 2)) == [[0, 1], [2, 3]]


def test_a_full_disk_is_named_with_the_directory_asked_for(tmp_path: Path) -> None:
    full = f"model: cannot be written: No space left on device, there or in {tempfile.gettempdir()}"
    with (
        pytest.raises(ModelError, match=re.escape(full)),
        whole_directory(tmp_path / "model", SETTINGS) as outer,
        whole_directory(outer / "dparser", SETTINGS),
        open("/dev/full", "w") as stream,
    ):
        stream.write("x")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_replaced_is_refused_before_there_is_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for directory in (Path("."), tmp_path):
        with (
            pytest.raises(ModelError, match="a model: it is the working directory; name a directory in it"),
            whole_directory(directory, SETTINGS),
        ):
            raise AssertionError
    monkeypatch.setattr("os.path.ismount", lambda path: path == tmp_path / "volume")
    with (
        pytest.raises(ModelError, match="it is a mount point; name"),
        whole_directory(tmp_path / "volume", SETTINGS),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []
